// SPDX-License-Identifier: Apache-2.0
// The filter of system calls: what neither a worker nor a server nor a guest's kernel needs of the machine's
// kernel, and what faults in that kernel have often been reached through. Knows nothing of namespaces.
#pragma once

#include "base/status.h"

namespace hopyard::lab {

// For the calling process, which may have no other threads, and for all it starts; never undone. Refused
// calls are errors, as of a kernel that was built without them or a user who may not: nothing is killed.
// Errors: the kernel takes no filter.
absl::Status filter_system_calls();

}  // namespace hopyard::lab
