// SPDX-License-Identifier: Apache-2.0
// Length-delimited frames on a byte stream: 4-byte big-endian length, payload. Knows nothing of what is
// inside.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace hopyard::base {

// No frame is larger; a longer length is a broken stream.
inline constexpr size_t kMaxFrameBytes = 64u << 20;

// The frame for `payload`.
std::string encode_frame(std::string_view payload);

// Takes bytes as they come, gives frames as they complete. Pure.
class FrameDecoder {
 public:
  // Appends received bytes. INVALID_ARGUMENT once a length is over the limit; the stream is then dead.
  absl::Status feed(std::string_view bytes);
  // The next complete payload, if there is one.
  std::optional<std::string> next();
  // Bytes of an unfinished frame held.
  size_t pending_bytes() const { return buffer_.size() - offset_; }

 private:
  absl::Status check_length() const;
  std::string buffer_;
  size_t offset_ = 0;
};

// Blocking helpers on a pipe or raw serial line.
absl::Status write_frame(int fd, std::string_view payload);
// The same on a non-blocking descriptor. DEADLINE_EXCEEDED if the reader does not take all of it in time.
absl::Status write_frame(int fd, std::string_view payload, const Deadline& deadline);
// The next payload. DEADLINE_EXCEEDED in time; OUT_OF_RANGE at end of stream between frames; DATA_LOSS inside
// one.
absl::StatusOr<std::string> read_frame(int fd, FrameDecoder& decoder, const Deadline& deadline);

}  // namespace hopyard::base
