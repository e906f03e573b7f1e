// SPDX-License-Identifier: Apache-2.0
// What one trial in a fresh guest on the virtual clock costs, where the time goes, and how far repeats of one
// trial differ. Wants a kernel with time travel and a server build on its command line. Times are of the
// machine's clock: on a busy one the processor time is the better figure.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "execute/execution.h"
#include "fmt/format.h"
#include "hopyard/v1/worker.pb.h"
#include "run/guest_seed.h"
#include "run/trial_digest.h"
#include "store/store.h"

namespace hopyard {
namespace {

using namespace std::chrono_literals;

// One response of `body` bytes, or, as "competition", a large one and a small one asked for meanwhile.
void add_workload(v1::TrialSpec& spec, const std::string& protocol, uint64_t body) {
  const bool competition = protocol == "competition";
  v1::Workload& workload = *spec.mutable_workload();
  workload.set_name("bench");
  workload.set_protocol(competition ? "h2" : protocol);
  v1::Request& first = *workload.add_requests();
  first.set_name(competition ? "bulk" : "body");
  first.set_body_bytes(competition ? 1048576 : body);
  if (!competition) return;
  v1::Request& later = *workload.add_requests();
  later.set_name("later");
  later.set_body_bytes(body);
  later.mutable_after()->set_request("bulk");
  later.mutable_after()->set_body_bytes(32768);
}

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
  add_workload(spec, protocol, body);
  spec.mutable_build()->set_variant("stock");
  spec.mutable_build()->set_nginx_path(nginx);
  spec.mutable_build()->mutable_records()->set_fragment_bytes(16384);
  return spec;
}

// Parts of a trial's wall time by name, in order: each from its beginning to the next one's.
using Parts = std::vector<std::pair<std::string, int64_t>>;

struct Measured {
  v1::TrialResult result;
  Parts parts;
  int64_t processor_ns = 0;   // of the guest and all that belongs to it
  int64_t guest_boot_ns = 0;  // the guest's clock at Hello
};

// The part under way ends here and the next one begins.
class Stopwatch {
 public:
  explicit Stopwatch(Parts& parts) : parts_(parts), began_ns_(base::monotonic_ns()) {}
  void ends(const std::string& part) {
    const int64_t now_ns = base::monotonic_ns();
    parts_.emplace_back(part, now_ns - std::exchange(began_ns_, now_ns));
  }

 private:
  Parts& parts_;
  int64_t began_ns_;
};

absl::Status take_result(execute::WorkerSession& session, Stopwatch& watch, v1::TrialResult& result) {
  std::string part = "begin";
  while (!result.has_environment()) {
    auto message = session.receive(base::Deadline(60s));
    if (!message.ok()) {
      const auto end = session.finish(base::Deadline(1s));
      return base::annotate(message.status(), "receive", end.ok() ? end->log : "?");
    }
    if (message->has_fatal()) return absl::InternalError(message->fatal().reason());
    if (message->has_started()) continue;
    watch.ends(part);
    if (message->has_step()) part = message->step().name();
    if (message->has_result()) result = std::move(*message->mutable_result());
  }
  return absl::OkStatus();
}

absl::StatusOr<Measured> run_once(const execute::KernelOption& kernel, const v1::TrialSpec& spec,
                                  uint64_t guest_seed) {
  Measured measured;
  v1::ToWorker order;
  order.mutable_job()->set_tell_steps(true);
  *order.mutable_job()->add_trials() = spec;
  Stopwatch watch(measured.parts);
  HOPYARD_ASSIGN_OR_RETURN(const auto session, execute::WorkerSession::start_virtual(
                                                   kernel, order, guest_seed, base::Deadline(30s)));
  watch.ends("boot");
  measured.guest_boot_ns = session->hello().boot_ns();
  HOPYARD_RETURN_IF_ERROR(take_result(*session, watch, measured.result));
  HOPYARD_ASSIGN_OR_RETURN(const auto end, session->finish(base::Deadline(10s)));
  watch.ends("power off");
  measured.processor_ns = end.exit.user_cpu_ns + end.exit.system_cpu_ns;
  return measured;
}

// A database with one campaign, to which the same trial is recorded again and again under other names.
class Records {
 public:
  Records(const v1::TrialSpec& spec, int repeats) {
    folder_ = (std::filesystem::temp_directory_path() / "hopyard-bench-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    store_ = store::Store::open(folder_ + "/hopyard.db").value();
    store::CampaignRow row{.id = kCampaign};
    row.campaign.set_name(kCampaign);
    row.campaign.set_clock("virtual");
    *row.campaign.add_cases() = spec.case_();
    *row.campaign.add_paths() = spec.path();
    *row.campaign.add_workloads() = spec.workload();
    std::vector<store::PlannedRow> planned;
    for (int i = 0; i < repeats; ++i) {
      store::PlannedRow& one = planned.emplace_back();
      one.trial_id = trial_id(i);
      one.planned.set_index(static_cast<uint32_t>(i));
      one.planned.set_block(static_cast<uint32_t>(i));
      one.planned.set_case_name(spec.case_().name());
      one.planned.set_path(spec.path().name());
      one.planned.set_workload(spec.workload().name());
    }
    if (!store_->add_campaign(row, planned).ok()) std::abort();
  }
  ~Records() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  absl::Status add(int repeat, v1::TrialResult result) {
    result.set_trial_id(trial_id(repeat));
    return store_->record_trial(kCampaign, result, {.execution = "guest", .tool_version = "bench"});
  }

 private:
  static constexpr char kCampaign[] = "bench";
  static std::string trial_id(int repeat) { return fmt::format("bench.{:05}", repeat); }
  std::string folder_;
  std::unique_ptr<store::Store> store_;
};

double median_ms(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : static_cast<double>(values[values.size() / 2]) / 1e6;
}

// Figures of all repeats of one trial.
struct Tally {
  std::vector<std::string> order;  // of parts
  std::map<std::string, std::vector<int64_t>> parts;
  std::vector<int64_t> totals, processor;
  std::set<int64_t> completions;
  std::map<std::string, int> digests;

