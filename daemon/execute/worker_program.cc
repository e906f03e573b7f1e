// SPDX-License-Identifier: Apache-2.0
// The worker is installed beside the daemon.
#include "execute/worker_program.h"

#include <unistd.h>

#include "base/paths.h"

namespace hopyard::execute {

absl::StatusOr<std::string> worker_program() {
  std::string path = base::program_dir() + "/hopyard-worker";
  if (::access(path.c_str(), X_OK) != 0) return base::errno_status("find worker", path);
  return path;
}

}  // namespace hopyard::execute
