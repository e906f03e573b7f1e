// SPDX-License-Identifier: Apache-2.0
// The median of all Walsh averages without making them: a bisection between two of them, exact, in O(n) a
// step. A bootstrap needs it thousands of times.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "stats/paired.h"

namespace hopyard::stats {
namespace {

// The Walsh averages on either side of a limit.
struct Split {
  uint64_t at_most = 0;                                     // how many are at most the limit
  double below = -std::numeric_limits<double>::infinity();  // the largest of those
  double above = std::numeric_limits<double>::infinity();   // the smallest of the others
};

// Averages of i <= j grow along i and j, rounding included: what splits them is one descending line.
Split split(const std::vector<double>& sorted, double limit) {
  Split result;
  size_t end = sorted.size();  // sorted[end - 1] is the largest partner of sorted[i] at most the limit
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double half = sorted[i] / 2;
    while (end > i && half + sorted[end - 1] / 2 > limit) --end;
    const size_t next = std::max(end, i);  // the first partner beyond it
    if (next < sorted.size()) result.above = std::min(result.above, half + sorted[next] / 2);
    if (end <= i) break;  // what follows is larger still
    result.at_most += end - i;
    result.below = std::max(result.below, half + sorted[end - 1] / 2);
  }
  return result;
}

// The k-th smallest (from 1) Walsh average. Both bounds are averages themselves, so each step drops at least
// one.
double walsh_average(const std::vector<double>& sorted, uint64_t k) {
  double low = sorted.front();
  double high = sorted.back();
  while (low < high) {
    double middle = low / 2 + high / 2;
    if (!(middle < high)) middle = low;  // neighbouring doubles
    const Split parts = split(sorted, middle);
    if (parts.at_most >= k) {
      high = parts.below;
    } else {
      low = parts.above;
    }
  }
  return low;
}

}  // namespace

double hodges_lehmann_of_sorted(const std::vector<double>& ascending) {
  const uint64_t n = ascending.size();
  const uint64_t averages = n * (n + 1) / 2;
  const double middle = walsh_average(ascending, (averages + 1) / 2);
  if (averages % 2 == 1) return middle;
  const Split parts = split(ascending, middle);
  const double next = parts.at_most > averages / 2 ? middle : parts.above;
  return middle / 2 + next / 2;
}

double hodges_lehmann(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end());
  return hodges_lehmann_of_sorted(differences);
}

}  // namespace hopyard::stats
