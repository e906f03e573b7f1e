// SPDX-License-Identifier: Apache-2.0
// Campaigns and their planned trials: rows in, rows out. Knows no evidence. The caller holds the connection's
// lock and names the database in errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace hopyard::store {

struct Pools;

absl::Status insert_campaign(Connection& connection, Pools& pools, const CampaignRow& campaign,
                             const std::vector<PlannedRow>& planned);
absl::Status insert_extension(Connection& connection, Pools& pools, std::string_view id,
                              const ExtensionRow& extension, const std::vector<PlannedRow>& planned);
absl::Status update_state(Connection& connection, std::string_view id, v1::CampaignState state,
                          std::string_view reason);
absl::Status update_execution(Connection& connection, std::string_view id, std::string_view execution,
                              std::string_view kernel);
absl::Status insert_verification(Connection& connection, std::string_view id,
                                 const v1::Verification& verification);

// The number of the campaign with exactly this id. NOT_FOUND names it.
absl::StatusOr<int64_t> campaign_number(Connection& connection, std::string_view id);
// As Store::resolve.
absl::StatusOr<std::string> resolve_reference(Connection& connection, std::string_view reference);

absl::StatusOr<CampaignRow> read_campaign(Connection& connection, std::string_view id);
absl::StatusOr<v1::CampaignStatus> read_status(Connection& connection, std::string_view id);
absl::StatusOr<std::vector<v1::CampaignStatus>> read_statuses(Connection& connection);
absl::StatusOr<v1::Pace> read_pace(Connection& connection, std::string_view id);
absl::StatusOr<std::vector<PlannedRow>> read_planned(Connection& connection, std::string_view id,
                                                     bool only_without_outcome);
absl::StatusOr<std::vector<v1::TrialOutcome>> read_outcomes(Connection& connection, std::string_view id);
// As Store::builds.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> read_builds(Connection& connection,
                                                                             std::string_view id);
// One planned trial; NOT_FOUND names it.
absl::StatusOr<v1::PlannedTrial> read_planned_trial(Connection& connection, std::string_view trial_id);

}  // namespace hopyard::store
