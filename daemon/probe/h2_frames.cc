// SPDX-License-Identifier: Apache-2.0
// Holds at most one frame header; payloads are only counted.
#include "probe/h2_frames.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hopyard::probe {

std::string frame_type_name(uint8_t type) {
  constexpr std::array<const char*, 10> kNames = {"DATA",          "HEADERS",      "PRIORITY", "RST_STREAM",
                                                  "SETTINGS",      "PUSH_PROMISE", "PING",     "GOAWAY",
                                                  "WINDOW_UPDATE", "CONTINUATION"};
  if (type < kNames.size()) return kNames[type];
  return absl::StrCat("0x", absl::Hex(type, absl::kZeroPad2));
}

void FrameScanner::scan(std::span<const uint8_t> bytes, int64_t ns) {
  while (!bytes.empty()) {
    if (header_bytes_ < kFrameHeaderBytes) {
      const size_t size = std::min(bytes.size(), kFrameHeaderBytes - header_bytes_);
      std::memcpy(header_.data() + header_bytes_, bytes.data(), size);
      header_bytes_ += size;
      bytes = bytes.subspan(size);
      if (header_bytes_ == kFrameHeaderBytes) begin_frame(ns);
      continue;
    }
    const size_t size = std::min<size_t>(bytes.size(), payload_left_);
    if (logged_) note_first_byte(log_[index_], ns);
    payload_left_ -= static_cast<uint32_t>(size);
    bytes = bytes.subspan(size);
    if (payload_left_ > 0) return;
    if (logged_) log_[index_].complete_ns = ns;
    header_bytes_ = 0;
  }
}

void FrameScanner::begin_frame(int64_t ns) {
  const auto word = [this](size_t at, size_t size) {
    uint32_t value = 0;
    for (size_t i = at; i < at + size; ++i) value = value << 8 | header_[i];
    return value;
  };
  payload_left_ = word(0, 3);
  logged_ = log_.size() < limit_;
  if (logged_) {
    index_ = log_.size();
    log_.push_back({.sent = sent_,
                    .type = header_[3],
                    .flags = header_[4],
                    .stream = word(5, 4) & 0x7fffffffu,
                    .length = payload_left_});
  } else {
    ++dropped_;
  }
  if (payload_left_ > 0) return;
  if (logged_) {
    note_first_byte(log_[index_], ns);
    log_[index_].complete_ns = ns;
  }
  header_bytes_ = 0;
}

void FrameScanner::note_first_byte(FrameEntry& frame, int64_t ns) {
  if (frame.first_byte_ns != 0) return;
  frame.first_byte_ns = ns;
  if (first_byte_) first_byte_(frame);
}

}  // namespace hopyard::probe
