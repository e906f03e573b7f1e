// SPDX-License-Identifier: Apache-2.0
// One trial's rows back into the message its worker sent. The mirror of evidence_writer.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"

namespace hopyard::v1 {
class TrialResult;
}

namespace hopyard::store {

class Connection;
struct Provenance;

// Absent if the trial has no outcome (or is not planned at all).
absl::StatusOr<std::optional<v1::TrialResult>> read_result(Connection& connection, std::string_view trial_id);
// What a trial ran with; NOT_FOUND without an outcome.
absl::StatusOr<Provenance> read_provenance(Connection& connection, std::string_view trial_id);

}  // namespace hopyard::store
