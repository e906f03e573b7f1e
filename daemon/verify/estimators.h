// SPDX-License-Identifier: Apache-2.0
// The figures' arithmetic, from its definitions in methods-and-limits.md, over whole numbers of ns. Shares no
// code with `stats`, and goes other ways where there are some: integers, sorted sums, counted signs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hopyard::verify {

std::optional<double> median_of(std::vector<int64_t> values);
// By nearest rank; absent unless five values lie beyond. `percent` above 50.
std::optional<double> percentile_of(std::vector<int64_t> values, unsigned percent);

struct PairNumbers {
  uint64_t n = 0, negative = 0, positive = 0;
  double median = 0;
  double hodges_lehmann = 0;
  std::optional<double> low, high;  // 95 % bootstrap interval
  double p_value = 1;
};

// Of differences in order of blocks; not of none.
PairNumbers pair_numbers(const std::vector<int64_t>& differences);

// One-sided signed-rank p: that differences lie above -margin, and below margin.
struct MarginNumbers {
  double p_above_low = 1;
  double p_below_high = 1;
};
MarginNumbers margin_numbers(const std::vector<int64_t>& differences, int64_t margin);

// The median of all averages (a_i + a_j) / 2, i <= j.
double hodges_lehmann_of(std::vector<int64_t> values);
// Two-sided signed-rank p.
double signed_rank_p(const std::vector<int64_t>& differences);

}  // namespace hopyard::verify
