// SPDX-License-Identifier: Apache-2.0
// Cells, samples and pairs out of a campaign's rows, in the order in which the campaign names its paths,
// workloads and cases. Computes no statistics beyond what v_cell does.
#pragma once

#include <string_view>
#include <vector>

#include "store/store.h"

namespace hopyard::store {

class Connection;

absl::StatusOr<std::vector<v1::CellFigure>> read_cells(Connection& connection, const CampaignRow& campaign);
// v_cell_no_drop and v_cell_diagnostic.
absl::StatusOr<std::vector<v1::CellFigure>> read_no_drop_cells(Connection& connection,
                                                               const CampaignRow& campaign);
absl::StatusOr<std::vector<v1::CellDiagnostic>> read_diagnostics(Connection& connection,
                                                                 const CampaignRow& campaign);
absl::StatusOr<std::vector<CellSamples>> read_samples(Connection& connection, const CampaignRow& campaign);
absl::StatusOr<std::vector<PairedSamples>> read_paired_samples(Connection& connection,
                                                               const CampaignRow& campaign,
                                                               std::string_view case_a,
                                                               std::string_view case_b);
absl::StatusOr<std::vector<v1::PairFigure>> read_pairs(Connection& connection, const CampaignRow& campaign,
                                                       std::string_view case_a, std::string_view case_b);
absl::StatusOr<std::vector<v1::PairFigure>> read_equivalences(Connection& connection,
                                                              const CampaignRow& campaign);
absl::StatusOr<std::vector<v1::InteractionFigure>> read_interactions(Connection& connection,
                                                                     const CampaignRow& campaign);
absl::Status replace_figures(Connection& connection, std::string_view campaign_id,
                             const std::vector<v1::PairFigure>& pairs,
                             const std::vector<v1::InteractionFigure>& interactions);

}  // namespace hopyard::store
