// SPDX-License-Identifier: Apache-2.0
// How long a worker may take to start and to end, a trial before it counts as hung, and a request within it.
// Pure.
#pragma once

#include <chrono>

#include "hopyard/v1/worker.pb.h"

namespace hopyard::run {

// A guest boots in about a second; a busy machine takes its time.
constexpr std::chrono::seconds kWorkerStart{60};
constexpr std::chrono::seconds kWorkerEnd{10};

// From a request's write to its response's last byte: for the worker, whose evidence tells what was missing.
std::chrono::nanoseconds request_patience_for(const v1::TrialSpec& trial);

// At least a minute, and several times what the bodies, the path and the pauses let expect. Longer than a
// trial in which the last request takes all of its patience: this one is for a worker or a guest that says
// nothing any more.
std::chrono::nanoseconds patience_for(const v1::TrialSpec& trial);

}  // namespace hopyard::run
