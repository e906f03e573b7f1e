// SPDX-License-Identifier: Apache-2.0
// The parts of a campaign's schedule: blocks that were planned together. Knows neither how they were drawn
// nor what they measured.
#pragma once

#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace hopyard::store {

// The phases that `planned` names, in the order in which they come up; always at least the initial one.
absl::Status insert_phases(Connection& connection, int64_t campaign_no, const CampaignRow& campaign,
                           const std::vector<PlannedRow>& planned);
// The one phase of `planned`, behind those the campaign has. INVALID_ARGUMENT if it is not one, or not
// behind.
absl::Status insert_later_phase(Connection& connection, int64_t campaign_no, const ExtensionRow& extension,
                                const std::vector<PlannedRow>& planned);

absl::StatusOr<std::vector<v1::Phase>> read_phases(Connection& connection, std::string_view campaign_id);

}  // namespace hopyard::store
