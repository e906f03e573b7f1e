// SPDX-License-Identifier: Apache-2.0
// Where the worker program is.
#pragma once

#include <string>

#include "base/status.h"

namespace hopyard::execute {

// hopyard-worker beside the running program; NOT_FOUND names the place.
absl::StatusOr<std::string> worker_program();

}  // namespace hopyard::execute
