// SPDX-License-Identifier: Apache-2.0
// Asks the store for pairs and the estimators for their figures.
#include "run/figures.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "fmt/format.h"
#include "run/full_status.h"
#include "stats/paired.h"
#include "store/store.h"

namespace hopyard::run {
namespace {

auto place_of(const store::CellKey& key) {
  return std::tie(key.path, key.workload, key.metric, key.kernel, key.clock, key.execution);
}

// What every figure of differences says. `paired` has at least one.
template <typename Figure>
void describe(Figure& figure, const store::CellKey& key, const stats::Paired& paired) {
  figure.set_path(key.path);
  figure.set_workload(key.workload);
  figure.set_metric(key.metric);
  figure.set_kernel(key.kernel);
  figure.set_clock(key.clock);
  figure.set_execution(key.execution);
  figure.set_n(static_cast<uint32_t>(paired.n));
  figure.set_hl_ns(*paired.hodges_lehmann);
  if (paired.interval) {
    figure.set_ci_low_ns(paired.interval->low);
    figure.set_ci_high_ns(paired.interval->high);
  }
  figure.set_negative(static_cast<uint32_t>(paired.negative));
  figure.set_positive(static_cast<uint32_t>(paired.positive));
  figure.set_p_value(*paired.p_value);
}

bool names(const v1::Equivalence& entry, const std::string& name) {
  return std::find(entry.cases().begin(), entry.cases().end(), name) != entry.cases().end();
}

std::optional<int64_t> margin_of(const v1::Campaign& campaign, const std::string& case_a,
                                 const std::string& case_b) {
  for (const v1::Equivalence& entry : campaign.equivalence()) {
    if (names(entry, case_a) && names(entry, case_b)) return entry.margin_ns();
  }
  return std::nullopt;
}

v1::EquivalenceFigure equivalence_of(const std::vector<double>& differences, int64_t margin_ns) {
  const auto test = stats::equivalence(differences, static_cast<double>(margin_ns));
  v1::EquivalenceFigure figure;
  figure.set_margin_ns(margin_ns);
  figure.set_p_above_low(test->p_above_low);
  figure.set_p_below_high(test->p_below_high);
  figure.set_equivalent(test->equivalent);
  return figure;
}

// One campaign's figures out of its samples.
class Computer {
 public:
  Computer(const store::Store& store, const store::CampaignRow& row, std::stop_token stop = {})
      : store_(store), row_(row) {
    options_.stop = std::move(stop);
  }

  // Appends to `figures`, in the order of the samples.
  absl::Status add_pairs(const std::string& case_a, const std::string& case_b,
                         std::vector<v1::PairFigure>& figures) const {
    HOPYARD_ASSIGN_OR_RETURN(const auto samples, store_.paired_samples(row_.id, case_a, case_b));
    const std::optional<int64_t> margin_ns = margin_of(row_.campaign, case_a, case_b);
    for (const auto& one : samples) {
      std::vector<double> differences;
      for (size_t i = 0; i < one.block.size(); ++i) differences.push_back(one.b_ns[i] - one.a_ns[i]);
      const stats::Paired paired = stats::analyse(differences, options_);
      HOPYARD_RETURN_IF_ERROR(not_stopped());
      v1::PairFigure figure;
      describe(figure, one.key, paired);
      figure.set_case_a(case_a);
      figure.set_case_b(case_b);
      figure.set_median_diff_ns(*paired.median);
      if (margin_ns) *figure.mutable_equivalence() = equivalence_of(differences, *margin_ns);
      figures.push_back(std::move(figure));
    }
    return absl::OkStatus();
  }

