// SPDX-License-Identifier: Apache-2.0
// What a server or a guest's kernel might do by mistake on the machine, or by a fault in its kernel, and
// needs for nothing.
#pragma once

#include "base/status.h"

namespace hopyard::lab {

// First of all in a process that will go on to run a server or a guest; all it starts inherits this: it can
// take no other program's privileges, writes no core file of some hundred MiB, and is under the filter of
// system calls. Errors: this machine's kernel takes no filter; nobody should go on then.
absl::Status give_up_privileges();

}  // namespace hopyard::lab
