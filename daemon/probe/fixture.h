// SPDX-License-Identifier: Apache-2.0
// The body every response must have: bytes 0..255, repeated, cut to length. Knows no protocol.
#pragma once

#include <cstdint>
#include <span>

namespace hopyard::probe {

// Writes the fixture's bytes [offset, offset + out.size()) to `out`.
void fill(uint64_t offset, std::span<uint8_t> out);

// Compares a body with the fixture as it arrives.
class FixtureCheck {
 public:
  void feed(std::span<const uint8_t> bytes);
  // Bytes fed so far.
  uint64_t bytes() const { return bytes_; }
  // All of them were the fixture's; true of none.
  bool equal() const { return equal_; }

 private:
  uint64_t bytes_ = 0;
  bool equal_ = true;
};

}  // namespace hopyard::probe
