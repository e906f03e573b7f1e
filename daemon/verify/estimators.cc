// SPDX-License-Identifier: Apache-2.0
// Nanoseconds are whole, so sums of two are exact and every figure is one of them over 2 or 4.
#include "verify/estimators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace hopyard::verify {
namespace {

constexpr unsigned kResamples = 4000;
constexpr unsigned kCut = 100;  // 2.5 % of the resamples at each end
constexpr uint64_t kBootstrapSeed = 1;
constexpr size_t kPairsForInterval = 6;
constexpr size_t kPairsForExact = 300;
constexpr size_t kPairsForSortedSums = 400;

// xoshiro256** 1.0 over four words of splitmix64, as Blackman and Vigna publish them.
class Xoshiro {
 public:
  explicit Xoshiro(uint64_t seed) {
    for (uint64_t& word : s_) {
      seed += 0x9e3779b97f4a7c15ull;
      uint64_t z = seed;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ z >> 27) * 0x94d049bb133111ebull;
      word = z ^ z >> 31;
    }
  }

  // Below `bound`, every value as likely as another: numbers under 2^64 mod bound are drawn again.
  uint64_t below(uint64_t bound) {
    const uint64_t unfair = (UINT64_MAX % bound + 1) % bound;
    uint64_t drawn = next();
    while (drawn < unfair) drawn = next();
    return drawn % bound;
  }

 private:
  static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }
  uint64_t next() {
    const uint64_t result = rotate(s_[1] * 5, 7) * 9;
    const uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotate(s_[3], 45);
    return result;
  }
  std::array<uint64_t, 4> s_{};
};

// The Hodges-Lehmann estimate of samples drawn from one list, given how often each entry was drawn.
class Walsh {
 public:
  explicit Walsh(const std::vector<int64_t>& values) : values_(values), order_(values.size()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<uint32_t>(i);
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return values_[a] < values_[b]; });
    if (values.size() > kPairsForSortedSums) return;
    for (uint32_t i = 0; i < values.size(); ++i) {
      for (uint32_t j = i; j < values.size(); ++j) sums_.push_back({values[i] + values[j], i, j});
    }
    std::sort(sums_.begin(), sums_.end(), [](const Sum& a, const Sum& b) { return a.sum < b.sum; });
  }

  double estimate(const std::vector<uint32_t>& times) const {
    uint64_t drawn = 0;
    for (const uint32_t one : times) drawn += one;
    const uint64_t pairs = drawn * (drawn + 1) / 2;
    const auto [low, high] = middle(times, (pairs + 1) / 2, pairs / 2 + 1);
    return static_cast<double>(low + high) / 4;
  }

 private:
  struct Sum {
    int64_t sum;
    uint32_t i, j;
  };
  using Two = std::pair<int64_t, int64_t>;

  // The sums at two ranks (from 1) that are the same or neighbours.
  Two middle(const std::vector<uint32_t>& times, uint64_t first, uint64_t second) const {
    return sums_.empty() ? Two(search(times, first), search(times, second)) : walk(times, first, second);
  }

  Two walk(const std::vector<uint32_t>& times, uint64_t first, uint64_t second) const {
    uint64_t seen = 0;
    int64_t at_first = 0;
    bool found = false;
    for (const Sum& sum : sums_) {
      const uint64_t a = times[sum.i];
      seen += sum.i == sum.j ? a * (a + 1) / 2 : a * times[sum.j];
      if (!found && seen >= first) {
        found = true;
        at_first = sum.sum;
      }
      if (seen >= second) return {at_first, sum.sum};
    }
    return {at_first, at_first};
  }

  // The smallest sum that `rank` sums do not exceed, by halving the range between the extremes.
  int64_t search(const std::vector<uint32_t>& times, uint64_t rank) const {
    std::vector<int64_t> sorted;
    for (const uint32_t i : order_) sorted.insert(sorted.end(), times[i], values_[i]);
    int64_t low = 2 * sorted.front(), high = 2 * sorted.back();
    while (low < high) {
      const int64_t half = low + (high - low) / 2;
      if (count(sorted, half) >= rank)
        high = half;
      else
        low = half + 1;
    }
    return low;
  }

  static uint64_t count(const std::vector<int64_t>& sorted, int64_t most) {
    uint64_t pairs = 0;
    size_t end = sorted.size();
    for (size_t i = 0; i < end; ++i) {
      while (end > i && sorted[i] + sorted[end - 1] > most) --end;
      pairs += end - i;
    }
    return pairs;
  }

  const std::vector<int64_t>& values_;
  std::vector<uint32_t> order_;
  std::vector<Sum> sums_;
};

void bootstrap(const std::vector<int64_t>& differences, const Walsh& walsh, PairNumbers& out) {
  Xoshiro random(kBootstrapSeed);
  std::vector<double> estimates(kResamples);
  std::vector<uint32_t> times(differences.size());
  for (double& estimate : estimates) {
    std::fill(times.begin(), times.end(), 0);
    for (size_t i = 0; i < differences.size(); ++i) ++times[random.below(differences.size())];
    estimate = walsh.estimate(times);
  }
  std::sort(estimates.begin(), estimates.end());
  out.low = estimates[kCut];
  out.high = estimates[kResamples - 1 - kCut];
}

