// SPDX-License-Identifier: Apache-2.0
// One stored trial run again, alone, and compared with what was stored. Stores nothing.
#pragma once

#include <stop_token>
#include <string>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"
#include "run/machine.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::run {

// With the kernel, server and worker that this machine would use for it now; `tool_version` is the last
// one's. NOT_FOUND: no such trial, or it has no outcome. FAILED_PRECONDITION: it ran on the real clock, where
// no trial is the same twice, or there is no kernel for it here. CANCELLED once `stop` is requested.
absl::StatusOr<v1::ReplayResponse> replay_trial(const store::Store& store, Workshop& workshop,
                                                const Machine& machine, const std::string& tool_version,
                                                const std::string& trial_id, std::stop_token stop);

// What the replay ran with that the trial did not: the likely cause of a digest that differs. Pure.
void add_differences(const store::Provenance& stored, const store::Provenance& today,
                     v1::ReplayResponse& response);

}  // namespace hopyard::run
