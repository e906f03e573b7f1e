// SPDX-License-Identifier: Apache-2.0
// A campaign's status with its phases and its pace, which events leave out: they are counted anew for each.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::run {

absl::StatusOr<v1::CampaignStatus> full_status(const store::Store& store, const std::string& campaign);

// Of every campaign, newest first; without their pace.
absl::StatusOr<std::vector<v1::CampaignStatus>> full_statuses(const store::Store& store);

}  // namespace hopyard::run
