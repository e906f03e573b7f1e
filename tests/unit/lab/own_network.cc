// SPDX-License-Identifier: Apache-2.0
// unshare(2) with the caller mapped to root.
#include "unit/lab/own_network.h"

#include <sched.h>
#include <unistd.h>

#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::testing_support {

absl::Status enter_own_network() {
  if (::getpid() == 1) return absl::OkStatus();
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return base::errno_status("unshare", "user and network namespace");
  }
  HOPYARD_RETURN_IF_ERROR(base::write_existing("/proc/self/setgroups", "deny"));
  HOPYARD_RETURN_IF_ERROR(base::write_existing("/proc/self/uid_map", fmt::format("0 {} 1", uid)));
  return base::write_existing("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

}  // namespace hopyard::testing_support
