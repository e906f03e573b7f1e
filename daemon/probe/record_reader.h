// SPDX-License-Identifier: Apache-2.0
// Rebuilds TLS records from a byte stream by their 5-byte headers, whatever the reads or segments were. Pure:
// knows no socket, no key, and not what is inside a record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"

namespace hopyard::probe {

inline constexpr size_t kRecordHeaderBytes = 5;
inline constexpr size_t kMaxPlaintextBytes = 16384;
// TLS 1.3 allows 256 bytes more than the plaintext (RFC 8446, 5.2).
inline constexpr size_t kMaxRecordBytes = kRecordHeaderBytes + kMaxPlaintextBytes + 256;

class RecordReader {
 public:
  // `read_bytes` is the least room() offers.
  explicit RecordReader(size_t read_bytes = 65536);

  // Where the next bytes of the stream go. Invalidates what next() gave.
  std::span<uint8_t> room();
  // `bytes` of room() were filled.
  void commit(size_t bytes) { end_ += bytes; }

  // The next complete record, header included, or nothing yet. INVALID_ARGUMENT once a header cannot be TLS
  // (type, version, length); the stream is then dead and stays so.
  absl::StatusOr<std::optional<std::span<const uint8_t>>> next();

  // Bytes of a record not yet complete.
  size_t pending_bytes() const { return end_ - begin_; }

 private:
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace hopyard::probe
