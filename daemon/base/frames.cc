// SPDX-License-Identifier: Apache-2.0
// Frame encoding and the incremental decoder.
#include "base/frames.h"

#include <poll.h>
#include <unistd.h>

#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::base {
namespace {

constexpr size_t kHeaderBytes = 4;

size_t header_value(const char* bytes) {
  size_t value = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

std::string encode_frame(std::string_view payload) {
  std::string frame;
  frame.reserve(kHeaderBytes + payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame.append(payload);
  return frame;
}

absl::Status FrameDecoder::check_length() const {
  if (pending_bytes() < kHeaderBytes) return absl::OkStatus();
  const size_t length = header_value(buffer_.data() + offset_);
  if (length <= kMaxFrameBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("read frame: length {}: over {} bytes", length, kMaxFrameBytes));
}

absl::Status FrameDecoder::feed(std::string_view bytes) {
  buffer_.erase(0, std::exchange(offset_, 0));
  buffer_.append(bytes);
  return check_length();
}

std::optional<std::string> FrameDecoder::next() {
  if (pending_bytes() < kHeaderBytes || !check_length().ok()) return std::nullopt;
  const size_t length = header_value(buffer_.data() + offset_);
  if (pending_bytes() < kHeaderBytes + length) return std::nullopt;
  std::string payload = buffer_.substr(offset_ + kHeaderBytes, length);
  offset_ += kHeaderBytes + length;
  return payload;
}

absl::Status write_frame(int fd, std::string_view payload) {
  if (payload.size() > kMaxFrameBytes) {
    return absl::InvalidArgumentError(
        fmt::format("write frame: {} bytes: over {}", payload.size(), kMaxFrameBytes));
  }
  return write_all(fd, encode_frame(payload));
}

absl::Status write_frame(int fd, std::string_view payload, const Deadline& deadline) {
  if (payload.size() > kMaxFrameBytes) return write_frame(fd, payload);
  const std::string frame = encode_frame(payload);
  for (std::string_view left = frame; !left.empty();) {
    pollfd ready{fd, POLLOUT, 0};
    const int n = ::poll(&ready, 1, deadline.poll_ms());
    if (n < 0 && errno != EINTR) return errno_status("poll", "frame stream");
    if (n == 0) return absl::DeadlineExceededError("write frame: stream: not taken in time");
    const ssize_t took = ::write(fd, left.data(), left.size());
    if (took < 0 && errno != EINTR && errno != EAGAIN) return errno_status("write", "frame stream");
    if (took > 0) left.remove_prefix(static_cast<size_t>(took));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> read_frame(int fd, FrameDecoder& decoder, const Deadline& deadline) {
  char buffer[65536];
  for (bool first = true;; first = false) {
    if (auto payload = decoder.next()) return *std::move(payload);
    HOPYARD_RETURN_IF_ERROR(decoder.feed({}));  // a second frame in the same read may be the broken one
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(&ready, 1, deadline.poll_ms());
    if (n < 0 && errno != EINTR) return errno_status("poll", "frame stream");
    // Also while bytes drip in; what lies there already is read once, however late it is asked for.
    if (n == 0 || (!first && deadline.passed()))
      return absl::DeadlineExceededError("read frame: stream: no whole frame in time");
    if (n < 0) continue;
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return errno_status("read", "frame stream");
    if (got == 0 && decoder.pending_bytes() == 0) return absl::OutOfRangeError("read frame: stream: ended");
    if (got == 0) return absl::DataLossError("read frame: stream: ended inside a frame");
    HOPYARD_RETURN_IF_ERROR(decoder.feed({buffer, static_cast<size_t>(got)}));
  }
}

}  // namespace hopyard::base
