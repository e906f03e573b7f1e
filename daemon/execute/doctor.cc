// SPDX-License-Identifier: Apache-2.0
// The doctor's findings about execution hosts, in plain words.
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "execute/execution.h"
#include "fmt/format.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::execute {
namespace {

v1::DoctorFinding finding(std::string_view subject, bool ok, std::string_view message) {
  v1::DoctorFinding out;
  out.set_subject(std::string(subject));
  out.set_ok(ok);
  out.set_message(base::printable(message));
  return out;
}

std::string what_else(const KernelOption& kernel) {
  if (!kernel.unix_usable) return "It cannot run trials. ";
  return "It can run unix paths and gate builds, but not routed paths. ";
}

v1::DoctorFinding host_finding(const KernelOption& host) {
  if (!host.usable) {
    return finding("host kernel", false,
                   fmt::format("{}: {}Missing: {}.", host.release, what_else(host), host.why_not));
  }
  return finding("host kernel", true,
                 fmt::format("{}: runs every kind of path; congestion controls: {}.", host.release,
                             absl::StrJoin(host.congestion_controls, ", ")));
}

// The files are there; only a boot shows whether the machine lets a guest run.
v1::DoctorFinding guest_finding(const std::string& subject, const KernelOption& guest) {
  if (!guest.usable) return finding(subject, false, fmt::format("cannot run: {}.", guest.why_not));
  const int64_t before_ns = base::monotonic_ns();
  const auto session = WorkerSession::start(guest, base::Deadline(std::chrono::seconds(30)));
  if (!session.ok()) {
    return finding(
        subject, false,
        fmt::format("{} does not boot here: {}", guest.release, std::string(session.status().message())));
  }
  const auto& controls = (*session)->hello().congestion_controls();
  return finding(
      subject, true,
      fmt::format("{}: boots in {:.1f} s and runs every kind of path{}; congestion controls: {}.",
                  guest.release, static_cast<double>(base::monotonic_ns() - before_ns) / 1e9,
                  guest.virtual_clock ? ", on the virtual clock too" : "", absl::StrJoin(controls, ", ")));
}

// Nothing is wrong with a machine on which a kernel was not built, but for the clock that only they have.
v1::DoctorFinding clock_finding(const std::vector<KernelOption>& built) {
  constexpr char kSubject[] = "virtual clock";
  for (const auto& kernel : built) {
    if (kernel.usable)
      return finding(kSubject, true, fmt::format("`clock: virtual` runs on {}.", kernel.name));
  }
  return finding(kSubject, false, "no kernel that has one is built: hopyard kernels build.");
}

v1::DoctorFinding verdict(const std::vector<v1::DoctorFinding>& hosts) {
  for (const auto& host : hosts) {
    if (host.ok()) return finding("campaigns", true, fmt::format("would run on: {}.", host.subject()));
  }
  return finding("campaigns", false, "no kernel here can run routed paths: apt install user-mode-linux.");
}

}  // namespace

std::vector<v1::DoctorFinding> doctor(const std::vector<KernelOption>& built) {
  const auto kernels = list_kernels();
  if (!kernels.ok()) return {finding("worker", false, std::string(kernels.status().message()))};
  std::vector<v1::DoctorFinding> findings = {host_finding(kernels->at(0)),
                                             guest_finding("Debian's guest", kernels->at(1))};
  for (const auto& kernel : built) findings.push_back(guest_finding("kernel " + kernel.name, kernel));
  findings.push_back(verdict(findings));
  findings.push_back(clock_finding(built));
  return findings;
}

}  // namespace hopyard::execute
