// SPDX-License-Identifier: Apache-2.0
// What one trial in a fresh guest on the virtual clock costs, where the time goes, and how far repeats of one
// trial differ. Wants a kernel with time travel and a server build on its command line.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "base/clock.h"
#include "execute/execution.h"
#include "fmt/format.h"
#include "hopyard/v1/worker.pb.h"
#include "run/guest_seed.h"
#include "run/trial_digest.h"

namespace hopyard {
namespace {

using namespace std::chrono_literals;

// BBR with notsent 16384 on the clean path: 20 ms, 20 Mbit/s.
v1::TrialSpec spec_of(const std::string& nginx, const std::string& protocol, uint64_t body, double loss) {
  v1::TrialSpec spec;
  spec.set_trial_id("bench");
  spec.set_clock("virtual");
  v1::Case& on = *spec.mutable_case_();
  on.set_name("C");
  on.set_variant("stock");
  on.mutable_server()->set_ssl_buffer_size_bytes(16384);
  on.mutable_tcp()->set_congestion_control("bbr");
  on.mutable_tcp()->set_notsent_lowat_bytes(16384);
  v1::Path& path = *spec.mutable_path();
  path.set_name("clean");
  path.set_kind("routed");
  path.set_rtt_ns(20'000'000);
  path.set_rate_bps(20'000'000);
  path.set_limit_packets(10000);
  if (loss > 0) path.set_loss(loss);
  v1::Workload& workload = *spec.mutable_workload();
  workload.set_protocol(protocol);
  v1::Request& request = *workload.add_requests();
  request.set_name("body");
  request.set_body_bytes(body);
  spec.mutable_build()->set_variant("stock");
  spec.mutable_build()->set_nginx_path(nginx);
  spec.mutable_build()->mutable_records()->set_fragment_bytes(16384);
  return spec;
}

struct Measured {
  v1::TrialResult result;
  int64_t boot_ns = 0;        // wall, to Hello
  int64_t trial_ns = 0;       // wall, to the result
  int64_t end_ns = 0;         // wall, until nothing is left
  int64_t guest_boot_ns = 0;  // the guest's clock at Hello
};

absl::StatusOr<Measured> run_once(const execute::KernelOption& kernel, const v1::TrialSpec& spec,
                                  uint64_t guest_seed) {
  Measured measured;
  v1::ToWorker order;
  *order.mutable_job()->add_trials() = spec;
  const int64_t began = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(const auto session, execute::WorkerSession::start_virtual(
                                                   kernel, order, guest_seed, base::Deadline(30s)));
  const int64_t hello = base::monotonic_ns();
  measured.guest_boot_ns = session->hello().boot_ns();
  while (!measured.result.has_environment()) {
    auto message = session->receive(base::Deadline(60s));
    if (!message.ok()) {
      const auto end = session->finish(base::Deadline(1s));
      return base::annotate(message.status(), "receive", end.ok() ? end->log : "?");
    }
    if (message->has_fatal()) return absl::InternalError(message->fatal().reason());
    if (message->has_result()) measured.result = std::move(*message->mutable_result());
  }
  const int64_t done = base::monotonic_ns();
  HOPYARD_RETURN_IF_ERROR(session->finish(base::Deadline(10s)).status());
  measured.boot_ns = hello - began;
  measured.trial_ns = done - hello;
  measured.end_ns = base::monotonic_ns() - done;
  return measured;
}

double median_ms(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : static_cast<double>(values[values.size() / 2]) / 1e6;
}

int measure(const execute::KernelOption& kernel, v1::TrialSpec spec, int repeats, bool own_seeds) {
  std::vector<int64_t> boots, trials, ends;
  std::set<int64_t> completions;
  std::map<std::string, int> digests;
  v1::TrialResult first;
  for (int i = 0; i < repeats; ++i) {
    const uint64_t seed = own_seeds ? 1000 + static_cast<uint64_t>(i) * 7919 : 11;
    spec.set_seed(seed);
    const auto measured = run_once(kernel, spec, run::guest_seed(spec));
    if (!measured.ok()) {
      fmt::print(stderr, "{}\n", std::string(measured.status().message()));
      return 1;
    }
    const v1::TrialResult& result = measured->result;
    if (i == 0) first = result;
    if (result.verdict() != v1::PASSED)
      fmt::print("{} {}\n", v1::Verdict_Name(result.verdict()), result.reason());
    boots.push_back(measured->boot_ns);
    trials.push_back(measured->trial_ns);
    ends.push_back(measured->end_ns);
    for (const auto& response : result.client().responses())
      completions.insert(response.complete_ns() - response.request_start_ns());
    ++digests[run::trial_digest(result)];
    if (const auto difference = run::first_difference(first, result); !difference.empty())
      fmt::print("repeat {}: {}\n", i, difference);
    if (i == 0)
      fmt::print("guest boot {:.6f} s of its clock, trial {:.6f} s of its clock, clock {}\n",
                 static_cast<double>(measured->guest_boot_ns) / 1e9,
                 static_cast<double>(result.finished_ns() - result.started_ns()) / 1e9,
                 result.environment().clock());
  }
  if (completions.empty()) return 1;
  fmt::print("digest of the first: {}\n", run::trial_digest(first));
  fmt::print(
      "{} repeats: {} digests; complete {} .. {} ns (spread {}); wall medians: boot {:.0f} ms, trial {:.0f} "
      "ms, end {:.0f} ms\n",
      repeats, digests.size(), *completions.begin(), *completions.rbegin(),
      *completions.rbegin() - *completions.begin(), median_ms(boots), median_ms(trials), median_ms(ends));
  return 0;
}

}  // namespace
}  // namespace hopyard

int main(int argc, char** argv) {
  if (argc < 8) {
    fmt::print(stderr, "usage: virtual_bench KERNEL NGINX h1|h2 BODY-BYTES LOSS REPEATS same|own\n");
    return 2;
  }
  const hopyard::execute::KernelOption kernel{
      .name = "bench", .usable = true, .virtual_clock = true, .program = argv[1]};
  return hopyard::measure(kernel,
                          hopyard::spec_of(argv[2], argv[3], std::stoull(argv[4]), std::stod(argv[5])),
                          std::stoi(argv[6]), std::string(argv[7]) == "own");
}
