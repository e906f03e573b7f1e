// SPDX-License-Identifier: Apache-2.0
// Nearest rank and the five-beyond rule.
#include "stats/percentile.h"

#include <algorithm>

namespace hopyard::stats {

bool estimable(size_t n, unsigned p) {
  if (n == 0 || p < 1 || p > 99) return false;
  if (p == 50) return true;
  return n * std::min(p, 100 - p) >= kSamplesBeyond * 100;
}

std::optional<double> percentile(std::vector<double> samples, unsigned p) {
  if (!estimable(samples.size(), p)) return std::nullopt;
  const size_t rank = (samples.size() * p + 99) / 100;
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

std::optional<double> median(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

}  // namespace hopyard::stats
