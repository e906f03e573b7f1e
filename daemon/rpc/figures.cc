// SPDX-License-Identifier: Apache-2.0
// Asks the store for pairs and the estimators for their figures.
#include "rpc/figures.h"

#include "stats/paired.h"
#include "store/store.h"

namespace hopyard::rpc {
namespace {

v1::PairFigure figure_of(const store::PairedSamples& samples, const std::string& case_a,
                         const std::string& case_b) {
  std::vector<std::pair<double, double>> values;
  for (size_t i = 0; i < samples.block.size(); ++i) values.emplace_back(samples.a_ns[i], samples.b_ns[i]);
  const stats::Paired paired = stats::compare(values);
  v1::PairFigure figure;
  figure.set_path(samples.key.path);
  figure.set_workload(samples.key.workload);
  figure.set_metric(samples.key.metric);
  figure.set_kernel(samples.key.kernel);
  figure.set_clock(samples.key.clock);
  figure.set_execution(samples.key.execution);
  figure.set_case_a(case_a);
  figure.set_case_b(case_b);
  figure.set_n(static_cast<uint32_t>(paired.n));
  figure.set_median_diff_ns(paired.median.value_or(0));
  figure.set_hl_ns(paired.hodges_lehmann.value_or(0));
  if (paired.interval) {
    figure.set_ci_low_ns(paired.interval->low);
    figure.set_ci_high_ns(paired.interval->high);
  }
  figure.set_negative(static_cast<uint32_t>(paired.negative));
  figure.set_positive(static_cast<uint32_t>(paired.positive));
  figure.set_p_value(paired.p_value.value_or(1));
  return figure;
}

absl::StatusOr<std::vector<v1::PairFigure>> computed(const store::Store& store, const std::string& campaign,
                                                     const std::string& case_a, const std::string& case_b) {
  HOPYARD_ASSIGN_OR_RETURN(const auto samples, store.paired_samples(campaign, case_a, case_b));
  std::vector<v1::PairFigure> figures;
  for (const auto& one : samples) {
    if (!one.block.empty()) figures.push_back(figure_of(one, case_a, case_b));
  }
  return figures;
}

}  // namespace

absl::StatusOr<std::vector<v1::PairFigure>> pair_figures(const store::Store& store,
                                                         const std::string& campaign,
                                                         const std::string& case_a,
                                                         const std::string& case_b) {
  HOPYARD_ASSIGN_OR_RETURN(auto stored, store.pairs(campaign, case_a, case_b));
  if (!stored.empty()) return stored;
  return computed(store, campaign, case_a, case_b);
}

absl::Status record_figures(store::Store& store, const std::string& campaign) {
  HOPYARD_ASSIGN_OR_RETURN(const auto row, store.campaign(campaign));
  std::vector<v1::PairFigure> all;
  for (int a = 0; a < row.campaign.cases_size(); ++a) {
    for (int b = a + 1; b < row.campaign.cases_size(); ++b) {
      HOPYARD_ASSIGN_OR_RETURN(auto figures, computed(store, campaign, row.campaign.cases(a).name(),
                                                      row.campaign.cases(b).name()));
      all.insert(all.end(), figures.begin(), figures.end());
    }
  }
  return store.record_pairs(campaign, all);
}

}  // namespace hopyard::rpc
