// SPDX-License-Identifier: Apache-2.0
// Which kernels are here and what they can do.
#include <google/protobuf/text_format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/paths.h"
#include "execute/execution.h"
#include "execute/guest.h"
#include "execute/worker_program.h"
#include "fmt/format.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::execute {
namespace {

absl::StatusOr<v1::HostProbe> probe_host() {
  HOPYARD_ASSIGN_OR_RETURN(const std::string worker, worker_program());
  HOPYARD_ASSIGN_OR_RETURN(const base::CommandOutput done,
                           base::run_command({.argv = {worker, "--probe"}}, std::chrono::seconds(20)));
  // Killed, it tells nothing of this machine.
  constexpr int kKilled = 128;  // and the signal, as its guard says it
  if (done.exit.signal != 0 || done.exit.exit_code > kKilled)
    return absl::UnavailableError(fmt::format("probe host: {}: {}", worker, done.exit.describe()));
  v1::HostProbe probe;
  if (!done.exit.clean() || !google::protobuf::TextFormat::ParseFromString(done.output, &probe)) {
    return absl::InternalError(
        fmt::format("probe host: {}: {}: {}", worker, done.exit.describe(), done.output));
  }
  return probe;
}

KernelOption host_option(const v1::HostProbe& probe) {
  KernelOption host{.name = "host", .release = probe.kernel_release(), .usable = true, .unix_usable = true};
  std::vector<std::string> missing;
  for (const auto& capability : probe.capabilities()) {
    if (capability.ok()) continue;
    missing.push_back(fmt::format("{}: {}", capability.name(), capability.why_not()));
    if (capability.name() == "filter" || capability.name() == "namespaces") host.unix_usable = false;
  }
  host.usable = missing.empty();
  host.why_not = absl::StrJoin(missing, "; ");
  host.congestion_controls.assign(probe.congestion_controls().begin(), probe.congestion_controls().end());
  return host;
}

// What a guest's first process will load (lab/guest_init.h), as far as its files tell.
std::vector<std::string> congestion_controls_in(const std::filesystem::path& modules) {
  std::vector<std::string> names = {"reno", "cubic"};  // built in
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(modules / "kernel/net/ipv4", error)) {
    const std::string stem = file.path().stem();
    if (stem.starts_with("tcp_")) names.push_back(stem.substr(4));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string missing_module_in(const std::filesystem::path& modules) {
  for (const char* name : {"drivers/net/veth.ko", "net/sched/sch_fq.ko", "net/sched/sch_netem.ko"}) {
    if (!std::filesystem::exists(modules / "kernel" / name)) return modules / "kernel" / name;
  }
  return "";
}

KernelOption debian_guest_option() {
  KernelOption guest{.name = "debian-uml", .program = kDebianUml};
  if (::access(kDebianUml, X_OK) != 0) {
    guest.why_not = fmt::format("{} is missing: apt install user-mode-linux", kDebianUml);
    return guest;
  }
  const auto version = base::run_command({.argv = {kDebianUml, "--version"}}, std::chrono::seconds(10));
  if (!version.ok() || !version->exit.clean()) {
    guest.why_not =
        fmt::format("{} --version failed: {}", kDebianUml,
                    version.ok() ? version->exit.describe() : std::string(version.status().message()));
    return guest;
  }
  guest.release = std::string(absl::StripAsciiWhitespace(version->output));
  const std::filesystem::path modules = "/usr/lib/uml/modules/" + guest.release;
  if (const std::string file = missing_module_in(modules); !file.empty()) {
    guest.why_not = fmt::format("{} is missing: apt install --reinstall user-mode-linux", file);
    return guest;
  }
  guest.congestion_controls = congestion_controls_in(modules);
  guest.usable = guest.unix_usable = true;
  return guest;
}

// Why `kernel` cannot serve; empty if it can.
std::string objection(const KernelOption& kernel, const KernelNeeds& needs) {
  if (!kernel.usable && (needs.routed || !kernel.unix_usable)) return kernel.why_not;
  if (needs.virtual_clock && !kernel.virtual_clock) return "it has no virtual clock";
  for (const auto& control : needs.congestion_controls) {
    const auto& known = kernel.congestion_controls;
    if (std::find(known.begin(), known.end(), control) == known.end()) {
      return fmt::format("congestion control {}: not among {}", control, absl::StrJoin(known, ", "));
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::vector<KernelOption>> list_kernels() {
  HOPYARD_ASSIGN_OR_RETURN(const v1::HostProbe probe, probe_host());
  return std::vector<KernelOption>{host_option(probe), debian_guest_option()};
}

absl::StatusOr<KernelOption> choose_kernel(std::string_view wanted, const KernelNeeds& needs,
                                           const std::vector<KernelOption>& built) {
  HOPYARD_ASSIGN_OR_RETURN(std::vector<KernelOption> kernels, list_kernels());
  kernels.insert(kernels.end(), built.begin(), built.end());
  std::vector<std::string> objections, names = {"auto"};
  for (const auto& kernel : kernels) {
    names.push_back(kernel.name);
    if (wanted != "auto" && wanted != kernel.name) continue;
    const std::string why_not = objection(kernel, needs);
    if (why_not.empty()) return kernel;
    objections.push_back(fmt::format("{} ({})", kernel.name, why_not));
  }
  if (objections.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("choose kernel: {}: there are {}", wanted, absl::StrJoin(names, ", ")));
  }
  return absl::FailedPreconditionError(
      fmt::format("choose kernel: {}: none can serve: {}", wanted, absl::StrJoin(objections, "; ")));
}

}  // namespace hopyard::execute
