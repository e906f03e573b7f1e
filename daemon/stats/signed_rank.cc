// SPDX-License-Identifier: Apache-2.0
// Wilcoxon's signed-rank test: exact over the ranks as they are, by counting every choice of signs.
#include <algorithm>
#include <cmath>

#include "stats/paired.h"

namespace hopyard::stats {
namespace {

struct Ranks {
  std::vector<size_t> doubled;  // twice the mean rank of each magnitude: whole numbers
  size_t doubled_plus = 0;      // sum over the positive differences
  double tie_correction = 0;    // sum of t^3 - t over groups of equal magnitudes
};

std::vector<double> without_zeros(const std::vector<double>& differences) {
  std::vector<double> result;
  for (const double difference : differences) {
    if (difference != 0) result.push_back(difference);
  }
  std::sort(result.begin(), result.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  return result;
}

Ranks rank(const std::vector<double>& by_magnitude) {
  Ranks ranks;
  for (size_t first = 0; first < by_magnitude.size();) {
    size_t last = first;
    while (last + 1 < by_magnitude.size() &&
           std::fabs(by_magnitude[last + 1]) == std::fabs(by_magnitude[first])) {
      ++last;
    }
    const size_t doubled = first + last + 2;  // ranks count from 1
    for (size_t i = first; i <= last; ++i) {
      ranks.doubled.push_back(doubled);
      if (by_magnitude[i] > 0) ranks.doubled_plus += doubled;
    }
    const auto ties = static_cast<double>(last - first + 1);
    ranks.tie_correction += ties * ties * ties - ties;
    first = last + 1;
  }
  return ranks;
}

struct Tails {
  double at_most;   // P(W+ <= observed) if every sign is a fair coin
  double at_least;  // P(W+ >= observed)
};

Tails exact_tails(const Ranks& ranks) {
  std::vector<double> chance{1.0};  // of each doubled sum
  for (const size_t doubled : ranks.doubled) {
    std::vector<double> next(chance.size() + doubled, 0.0);
    for (size_t sum = 0; sum < chance.size(); ++sum) {
      next[sum] += chance[sum] / 2;
      next[sum + doubled] += chance[sum] / 2;
    }
    chance = std::move(next);
  }
  Tails tails{0, 0};
  for (size_t sum = 0; sum < chance.size(); ++sum) {
    if (sum <= ranks.doubled_plus) tails.at_most += chance[sum];
    if (sum >= ranks.doubled_plus) tails.at_least += chance[sum];
  }
  return tails;
}

// P(Z <= z) of the standard normal.
double normal(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

Tails normal_tails(const Ranks& ranks) {
  const auto n = static_cast<double>(ranks.doubled.size());
  const double mean = n * (n + 1) / 4;
  const double deviation = std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_correction / 48);
  const double w = static_cast<double>(ranks.doubled_plus) / 2;
  constexpr double kContinuity = 0.5;
  return {normal((w + kContinuity - mean) / deviation), normal(-(w - kContinuity - mean) / deviation)};
}

double p_of(const Tails& tails, Tail tail) {
  switch (tail) {
    case Tail::kLess:
      return std::min(1.0, tails.at_most);
    case Tail::kGreater:
      return std::min(1.0, tails.at_least);
    default:
      return std::min(1.0, 2 * std::min(tails.at_most, tails.at_least));
  }
}

}  // namespace

std::optional<SignedRank> signed_rank(const std::vector<double>& differences, Tail tail) {
  if (differences.empty()) return std::nullopt;
  const Ranks ranks = rank(without_zeros(differences));
  SignedRank result;
  result.n = ranks.doubled.size();
  result.w_plus = static_cast<double>(ranks.doubled_plus) / 2;
  result.exact = result.n <= kPairsForExact;
  // No difference at all speaks for nothing.
  if (result.n > 0) result.p_value = p_of(result.exact ? exact_tails(ranks) : normal_tails(ranks), tail);
  return result;
}

}  // namespace hopyard::stats
