// SPDX-License-Identifier: Apache-2.0
// Thousands of estimates for each interval, and thousands of intervals at a campaign's end: what can be done
// once for all resamples is.
#include "stats/bootstrap.h"

#include <algorithm>
#include <numeric>

#include "stats/random.h"

namespace hopyard::stats {
namespace {

// Up to here it is quicker to count in a table of all averages than to look for the middle one anew.
constexpr size_t kPairsForTable = 200;

// All Walsh averages of a sample, in order, with their two members. Those of a resample are among them, each
// as often as its members were drawn together, so their median is found by counting.
class WalshTable {
 public:
  explicit WalshTable(const std::vector<double>& sorted) {
    for (uint32_t i = 0; i < sorted.size(); ++i) {
      for (uint32_t j = i; j < sorted.size(); ++j) entries_.push_back({sorted[i] / 2 + sorted[j] / 2, i, j});
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.average < b.average; });
  }

  // Of the resample that has the sample's i-th value drawn[i] times; as many draws as there are values.
  double median(const std::vector<uint32_t>& drawn) const {
    const size_t half = (entries_.size() + 1) / 2;
    auto at = entries_.begin();
    size_t seen = together(*at, drawn);
    while (seen < half) seen += together(*++at, drawn);
    const double low = at->average;
    if (entries_.size() % 2 == 1) return low;
    if (seen == half) {
      while (together(*++at, drawn) == 0) continue;
    }
    return low / 2 + at->average / 2;
  }

 private:
  struct Entry {
    double average;
    uint32_t i;
    uint32_t j;
  };
  // Pairs of draws, each draw with itself included.
  static size_t together(const Entry& entry, const std::vector<uint32_t>& drawn) {
    const size_t i = drawn[entry.i];
    return entry.i == entry.j ? i * (i + 1) / 2 : i * drawn[entry.j];
  }
  std::vector<Entry> entries_;
};

// A resample is kept as how often each value was drawn, so that it comes out in order without sorting.
class Resampler {
 public:
  Resampler(const std::vector<double>& differences, uint64_t seed)
      : random_(seed), sorted_(differences), place_(differences.size()), drawn_(differences.size()) {
    std::vector<size_t> order(differences.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return differences[a] < differences[b]; });
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = i;
    std::sort(sorted_.begin(), sorted_.end());
    if (sorted_.size() <= kPairsForTable) table_.emplace(sorted_);
  }

  // The estimate of the next resample: as many draws as there are differences, with replacement, each an
  // index into the differences in their given order.
  double next() {
    std::fill(drawn_.begin(), drawn_.end(), 0u);
    for (size_t i = 0; i < place_.size(); ++i) ++drawn_[place_[random_.below(place_.size())]];
    if (table_) return table_->median(drawn_);
    resample_.clear();
    for (size_t i = 0; i < sorted_.size(); ++i) resample_.insert(resample_.end(), drawn_[i], sorted_[i]);
    return hodges_lehmann_of_sorted(resample_);
  }

 private:
  Random random_;
  std::vector<double> sorted_;
  std::vector<size_t> place_;  // of each difference, in `sorted_`
  std::vector<uint32_t> drawn_;
  std::vector<double> resample_;
  std::optional<WalshTable> table_;
};

}  // namespace

std::optional<Interval> bootstrap(const std::vector<double>& differences, const BootstrapOptions& options) {
  Resampler resampler(differences, options.seed);
  std::vector<double> estimates(std::max(options.resamples, 1u));
  for (double& estimate : estimates) {
    if (options.stop.stop_requested()) return std::nullopt;
    estimate = resampler.next();
  }
  std::sort(estimates.begin(), estimates.end());
  const double share = (1 - options.confidence) / 2;
  const auto cut = static_cast<size_t>(share * static_cast<double>(estimates.size()));
  return Interval{estimates[cut], estimates[estimates.size() - 1 - cut]};
}

}  // namespace hopyard::stats
