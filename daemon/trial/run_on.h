// SPDX-License-Identifier: Apache-2.0
// One trial on a bed that was already made: what run_trial and the gate share.
#pragma once

#include <chrono>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "trial/bed.h"
#include "trial/scratch.h"
#include "trial/trial.h"

namespace hopyard::trial {

// Server and client on `bed`, then the bed's end and the checks. `request_timeout`: for each response, from
// its request's write to its last byte.
void run_on(const v1::TrialSpec& spec, const Scratch& scratch, Bed& bed,
            std::chrono::nanoseconds request_timeout, v1::TrialResult& result, const Steps& steps = {});

}  // namespace hopyard::trial
