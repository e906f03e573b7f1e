// SPDX-License-Identifier: Apache-2.0
// What the random numbers of a guest on the virtual clock come from. Pure.
#pragma once

#include <cstdint>

#include "hopyard/v1/worker.pb.h"

namespace hopyard::run {

// The trial's seed where its path draws lots; else one seed for all. Where nothing is lost a seed of its own
// would decide only what nobody asked about: ports, hash keys, and the phase of BBR's probing, which moves a
// long transfer by a step of the guest's clock (256 ns).
uint64_t guest_seed(const v1::TrialSpec& trial);

}  // namespace hopyard::run