  void add(const Measured& measured) {
    int64_t total = 0;
    for (const auto& [part, ns] : measured.parts) {
      if (!parts.contains(part)) order.push_back(part);
      parts[part].push_back(ns);
      total += ns;
    }
    totals.push_back(total);
    processor.push_back(measured.processor_ns);
    for (const auto& response : measured.result.client().responses())
      completions.insert(response.complete_ns() - response.request_start_ns());
    ++digests[run::trial_digest(measured.result)];
  }
};

void print(const Tally& tally) {
  for (const auto& part : tally.order)
    fmt::print("{:>12}  {:7.1f} ms\n", part, median_ms(tally.parts.at(part)));
  fmt::print("{:>12}  {:7.1f} ms of wall time, {:.1f} ms of the guest's processor time; medians of {}\n",
             "all", median_ms(tally.totals), median_ms(tally.processor), tally.totals.size());
  fmt::print("{} digests, one of them {}; complete from {} to {} ns\n", tally.digests.size(),
             tally.digests.begin()->first.substr(0, 16), *tally.completions.begin(),
             *tally.completions.rbegin());
}

void tell_first(const Measured& measured) {
  fmt::print("guest boot {:.6f} s of its clock, trial {:.6f} s of its clock, clock {}\n",
             static_cast<double>(measured.guest_boot_ns) / 1e9,
             static_cast<double>(measured.result.finished_ns() - measured.result.started_ns()) / 1e9,
             measured.result.environment().clock());
}

absl::Status measure(const execute::KernelOption& kernel, v1::TrialSpec spec, int repeats, bool own_seeds) {
  Tally tally;
  Records records(spec, repeats);
  v1::TrialResult first;
  for (int i = 0; i < repeats; ++i) {
    spec.set_seed(own_seeds ? 1000 + static_cast<uint64_t>(i) * 7919 : 11);
    HOPYARD_ASSIGN_OR_RETURN(Measured measured, run_once(kernel, spec, run::guest_seed(spec)));
    const v1::TrialResult& result = measured.result;
    if (result.verdict() != v1::PASSED)
      fmt::print("{} {}\n", v1::Verdict_Name(result.verdict()), result.reason());
    Stopwatch watch(measured.parts);
    HOPYARD_RETURN_IF_ERROR(records.add(i, result));
    watch.ends("store");
    if (i == 0) first = result;
    if (i == 0) tell_first(measured);
    if (const auto difference = run::first_difference(first, result); !difference.empty())
      fmt::print("repeat {}: {}\n", i, difference);
    tally.add(measured);
  }
  if (tally.completions.empty()) return absl::InternalError("measure: no response");
  print(tally);
  return absl::OkStatus();
}

}  // namespace
}  // namespace hopyard

int main(int argc, char** argv) {
  if (argc < 8) {
    fmt::print(stderr,
               "usage: virtual_bench KERNEL NGINX h1|h2|competition BODY-BYTES LOSS REPEATS same|own "
               "[BOOT-OPTION…]\n");
    return 2;
  }
  const hopyard::execute::KernelOption kernel{.name = "bench",
                                              .usable = true,
                                              .virtual_clock = true,
                                              .program = argv[1],
                                              .boot_options = {argv + 8, argv + argc}};
  const auto status =
      hopyard::measure(kernel, hopyard::spec_of(argv[2], argv[3], std::stoull(argv[4]), std::stod(argv[5])),
                       std::stoi(argv[6]), std::string(argv[7]) == "own");
  if (status.ok()) return 0;
  fmt::print(stderr, "{}\n", std::string(status.message()));
  return 1;
}
