// SPDX-License-Identifier: Apache-2.0
// Fills and compares by whole stretches of a table, so that a check costs a memcmp.
#include "probe/fixture.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hopyard::probe {
namespace {

constexpr size_t kPeriod = 256;
// A stretch may begin at any phase and still run this long inside the table.
constexpr size_t kStretch = 16384;

constexpr std::array<uint8_t, kPeriod + kStretch> make_table() {
  std::array<uint8_t, kPeriod + kStretch> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(i);
  return table;
}
constexpr auto kTable = make_table();

const uint8_t* at(uint64_t offset) { return kTable.data() + offset % kPeriod; }

}  // namespace

void fill(uint64_t offset, std::span<uint8_t> out) {
  while (!out.empty()) {
    const size_t size = std::min(out.size(), kStretch);
    std::memcpy(out.data(), at(offset), size);
    out = out.subspan(size);
    offset += size;
  }
}

void FixtureCheck::feed(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kStretch);
    equal_ = equal_ && std::memcmp(bytes.data(), at(bytes_), size) == 0;
    bytes = bytes.subspan(size);
    bytes_ += size;
  }
}

}  // namespace hopyard::probe
