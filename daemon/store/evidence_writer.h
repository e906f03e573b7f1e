// SPDX-License-Identifier: Apache-2.0
// One trial's outcome and evidence into rows. The caller holds the transaction and names the database in
// errors.
#pragma once

#include <string_view>

#include "base/status.h"

namespace hopyard::v1 {
class TrialResult;
}

namespace hopyard::store {

class Connection;
struct Pools;
struct Provenance;

// As Store::record_trial.
absl::Status insert_result(Connection& connection, Pools& pools, std::string_view campaign_id,
                           const v1::TrialResult& result, const Provenance& provenance);

}  // namespace hopyard::store
