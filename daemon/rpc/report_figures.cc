// SPDX-License-Identifier: Apache-2.0
// Asks for what the service's own calls would answer.
#include "rpc/report_figures.h"

#include <vector>

#include "run/figures.h"
#include "store/store.h"

namespace hopyard::rpc {
namespace {

// The pairs of every two of the campaign's cases, each in the order of the file.
absl::StatusOr<std::vector<v1::PairFigure>> all_pair_figures(const store::Store& store,
                                                             const std::string& campaign) {
  HOPYARD_ASSIGN_OR_RETURN(const auto row, store.campaign(campaign));
  std::vector<v1::PairFigure> all;
  for (int a = 0; a < row.campaign.cases_size(); ++a) {
    for (int b = a + 1; b < row.campaign.cases_size(); ++b) {
      HOPYARD_ASSIGN_OR_RETURN(
          const auto some,
          run::compare_cases(store, row.id, row.campaign.cases(a).name(), row.campaign.cases(b).name()));
      all.insert(all.end(), some.pairs().begin(), some.pairs().end());
    }
  }
  return all;
}

}  // namespace

absl::StatusOr<report::Figures> report_figures(const store::Store& store, const std::string& campaign) {
  report::Figures figures;
  HOPYARD_ASSIGN_OR_RETURN(figures.pairs, all_pair_figures(store, campaign));
  HOPYARD_ASSIGN_OR_RETURN(const v1::SummaryResponse summary, run::summarise(store, campaign));
  figures.interactions.assign(summary.interactions().begin(), summary.interactions().end());
  figures.phases.assign(summary.status().phases().begin(), summary.status().phases().end());
  HOPYARD_ASSIGN_OR_RETURN(const v1::DiagnosticsResponse diagnostics, store.diagnostics(campaign));
  figures.diagnostics.assign(diagnostics.cells().begin(), diagnostics.cells().end());
  figures.without_drops.assign(diagnostics.without_drops().begin(), diagnostics.without_drops().end());
  return figures;
}

}  // namespace hopyard::rpc
