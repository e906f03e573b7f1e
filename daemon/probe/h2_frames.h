// SPDX-License-Identifier: Apache-2.0
// Follows HTTP/2 frame boundaries through a byte stream, to say when each frame's first and last payload
// bytes came. Pure, and blind to what frames mean: the framing engine judges them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "probe/http_session.h"

namespace hopyard::probe {

inline constexpr size_t kFrameHeaderBytes = 9;
inline constexpr uint8_t kFrameData = 0;
inline constexpr uint8_t kFrameHeaders = 1;
inline constexpr uint8_t kFrameContinuation = 9;

// "DATA", "HEADERS", …; "0x2a" for a type without a name.
std::string frame_type_name(uint8_t type);

class FrameScanner {
 public:
  // Frames are appended to `log` when their header is complete; a log of `limit` frames takes no more.
  FrameScanner(std::vector<FrameEntry>& log, bool sent, size_t limit)
      : log_(log), sent_(sent), limit_(limit) {}
  // Called when first_byte_ns of a frame became known.
  void on_first_byte(std::function<void(const FrameEntry&)> call) { first_byte_ = std::move(call); }

  // The next bytes of the stream, all of them decrypted (or queued) at `ns`.
  void scan(std::span<const uint8_t> bytes, int64_t ns);
  // Frames that found no room in the log.
  size_t dropped() const { return dropped_; }

 private:
  void begin_frame(int64_t ns);
  void note_first_byte(FrameEntry& frame, int64_t ns);

  std::vector<FrameEntry>& log_;
  const bool sent_;
  const size_t limit_;
  std::function<void(const FrameEntry&)> first_byte_;
  std::array<uint8_t, kFrameHeaderBytes> header_{};
  size_t header_bytes_ = 0;  // of the present frame's header
  uint32_t payload_left_ = 0;
  size_t index_ = 0;  // of the present frame in the log
  bool logged_ = false;
  size_t dropped_ = 0;
};

}  // namespace hopyard::probe
