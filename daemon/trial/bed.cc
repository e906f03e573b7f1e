// SPDX-License-Identifier: Apache-2.0
// Chooses the bed a path's kind names.
#include "trial/bed.h"

#include "fmt/format.h"
#include "trial/beds.h"

namespace hopyard::trial {

absl::StatusOr<std::unique_ptr<Bed>> Bed::make(const v1::TrialSpec& spec, const std::string& scratch) {
  if (spec.path().kind() == "routed") return make_routed_bed(spec);
  if (spec.path().kind() == "loopback") return make_loopback_bed(spec);
  if (spec.path().kind() == "unix") return make_unix_bed(scratch);
  return absl::InvalidArgumentError(
      fmt::format("make path: {}: unknown kind \"{}\"", spec.path().name(), spec.path().kind()));
}

}  // namespace hopyard::trial
