// SPDX-License-Identifier: Apache-2.0
// The median of all Walsh averages without making them: a bisection over the doubles themselves, exact, in
// O(n) a step. A bootstrap needs it thousands of times.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "stats/paired.h"

namespace hopyard::stats {
namespace {

// Pairs i <= j of `sorted` whose average is at most `limit`. Averages grow along i and j, rounding included.
uint64_t averages_up_to(const std::vector<double>& sorted, double limit) {
  uint64_t count = 0;
  size_t end = sorted.size();  // sorted[end - 1] is the largest partner of sorted[i]
  for (size_t i = 0; i < end; ++i) {
    while (end > i && sorted[i] / 2 + sorted[end - 1] / 2 > limit) --end;
    count += end - i;
  }
  return count;
}

// Doubles in their order as integers, and back.
int64_t ordinal(double value) {
  const auto bits = std::bit_cast<int64_t>(value + 0.0);  // -0 becomes 0
  return bits >= 0 ? bits : INT64_MIN - bits;
}
double from_ordinal(int64_t ordinal) {
  return std::bit_cast<double>(ordinal >= 0 ? ordinal : INT64_MIN - ordinal);
}

// The k-th smallest (from 1) Walsh average.
double walsh_average(const std::vector<double>& sorted, uint64_t k) {
  int64_t low = ordinal(sorted.front());
  int64_t high = ordinal(sorted.back());
  while (low < high) {
    const int64_t middle =
        low + static_cast<int64_t>((static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / 2);
    if (averages_up_to(sorted, from_ordinal(middle)) >= k) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return from_ordinal(low);
}

}  // namespace

double hodges_lehmann(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  const uint64_t n = differences.size();
  const uint64_t averages = n * (n + 1) / 2;
  const double upper = walsh_average(differences, averages / 2 + 1);
  if (averages % 2 == 1) return upper;
  return walsh_average(differences, averages / 2) / 2 + upper / 2;
}

}  // namespace hopyard::stats
