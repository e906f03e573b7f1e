// SPDX-License-Identifier: Apache-2.0
// Puts a test or benchmark program into a user and network namespace of its own, so that it may make paths as
// an ordinary user and cannot touch the machine's network.
#pragma once

#include "base/status.h"

namespace hopyard::testing_support {

// Call once, before any thread is started. Does nothing for pid 1 of a guest, whose network is its own
// already.
absl::Status enter_own_network();

}  // namespace hopyard::testing_support
