// SPDX-License-Identifier: Apache-2.0
// Keeps one buffer for life; at most one incomplete record is ever moved to its front.
#include "probe/record_reader.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace hopyard::probe {
namespace {

// change_cipher_spec, alert, handshake, application_data.
constexpr uint8_t kFirstType = 20;
constexpr uint8_t kLastType = 23;

absl::Status check_header(const uint8_t* header, size_t length) {
  if (header[0] < kFirstType || header[0] > kLastType) {
    return absl::InvalidArgumentError(absl::StrCat("read record: header: content type ", header[0]));
  }
  // 0x0303 in TLS 1.3; a server that refuses the version may answer with an older one.
  if (header[1] != 3 || header[2] < 1 || header[2] > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("read record: header: version ", header[1], ".", header[2]));
  }
  if (length == 0 || length > kMaxRecordBytes - kRecordHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat("read record: header: length ", length, ", allowed 1 to ",
                                                   kMaxRecordBytes - kRecordHeaderBytes));
  }
  return absl::OkStatus();
}

}  // namespace

RecordReader::RecordReader(size_t read_bytes) : buffer_(read_bytes + kMaxRecordBytes) {}

std::span<uint8_t> RecordReader::room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  return std::span(buffer_).subspan(end_);
}

absl::StatusOr<std::optional<std::span<const uint8_t>>> RecordReader::next() {
  if (pending_bytes() < kRecordHeaderBytes) return std::nullopt;
  const uint8_t* header = buffer_.data() + begin_;
  const size_t length = static_cast<size_t>(header[3]) << 8 | header[4];
  if (absl::Status status = check_header(header, length); !status.ok()) return status;
  if (pending_bytes() < kRecordHeaderBytes + length) return std::nullopt;
  const std::span<const uint8_t> record(header, kRecordHeaderBytes + length);
  begin_ += record.size();
  return record;
}

}  // namespace hopyard::probe
