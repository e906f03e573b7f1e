// SPDX-License-Identifier: Apache-2.0
// A network namespace with nothing but its loopback, up.
#pragma once

#include "base/status.h"
#include "lab/namespace.h"

namespace hopyard::lab {

// Errors as NetNamespace::make, or why the link could not be set up.
absl::StatusOr<NetNamespace> make_loopback_namespace();

}  // namespace hopyard::lab
