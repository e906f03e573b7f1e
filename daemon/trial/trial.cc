// SPDX-License-Identifier: Apache-2.0
// The order of things in one trial: bed, server, client, end of server, end of bed, checks.
#include "trial/trial.h"

#include <sys/prctl.h>
#include <sys/utsname.h>

#include <fstream>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "probe/probe.h"
#include "server/certificate.h"
#include "server/nginx.h"
#include "trial/bed.h"
#include "trial/check_list.h"
#include "trial/client_checks.h"
#include "trial/run_on.h"
#include "trial/scratch.h"

namespace hopyard::trial {
namespace {

using namespace std::chrono_literals;

constexpr auto kServerGrace = 5s;
constexpr auto kSettle = 3s;
constexpr auto kTearDown = 10s;
constexpr char kVirtual[] = "virtual";
constexpr auto kRequestTimeout = 120s;  // where the order says nothing

std::chrono::nanoseconds request_timeout(const v1::TrialSpec& spec) {
  if (spec.request_timeout_ns() == 0) return kRequestTimeout;
  return std::chrono::nanoseconds(spec.request_timeout_ns());
}

// Only a kernel whose time travels has such a clock source.
std::string clock_here() {
  const auto source = base::read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source.ok() && source->starts_with("time-travel-clock") ? kVirtual : "real";
}

// On the virtual clock waiting is free, and each reading of the clock advances it: a connection that begins
// at a set instant is the same whatever was done before it. Not on a tick: the path's delays are often whole
// ticks, and what falls on one instant is done in an order that means nothing.
void begin_at_set_instant() {
  constexpr unsigned long kNoSlackNs = 1;
  constexpr int64_t kSecondNs = 1'000'000'000, kAfterSecondNs = 1'234'567;
  ::prctl(PR_SET_TIMERSLACK, kNoSlackNs);
  base::sleep_until((base::monotonic_ns() / kSecondNs + 1) * kSecondNs + kAfterSecondNs);
}

void record_machine(v1::Environment& environment) {
  utsname machine{};
  ::uname(&machine);
  environment.set_kernel_release(machine.release);
  environment.set_kernel_version(machine.version);
  environment.set_clock(clock_here());
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  environment.set_load_1m(load);
}

absl::StatusOr<server::NginxServer> start_server(const v1::TrialSpec& spec, const Bed& bed,
                                                 const Scratch& scratch,
                                                 const server::Certificate& certificate) {
  server::ServerSpec server;
  server.nginx_path = spec.build().nginx_path();
  server.settings = spec.case_().server();
  server.listen = bed.listen();
  server.directory = scratch.path() + "/server";
  for (const v1::Request& request : spec.workload().requests())
    server.body_bytes.push_back(request.body_bytes());
  server.certificate = &certificate;
  server.send_buffer_bytes = bed.send_buffer_bytes();
  server.ns = bed.server_namespace();
  return server::NginxServer::start(std::move(server));
}

// The measured part. Snapshots that fail are remembered, not lost: the evidence would have a hole. A client
// that stopped early leaves the queues' last counters to be read: they tell whether the bed lost what it
// should not.
absl::Status run_client(const v1::TrialSpec& spec, Bed& bed, std::chrono::nanoseconds request_timeout,
                        v1::TrialResult& result) {
  HOPYARD_RETURN_IF_ERROR(bed.impair(result));
  absl::Status snapshots;
  bool completed = false;
  probe::ProbeSpec probe;
  probe.workload = &spec.workload();
  probe.deadlines.request = request_timeout;
  probe.endpoint = bed.listen().endpoint;
  probe.read_pause = bed.read_pause();
  HOPYARD_ASSIGN_OR_RETURN(probe.socket, bed.client_socket());
  if (result.environment().clock() == kVirtual) begin_at_set_instant();
  const int fd = probe.socket.get();  // stays open as long as the probe calls back
  probe.settled = [&] { snapshots.Update(bed.snapshot("before", fd, result)); };
  probe.completed = [&] {
    completed = true;
    snapshots.Update(bed.snapshot("after", fd, result));
  };
  probe.before_request = [&](std::string_view name) {
    snapshots.Update(bed.snapshot_server(fmt::format("request:{}", name), fd, result));
  };
  *result.mutable_client() = probe::run(std::move(probe));
  if (!completed) snapshots.Update(bed.snapshot_qdiscs("after", result));
  return snapshots;
}

void tell(const Steps& steps, const char* name) {
  if (steps) steps(name);
}

void give(v1::TrialResult& result, v1::Verdict verdict, std::string_view step, const absl::Status& status) {
  if (result.verdict() != v1::VERDICT_UNSPECIFIED) return;  // the first reason stays
  result.set_verdict(verdict);
  result.set_reason(fmt::format("{}: {}", step, base::printable(std::string(status.message()))));
}

// Server and client on a made bed; the server is gone when it returns.
void serve_and_ask(const v1::TrialSpec& spec, Bed& bed, const Scratch& scratch,
                   std::chrono::nanoseconds request_timeout, v1::TrialResult& result, const Steps& steps) {
  tell(steps, "server");
  const auto certificate = server::make_certificate();
  if (!certificate.ok()) return give(result, v1::INVALID, "certificate", certificate.status());
  auto server = start_server(spec, bed, scratch, *certificate);
  if (!server.ok()) {
    // A server that is not there, or has no folder, says nothing of the case.
    const bool its_own = absl::IsAborted(server.status());
    return give(result, its_own ? v1::FAILED : v1::INVALID, "server start", server.status());
  }
  tell(steps, "client");
  const absl::Status watched = run_client(spec, bed, request_timeout, result);
  if (!watched.ok()) give(result, v1::INVALID, "client's bed", watched);
  tell(steps, "stop");
  auto evidence = server->stop(kServerGrace);
  if (!evidence.ok()) return give(result, v1::INVALID, "server's evidence", evidence.status());
  *result.mutable_server() = *std::move(evidence);
}

void check_all(const v1::TrialSpec& spec, const Bed& bed, v1::TrialResult& result) {
  CheckList bed_checks(Blame::kBed), server_checks(Blame::kServer);
  if (result.has_client()) {
    bed.check(spec, result, bed_checks, server_checks);
    check_responses(spec, result.client(), server_checks);
    check_records(spec, result.client(), server_checks);
  }
  if (result.has_client() && result.has_server()) {
    check_server(spec, result.client(), result.server(), server_checks);
  }
  if (!spec.clock().empty()) bed_checks.equal("clock", spec.clock(), result.environment().clock());
  const bool gone = result.environment().namespaces_gone();
  bed_checks.holds("namespaces gone", "yes", gone ? "yes" : "no", gone);
  judge({bed_checks, server_checks}, result);
}

}  // namespace

void run_on(const v1::TrialSpec& spec, const Scratch& scratch, Bed& bed,
            std::chrono::nanoseconds request_timeout, v1::TrialResult& result, const Steps& steps) {
  tell(steps, "read-back");
  if (const absl::Status observed = bed.observe(result); !observed.ok()) {
    give(result, v1::INVALID, "path read-back", observed);
  } else {
    serve_and_ask(spec, bed, scratch, request_timeout, result, steps);
    if (const absl::Status settled = bed.settle(base::Deadline(kSettle), result); !settled.ok()) {
      give(result, v1::INVALID, "path's last packets", settled);
    }
  }
  tell(steps, "tear-down");
  if (const absl::Status down = bed.tear_down(base::Deadline(kTearDown), result); !down.ok()) {
    give(result, v1::INVALID, "path tear-down", down);
  }
  tell(steps, "checks");
  check_all(spec, bed, result);
}

v1::TrialResult run_trial(const v1::TrialSpec& spec, const Steps& steps) {
  v1::TrialResult result;
  tell(steps, "path");
  result.set_trial_id(spec.trial_id());
  result.set_started_ns(base::monotonic_ns());
  record_machine(*result.mutable_environment());
  const auto scratch = Scratch::make();
  auto bed = scratch.ok() ? Bed::make(spec, scratch->path()) : scratch.status();
  if (bed.ok()) {
    run_on(spec, *scratch, **bed, request_timeout(spec), result, steps);
  } else {
    give(result, v1::INVALID, "path", bed.status());
  }
  result.set_finished_ns(base::monotonic_ns());
  return result;
}

}  // namespace hopyard::trial
