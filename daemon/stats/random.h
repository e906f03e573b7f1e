// SPDX-License-Identifier: Apache-2.0
// A small generator with the same numbers on every machine and library: xoshiro256**, seeded by splitmix64
// (both by Vigna and Blackman, public domain algorithms). Not for secrets.
#pragma once

#include <array>
#include <cstdint>

namespace hopyard::stats {

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next();

 private:
  uint64_t state_;
};

class Random {
 public:
  explicit Random(uint64_t seed);
  uint64_t next();
  // Uniform in [0, bound), without bias; bound > 0.
  uint64_t below(uint64_t bound);

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace hopyard::stats
