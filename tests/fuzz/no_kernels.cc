// SPDX-License-Identifier: Apache-2.0
// What rpc_fuzz links in place of execute/kernels.cc, which asks the machine by starting programs: kernels of
// the usual names, none of which can serve.
#include "execute/execution.h"

namespace hopyard::execute {

absl::StatusOr<std::vector<KernelOption>> list_kernels() {
  return std::vector<KernelOption>{{.name = "host", .release = "6.1", .why_not = "not here"},
                                   {.name = "debian-uml", .why_not = "not here"}};
}

absl::StatusOr<KernelOption> choose_kernel(std::string_view, const KernelNeeds&,
                                           const std::vector<KernelOption>&) {
  return absl::FailedPreconditionError("choose kernel: none can serve");
}

}  // namespace hopyard::execute
