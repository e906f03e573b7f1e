// SPDX-License-Identifier: Apache-2.0
// Puts the estimators together for one list of differences.
#include "stats/paired.h"

#include <algorithm>

#include "stats/bootstrap.h"
#include "stats/percentile.h"

namespace hopyard::stats {

Paired analyse(const std::vector<double>& differences, const BootstrapOptions& options) {
  Paired result;
  result.n = differences.size();
  if (differences.empty()) return result;
  for (const double difference : differences) {
    result.negative += difference < 0;
    result.zero += difference == 0;
    result.positive += difference > 0;
  }
  result.median = median(differences);
  result.hodges_lehmann = hodges_lehmann(differences);
  result.min = *std::min_element(differences.begin(), differences.end());
  result.max = *std::max_element(differences.begin(), differences.end());
  if (result.n >= kPairsForInterval) result.interval = bootstrap(differences, options);
  const auto test = signed_rank(differences);
  result.p_value = test->p_value;
  result.exact = test->exact;
  return result;
}

Paired compare(const std::vector<std::pair<double, double>>& pairs, const BootstrapOptions& options) {
  std::vector<double> differences;
  for (const auto& [first, second] : pairs) differences.push_back(second - first);
  return analyse(differences, options);
}

Paired interaction(const std::vector<TwoByTwo>& blocks, const BootstrapOptions& options) {
  std::vector<double> contrasts;
  for (const auto& [neither, first, second, both] : blocks)
    contrasts.push_back((both - second) - (first - neither));
  return analyse(contrasts, options);
}

std::optional<Equivalence> equivalence(const std::vector<double>& differences, double margin, double alpha) {
  if (differences.empty() || !(margin > 0)) return std::nullopt;
  std::vector<double> above_low;
  std::vector<double> below_high;
  for (const double difference : differences) {
    above_low.push_back(difference + margin);
    below_high.push_back(difference - margin);
  }
  Equivalence result;
  result.margin = margin;
  result.p_above_low = signed_rank(above_low, Tail::kGreater)->p_value;
  result.p_below_high = signed_rank(below_high, Tail::kLess)->p_value;
  result.p_value = std::max(result.p_above_low, result.p_below_high);
  result.equivalent = result.p_value < alpha;
  return result;
}

}  // namespace hopyard::stats
