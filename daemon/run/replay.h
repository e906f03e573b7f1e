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

// NOT_FOUND: no such trial, or it has no outcome. FAILED_PRECONDITION: it ran on the real clock, where no
// trial is the same twice, or with a server or kernel that this machine would not use for it now. CANCELLED
// once `stop` is requested.
absl::StatusOr<v1::ReplayResponse> replay_trial(const store::Store& store, Workshop& workshop,
                                                const Machine& machine, const std::string& trial_id,
                                                std::stop_token stop);

}  // namespace hopyard::run
