// SPDX-License-Identifier: Apache-2.0
// A worker on the host's kernel, and the probe of it.
#include <google/protobuf/text_format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>

#include "fmt/format.h"
#include "lab/capabilities.h"
#include "lab/privileges.h"
#include "lab/sandbox.h"
#include "trial/trial.h"
#include "worker/loop.h"
#include "worker/modes.h"

namespace hopyard::worker {
namespace {

absl::Status enter() {
  HOPYARD_RETURN_IF_ERROR(lab::give_up_privileges());
  HOPYARD_RETURN_IF_ERROR(lab::enter_fresh_namespaces());
  HOPYARD_RETURN_IF_ERROR(lab::refuse_initial_namespace());
  return absl::OkStatus();
}

void add_capability(v1::HostProbe& probe, const std::string& name, const absl::Status& status) {
  v1::Capability& capability = *probe.add_capabilities();
  capability.set_name(name);
  capability.set_ok(status.ok());
  capability.set_why_not(std::string(status.message()));
}

}  // namespace

int run_on_host() {
  if (const absl::Status entered = enter(); !entered.ok()) {
    (void)send_fatal(STDOUT_FILENO, entered);
    fmt::print(stderr, "{}\n", std::string(entered.message()));
    return 1;
  }
  const absl::Status served =
      serve(STDIN_FILENO, STDOUT_FILENO, make_hello(false), {trial::run_trial, trial::run_gate});
  if (!served.ok()) fmt::print(stderr, "{}\n", std::string(served.message()));
  return served.ok() ? 0 : 1;
}

int run_probe() {
  const absl::Status given_up = lab::give_up_privileges();
  const absl::Status entered = lab::enter_fresh_namespaces();
  utsname names{};
  ::uname(&names);
  v1::HostProbe probe;
  probe.set_kernel_release(names.release);
  probe.set_kernel_version(names.version);
  add_capability(probe, "filter", given_up);
  add_capability(probe, "namespaces", entered);
  if (entered.ok()) {
    for (const auto& found : lab::find_capabilities()) add_capability(probe, found.name, found.status);
  }
  for (const auto& name : lab::allowed_congestion_controls()) probe.add_congestion_controls(name);
  std::string text;
  google::protobuf::TextFormat::PrintToString(probe, &text);
  fmt::print("{}", text);
  return 0;
}

}  // namespace hopyard::worker