  absl::Status add_interactions(const v1::Factorial& four,
                                std::vector<v1::InteractionFigure>& figures) const {
    HOPYARD_ASSIGN_OR_RETURN(const auto without,
                             store_.paired_samples(row_.id, four.neither(), four.first()));
    HOPYARD_ASSIGN_OR_RETURN(const auto with, store_.paired_samples(row_.id, four.second(), four.both()));
    for (const auto& one : without) {
      const auto same = std::find_if(with.begin(), with.end(), [&](const auto& other) {
        return place_of(other.key) == place_of(one.key);
      });
      if (same == with.end()) continue;
      const std::vector<stats::TwoByTwo> blocks = common_blocks(one, *same);
      if (blocks.empty()) continue;
      const stats::Paired paired = stats::interaction(blocks, options_);
      HOPYARD_RETURN_IF_ERROR(not_stopped());
      v1::InteractionFigure figure;
      describe(figure, one.key, paired);
      figure.set_factorial(four.name());
      figure.set_neither(four.neither());
      figure.set_first(four.first());
      figure.set_second(four.second());
      figure.set_both(four.both());
      figure.set_median_ns(*paired.median);
      figures.push_back(std::move(figure));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status not_stopped() const {
    return options_.stop.stop_requested() ? absl::CancelledError("compute figures: stopped")
                                          : absl::OkStatus();
  }

  // Blocks in which all four cases have a sample; both lists are in the order of blocks.
  static std::vector<stats::TwoByTwo> common_blocks(const store::PairedSamples& without,
                                                    const store::PairedSamples& with) {
    std::vector<stats::TwoByTwo> blocks;
    for (size_t i = 0, j = 0; i < without.block.size() && j < with.block.size();) {
      if (without.block[i] == with.block[j]) {
        blocks.push_back({without.a_ns[i], without.b_ns[i], with.a_ns[j], with.b_ns[j]});
        ++i, ++j;
      } else {
        without.block[i] < with.block[j] ? ++i : ++j;
      }
    }
    return blocks;
  }

  const store::Store& store_;
  const store::CampaignRow& row_;
  stats::BootstrapOptions options_;
};

bool has_both(const v1::Factorial& four, const std::string& case_a, const std::string& case_b) {
  const std::set<std::string> corners = {four.neither(), four.first(), four.second(), four.both()};
  return corners.contains(case_a) && corners.contains(case_b);
}

struct Figures {
  std::vector<v1::PairFigure> pairs;
  std::vector<v1::InteractionFigure> interactions;
};

absl::StatusOr<Figures> stored(const store::Store& store, const store::CampaignRow& row,
                               const std::string& case_a, const std::string& case_b) {
  Figures figures;
  HOPYARD_ASSIGN_OR_RETURN(figures.pairs, store.pairs(row.id, case_a, case_b));
  HOPYARD_ASSIGN_OR_RETURN(figures.interactions, store.interactions(row.id));
  std::set<std::string> wanted;
  for (const v1::Factorial& four : row.campaign.factorials()) {
    if (has_both(four, case_a, case_b)) wanted.insert(four.name());
  }
  std::erase_if(figures.interactions, [&](const auto& one) { return !wanted.contains(one.factorial()); });
  return figures;
}

absl::StatusOr<Figures> computed(const store::Store& store, const store::CampaignRow& row,
                                 const std::string& case_a, const std::string& case_b) {
  const Computer computer(store, row);
  Figures figures;
  HOPYARD_RETURN_IF_ERROR(computer.add_pairs(case_a, case_b, figures.pairs));
  for (const v1::Factorial& four : row.campaign.factorials()) {
    if (!has_both(four, case_a, case_b)) continue;
    HOPYARD_RETURN_IF_ERROR(computer.add_interactions(four, figures.interactions));
  }
  return figures;
}

}  // namespace

absl::StatusOr<v1::CompareResponse> compare_cases(const store::Store& store, const std::string& campaign,
                                                  const std::string& case_a, const std::string& case_b) {
  if (case_a == case_b)
    return absl::InvalidArgumentError(
        fmt::format("compare: {},{}: two different cases are wanted", case_a, case_b));
  v1::CompareResponse response;
  HOPYARD_ASSIGN_OR_RETURN(*response.mutable_status(), store.status(campaign));
  HOPYARD_ASSIGN_OR_RETURN(const auto row, store.campaign(response.status().campaign_id()));
  HOPYARD_ASSIGN_OR_RETURN(Figures figures, stored(store, row, case_a, case_b));
  // What was stored before a campaign went on is of fewer samples than there are now.
  if (response.status().state() != v1::DONE || figures.pairs.empty()) {
    HOPYARD_ASSIGN_OR_RETURN(figures, computed(store, row, case_a, case_b));
  }
  response.mutable_pairs()->Assign(figures.pairs.begin(), figures.pairs.end());
  response.mutable_interactions()->Assign(figures.interactions.begin(), figures.interactions.end());
  return response;
}

absl::StatusOr<v1::SummaryResponse> summarise(const store::Store& store, const std::string& campaign) {
  v1::SummaryResponse response;
  HOPYARD_ASSIGN_OR_RETURN(*response.mutable_status(), full_status(store, campaign));
  const std::string id = response.status().campaign_id();
  HOPYARD_ASSIGN_OR_RETURN(const auto cells, store.cells(id));
  response.mutable_cells()->Assign(cells.begin(), cells.end());
  if (response.status().state() != v1::DONE) return response;
  HOPYARD_ASSIGN_OR_RETURN(const auto equivalences, store.equivalences(id));
  response.mutable_equivalences()->Assign(equivalences.begin(), equivalences.end());
  HOPYARD_ASSIGN_OR_RETURN(const auto interactions, store.interactions(id));
  response.mutable_interactions()->Assign(interactions.begin(), interactions.end());
  return response;
}

absl::Status record_figures(store::Store& store, const std::string& campaign, std::stop_token stop) {
  HOPYARD_ASSIGN_OR_RETURN(const auto row, store.campaign(campaign));
  const Computer computer(store, row, std::move(stop));
  Figures all;
  for (int a = 0; a < row.campaign.cases_size(); ++a) {
    for (int b = a + 1; b < row.campaign.cases_size(); ++b) {
      HOPYARD_RETURN_IF_ERROR(
          computer.add_pairs(row.campaign.cases(a).name(), row.campaign.cases(b).name(), all.pairs));
    }
  }
  for (const v1::Factorial& four : row.campaign.factorials()) {
    HOPYARD_RETURN_IF_ERROR(computer.add_interactions(four, all.interactions));
  }
  return store.record_figures(row.id, all.pairs, all.interactions);
}

}  // namespace hopyard::run
