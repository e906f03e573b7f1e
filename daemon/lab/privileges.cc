// SPDX-License-Identifier: Apache-2.0
// Set-user-id programs, core files, and the filter.
#include "lab/privileges.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "lab/call_filter.h"

namespace hopyard::lab {

absl::Status give_up_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return base::errno_status("prctl", "no new privileges");
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  return filter_system_calls();
}

}  // namespace hopyard::lab
