// SPDX-License-Identifier: Apache-2.0
// The gate: trials without a network, chosen for the ways in which a patch to the write path goes wrong.
#include <algorithm>
#include <array>
#include <vector>

#include "base/clock.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "trial/beds.h"
#include "trial/record_list.h"
#include "trial/run_on.h"
#include "trial/trial.h"

namespace hopyard::trial {
namespace {

using namespace std::chrono_literals;

// A hung write path shows as a response that never ends; nothing here takes a second.
constexpr auto kRequestTimeout = 10s;
// A good build takes some seconds, in a guest of a busy machine a minute or two. One that hangs in every step is
// not tried in all of them: whoever waits for the gate has a deadline, too, and then learns nothing.
constexpr auto kWhole = 240s;
constexpr int kManyRequests = 400;
// The slow reader's, before each read, until a write has blocked: where the server waits for a processor,
// too, the shortest does not make it wait for the reader.
constexpr std::array<std::chrono::nanoseconds, 3> kReadPauses = {1ms, 5ms, 25ms};
constexpr std::chrono::nanoseconds kLongPause = 1100ms;  // above the 1 s that ends a ramp
constexpr uint64_t kListBodyBytes = 131072;
// All of a ramp of 40 and 40 records, and some after it.
constexpr uint64_t kRampBodyBytes = 524288;
// Around the adaptive budget and nginx's buffer: where short counts and cut writes have hung before.
constexpr std::array<uint64_t, 6> kBodyBytes = {1, 4096, 8193, 10000, 16384, 40000};

// A build under settings that change its records.
struct Tried {
  v1::ServerBuild build;
  v1::Server settings;
  std::string prefix;  // of the checks' names
};

// With dynamic records: off, the defaults, and another threshold that skips the middle sizes.
std::vector<Tried> settings_to_try(const v1::ServerBuild& build) {
  std::vector<Tried> tried = {{build, {}, ""}};
  if (!build.records().dynamic()) return tried;
  v1::Server settings;
  settings.set_ssl_dyn_rec_enable(true);
  tried.push_back({build, settings, "dynamic records: "});
  settings.set_ssl_dyn_rec_threshold(10);
  settings.set_ssl_dyn_rec_size_hi_bytes(16384);
  tried.push_back({build, settings, "dynamic records, threshold 10: "});
  return tried;
}

v1::TrialSpec base_spec(const Tried& tried, const std::string& name, const std::string& protocol) {
  v1::TrialSpec spec;
  spec.set_trial_id("gate-" + name);
  spec.mutable_case_()->set_name("gate");
  spec.mutable_case_()->set_variant(tried.build.variant());
  *spec.mutable_case_()->mutable_server() = tried.settings;
  spec.mutable_path()->set_name("unix");
  spec.mutable_path()->set_kind("unix");
  spec.mutable_workload()->set_name(protocol + "-" + name);
  spec.mutable_workload()->set_protocol(protocol);
  *spec.mutable_build() = tried.build;
  return spec;
}

// Each request waits for the response before it.
void add_request(v1::TrialSpec& spec, uint64_t body_bytes) {
  v1::Workload& workload = *spec.mutable_workload();
  const int index = workload.requests_size();
  v1::Request* request = workload.add_requests();
  request->set_name(fmt::format("r{}", index));
  request->set_body_bytes(body_bytes);
  if (index > 0) request->mutable_after()->set_request(fmt::format("r{}", index - 1));
}

v1::TrialSpec one_request(const Tried& tried, const std::string& name, uint64_t body_bytes) {
  v1::TrialSpec spec = base_spec(tried, name, "h1");
  add_request(spec, body_bytes);
  return spec;
}

v1::TrialSpec many_requests(const Tried& tried, const std::string& protocol) {
  v1::TrialSpec spec = base_spec(tried, "many", protocol);
  for (int i = 0; i < kManyRequests; ++i) add_request(spec, kBodyBytes[i % kBodyBytes.size()]);
  return spec;
}

// A read pause makes it a slow reader with small buffers.
v1::TrialResult run(const v1::TrialSpec& spec, std::chrono::nanoseconds read_pause = {}) {
  v1::TrialResult result;
  const auto scratch = Scratch::make();
  auto bed = !scratch.ok()            ? scratch.status()
             : read_pause.count() > 0 ? make_slow_bed(read_pause)
                                      : make_unix_bed(scratch->path());
  if (!bed.ok()) {
    result.set_verdict(v1::INVALID);
    result.set_reason(std::string(bed.status().message()));
    return result;
  }
  run_on(spec, *scratch, **bed, kRequestTimeout, result);
  return result;
}

void add_verdict(const std::string& name, const v1::TrialResult& result, CheckList& checks) {
  const bool passed = result.verdict() == v1::PASSED;
  checks.holds(name, "every check holds", passed ? "every check holds" : result.reason(), passed);
}

void check_record_list(const Tried& tried, CheckList& checks) {
  const bool ramp = tried.settings.ssl_dyn_rec_enable();
  const v1::TrialSpec spec = one_request(tried, "record-list", ramp ? kRampBodyBytes : kListBodyBytes);
  const v1::TrialResult result = run(spec);
  add_verdict(fmt::format("{}h1 {} response", tried.prefix, ramp ? "512 KiB" : "128 KiB"), result, checks);
  checks.equal(tried.prefix + "h1 record list",
               describe_records(expected_h1_records(spec, result.client().decrypted_bytes())),
               describe_records(data_records(result.client())));
}

// After a pause as long as the timeout the ramp begins anew, and so the second response is cut as the first.
void check_pause(const Tried& tried, CheckList& checks) {
  v1::TrialSpec spec = one_request(tried, "pause", kListBodyBytes);
  add_request(spec, kListBodyBytes);
  spec.mutable_workload()->mutable_requests(1)->mutable_after()->set_pause_ns(kLongPause.count());
  const v1::TrialResult result = run(spec);
  add_verdict(tried.prefix + "pause above the timeout", result, checks);
  std::vector<uint32_t> expected;
  for (const v1::Response& response : result.client().responses()) {
    const auto part = expected_h1_records(spec, response.header_bytes() + response.body_bytes());
    expected.insert(expected.end(), part.begin(), part.end());
  }
  checks.equal(tried.prefix + "record list around a pause", describe_records(expected),
               describe_records(data_records(result.client())));
}

void check_slow_reader(const Tried& tried, CheckList& checks) {
  v1::TrialResult result;
  for (const auto pause : kReadPauses) {
    result = run(one_request(tried, "slow", kListBodyBytes), pause);
    if (result.verdict() != v1::PASSED || blocked_writes(result.server()) > 0) break;
  }
  add_verdict(tried.prefix + "slow reader, small send buffer", result, checks);
  // Otherwise the slow reader was not slow, and the retry path went untried.
  checks.holds(tried.prefix + "slow reader: writes that blocked", "at least 1",
               fmt::format("{}", blocked_writes(result.server())), blocked_writes(result.server()) > 0);
}

void check_all(const Tried& tried, const base::Deadline& deadline, CheckList& checks) {
  check_record_list(tried, checks);
  for (const uint64_t bytes : kBodyBytes) {
    if (deadline.passed()) return;
    add_verdict(fmt::format("{}h1 response of {} bytes", tried.prefix, bytes),
                run(one_request(tried, "body", bytes)), checks);
  }
  if (!deadline.passed()) check_slow_reader(tried, checks);
  if (!deadline.passed() && tried.settings.ssl_dyn_rec_enable()) {
    check_pause(tried, checks);
    // A blocked write then lasts longer than the timeout, and must be tried again as it was all the same.
    Tried impatient = tried;
    impatient.settings.set_ssl_dyn_rec_timeout_ns(1'000'000);
    impatient.prefix += "timeout 1 ms: ";
    check_slow_reader(impatient, checks);
  }
  for (const std::string protocol : {"h1", "h2"}) {
    if (deadline.passed()) return;
    add_verdict(fmt::format("{}{} {} requests on one connection", tried.prefix, kManyRequests, protocol),
                run(many_requests(tried, protocol)), checks);
  }
}

}  // namespace

v1::GateResult run_gate(const v1::GateJob& job) {
  const base::Deadline deadline(kWhole);
  CheckList checks(Blame::kServer);
  for (const Tried& tried : settings_to_try(job.build())) check_all(tried, deadline, checks);
  if (deadline.passed()) checks.holds("time", "at most 240 s", "more; not every step was tried", false);
  v1::GateResult result;
  for (const v1::Check& check : checks.checks()) *result.add_checks() = check;
  return result;
}

}  // namespace hopyard::trial