// Twice each difference's rank by magnitude (whole, ties share their mean), zeros left out.
struct SignedRanks {
  std::vector<uint64_t> twice;
  uint64_t twice_positive = 0;
  double ties = 0;  // sum of t^3 - t
};

SignedRanks ranks_of(const std::vector<int64_t>& differences) {
  std::vector<int64_t> magnitudes;
  for (const int64_t difference : differences) {
    if (difference != 0) magnitudes.push_back(std::llabs(difference));
  }
  std::sort(magnitudes.begin(), magnitudes.end());
  const auto twice_rank = [&](int64_t magnitude) {
    const auto [first, last] = std::equal_range(magnitudes.begin(), magnitudes.end(), magnitude);
    return static_cast<uint64_t>((first - magnitudes.begin()) + 1 + (last - magnitudes.begin()));
  };
  SignedRanks ranks;
  for (const int64_t difference : differences) {
    if (difference == 0) continue;
    ranks.twice.push_back(twice_rank(std::llabs(difference)));
    if (difference > 0) ranks.twice_positive += ranks.twice.back();
  }
  for (auto at = magnitudes.begin(); at != magnitudes.end();) {
    const auto end = std::upper_bound(at, magnitudes.end(), *at);
    const auto t = static_cast<double>(end - at);
    ranks.ties += t * t * t - t;
    at = end;
  }
  return ranks;
}

// P(W <= sum) if every sign is a fair coin: choices of signs counted by the sum of the positive ranks, in
// place, out of 2^n. `sum` is twice a sum of ranks.
double exact_at_most(const SignedRanks& ranks, uint64_t sum) {
  uint64_t all = 0;
  for (const uint64_t rank : ranks.twice) all += rank;
  std::vector<long double> ways(all + 1, 0.0L);
  ways[0] = 1;
  uint64_t reached = 0;
  for (const uint64_t rank : ranks.twice) {
    reached += rank;
    for (uint64_t at = reached; at >= rank && at <= reached; --at) ways[at] += ways[at - rank];
  }
  long double tail = 0;
  for (uint64_t at = 0; at <= sum; ++at) tail += ways[at];
  return static_cast<double>(std::ldexp(tail, -static_cast<int>(ranks.twice.size())));
}

double normal_at_most(const SignedRanks& ranks, uint64_t sum) {
  const auto n = static_cast<double>(ranks.twice.size());
  const double mean = n * (n + 1) / 4;
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48;
  const double above = static_cast<double>(sum) / 2 + 0.5 - mean;
  return std::erfc(-above / std::sqrt(2 * variance)) / 2;
}

// The distribution is symmetric: a sum at least so large is one at most so small from the other end.
struct Tails {
  double at_most = 1, at_least = 1;
};

Tails tails_of(const std::vector<int64_t>& differences) {
  const SignedRanks ranks = ranks_of(differences);
  if (ranks.twice.empty()) return {};
  uint64_t all = 0;
  for (const uint64_t rank : ranks.twice) all += rank;
  const auto at_most = ranks.twice.size() <= kPairsForExact ? exact_at_most : normal_at_most;
  return {at_most(ranks, ranks.twice_positive), at_most(ranks, all - ranks.twice_positive)};
}

}  // namespace

std::optional<double> median_of(std::vector<int64_t> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return static_cast<double>(values[(n - 1) / 2] + values[n / 2]) / 2;
}

std::optional<double> percentile_of(std::vector<int64_t> values, unsigned percent) {
  const size_t n = values.size();
  if (n * (100 - percent) < 500) return std::nullopt;
  std::sort(values.begin(), values.end());
  size_t rank = 1;  // the smallest that has at least `percent` of the values at or below it
  while (rank * 100 < n * percent) ++rank;
  return static_cast<double>(values[rank - 1]);
}

double hodges_lehmann_of(std::vector<int64_t> values) {
  return Walsh(values).estimate(std::vector<uint32_t>(values.size(), 1));
}

double signed_rank_p(const std::vector<int64_t>& differences) {
  const Tails tails = tails_of(differences);
  return std::min(1.0, 2 * std::min(tails.at_most, tails.at_least));
}

MarginNumbers margin_numbers(const std::vector<int64_t>& differences, int64_t margin) {
  std::vector<int64_t> up = differences, down = differences;
  for (int64_t& difference : up) difference += margin;
  for (int64_t& difference : down) difference -= margin;
  return {std::min(1.0, tails_of(up).at_least), std::min(1.0, tails_of(down).at_most)};
}

PairNumbers pair_numbers(const std::vector<int64_t>& differences) {
  PairNumbers out;
  out.n = differences.size();
  for (const int64_t difference : differences) {
    if (difference < 0) ++out.negative;
    if (difference > 0) ++out.positive;
  }
  out.median = *median_of(differences);
  const Walsh walsh(differences);
  out.hodges_lehmann = walsh.estimate(std::vector<uint32_t>(differences.size(), 1));
  if (out.n >= kPairsForInterval) bootstrap(differences, walsh, out);
  out.p_value = signed_rank_p(differences);
  return out;
}

}  // namespace hopyard::verify
