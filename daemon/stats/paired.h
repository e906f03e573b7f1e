// SPDX-License-Identifier: Apache-2.0
// What paired differences support: location, interval, signs, signed-rank p, interaction, equivalence. Pure;
// one difference a block, so resampling differences is resampling blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace hopyard::stats {

struct Interval {
  double low;
  double high;
};

struct BootstrapOptions {
  uint64_t seed = 1;  // the same seed gives the same interval, on any machine
  unsigned resamples = 4000;
  double confidence = 0.95;
  std::stop_token stop;  // once requested, resampling ends and there is no interval
};

// Fewer pairs give no interval: below six even the most extreme signed-rank outcome stays above p = 0.05.
inline constexpr size_t kPairsForInterval = 6;
// Up to here the signed-rank p is exact; beyond, by the normal approximation with tie and continuity
// correction.
inline constexpr size_t kPairsForExact = 300;

struct Paired {
  size_t n = 0;  // pairs; negative + zero + positive
  size_t negative = 0;
  size_t zero = 0;
  size_t positive = 0;
  // Absent without pairs.
  std::optional<double> median;
  std::optional<double> hodges_lehmann;  // median of the Walsh averages, i <= j
  std::optional<double> min;
  std::optional<double> max;
  std::optional<Interval> interval;  // percentile bootstrap of the Hodges-Lehmann estimate
  std::optional<double> p_value;     // two-sided signed-rank; 1 if every difference is zero
  bool exact = false;                // how p_value was found
};

Paired analyse(const std::vector<double>& differences, const BootstrapOptions& options = {});
// Differences second - first.
Paired compare(const std::vector<std::pair<double, double>>& pairs, const BootstrapOptions& options = {});

double hodges_lehmann(std::vector<double> differences);                 // not of an empty list
double hodges_lehmann_of_sorted(const std::vector<double>& ascending);  // the same, sorted already

enum class Tail {
  kLess,
  kGreater,
  kBoth
};  // the alternative: differences lie below, above, either side of 0

// Wilcoxon's signed-rank test. Zero differences are dropped; equal magnitudes share their mean rank, and the
// exact distribution is that of the ranks as tied. Absent without differences.
struct SignedRank {
  size_t n = 0;       // non-zero differences
  double w_plus = 0;  // sum of the ranks of the positive ones
  double p_value = 1;
  bool exact = true;
};
std::optional<SignedRank> signed_rank(const std::vector<double>& differences, Tail tail = Tail::kBoth);

// One block's values of four cases that form a 2x2: {neither, first factor, second factor, both}.
using TwoByTwo = std::array<double, 4>;
// Interaction: what the first factor does with the second, less what it does without it:
// (both - second) - (first - neither).
Paired interaction(const std::vector<TwoByTwo>& blocks, const BootstrapOptions& options = {});

// Two one-sided signed-rank tests against -margin and +margin (margin > 0, the unit of the differences).
struct Equivalence {
  double margin = 0;
  double p_above_low = 1;   // against "the difference is at or below -margin"
  double p_below_high = 1;  // against "the difference is at or above +margin"
  double p_value = 1;       // the larger of the two
  bool equivalent = false;  // p_value < alpha
};
// Absent without differences or with a margin that is not positive.
std::optional<Equivalence> equivalence(const std::vector<double>& differences, double margin,
                                       double alpha = 0.05);

}  // namespace hopyard::stats
