// SPDX-License-Identifier: Apache-2.0
// How long a trial may take before it counts as hung. Pure.
#pragma once

#include <chrono>

#include "hopyard/v1/worker.pb.h"

namespace hopyard::run {

// At least a minute, and several times what the bodies, the path and the pauses let expect. The worker has
// deadlines of its own, which tell more; this one is for a worker or a guest that says nothing any more.
std::chrono::nanoseconds patience_for(const v1::TrialSpec& trial);

}  // namespace hopyard::run
