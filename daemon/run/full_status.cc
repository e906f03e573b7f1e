// SPDX-License-Identifier: Apache-2.0
// Joins what the store keeps apart.
#include "run/full_status.h"

#include "store/store.h"

namespace hopyard::run {

absl::StatusOr<v1::CampaignStatus> full_status(const store::Store& store, const std::string& campaign) {
  HOPYARD_ASSIGN_OR_RETURN(v1::CampaignStatus status, store.status_with_pace(campaign));
  HOPYARD_ASSIGN_OR_RETURN(const auto phases, store.phases(status.campaign_id()));
  status.mutable_phases()->Assign(phases.begin(), phases.end());
  return status;
}

absl::StatusOr<std::vector<v1::CampaignStatus>> full_statuses(const store::Store& store) {
  HOPYARD_ASSIGN_OR_RETURN(auto all, store.list());
  for (v1::CampaignStatus& one : all) {
    HOPYARD_ASSIGN_OR_RETURN(const auto phases, store.phases(one.campaign_id()));
    one.mutable_phases()->Assign(phases.begin(), phases.end());
  }
  return all;
}

}  // namespace hopyard::run
