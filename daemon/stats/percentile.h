// SPDX-License-Identifier: Apache-2.0
// Quantiles of one cell's samples, and the rule by which a percentile may be quoted at all. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace hopyard::stats {

// Samples that must lie beyond a percentile before it is quoted.
inline constexpr size_t kSamplesBeyond = 5;

// True if `n` samples leave five beyond percentile `p` (1 to 99): p90 from 50, p95 from 100, p99 from 500.
// The median needs one sample.
bool estimable(size_t n, unsigned p);

// By nearest rank: the smallest sample with at least p % of the samples at or below it. Absent where not
// estimable.
std::optional<double> percentile(std::vector<double> samples, unsigned p);

// The middle sample, or the mean of the two middle ones. Absent without samples.
std::optional<double> median(std::vector<double> samples);

}  // namespace hopyard::stats
