// SPDX-License-Identifier: Apache-2.0
// The published recurrences.
#include "stats/random.h"

#include <bit>

namespace hopyard::stats {

uint64_t SplitMix64::next() {
  state_ += 0x9e3779b97f4a7c15;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Random::Random(uint64_t seed) {
  SplitMix64 seeder(seed);
  for (uint64_t& word : state_) word = seeder.next();
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::below(uint64_t bound) {
  // Values under 2^64 mod bound would make the small results likelier. That limit is below the bound itself,
  // so almost never needs to be known.
  for (;;) {
    const uint64_t value = next();
    if (value >= bound || value >= (0 - bound) % bound) return value % bound;
  }
}

}  // namespace hopyard::stats
