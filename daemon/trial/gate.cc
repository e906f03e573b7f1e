// SPDX-License-Identifier: Apache-2.0
// The gate: trials without a network, chosen for the ways in which a patch to the write path goes wrong.
#include <algorithm>
#include <array>

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
// A good build takes some seconds. One that hangs in every step is not tried in all of them: whoever waits
// for the gate has a deadline, too, and then learns nothing.
constexpr auto kWhole = 90s;
constexpr int kManyRequests = 400;
constexpr uint64_t kListBodyBytes = 131072;
// Around the adaptive budget and nginx's buffer: where short counts and cut writes have hung before.
constexpr std::array<uint64_t, 6> kBodyBytes = {1, 4096, 8193, 10000, 16384, 40000};

v1::TrialSpec base_spec(const v1::ServerBuild& build, const std::string& name, const std::string& protocol) {
  v1::TrialSpec spec;
  spec.set_trial_id("gate-" + name);
  spec.mutable_case_()->set_name("gate");
  spec.mutable_case_()->set_variant(build.variant());
  spec.mutable_path()->set_name("unix");
  spec.mutable_path()->set_kind("unix");
  spec.mutable_workload()->set_name(protocol + "-" + name);
  spec.mutable_workload()->set_protocol(protocol);
  *spec.mutable_build() = build;
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

v1::TrialSpec one_request(const v1::ServerBuild& build, const std::string& name, uint64_t body_bytes) {
  v1::TrialSpec spec = base_spec(build, name, "h1");
  add_request(spec, body_bytes);
  return spec;
}

v1::TrialSpec many_requests(const v1::ServerBuild& build, const std::string& protocol) {
  v1::TrialSpec spec = base_spec(build, "many", protocol);
  for (int i = 0; i < kManyRequests; ++i) add_request(spec, kBodyBytes[i % kBodyBytes.size()]);
  return spec;
}

v1::TrialResult run(const v1::TrialSpec& spec, bool slow) {
  v1::TrialResult result;
  const auto scratch = Scratch::make();
  auto bed = !scratch.ok() ? scratch.status() : slow ? make_slow_bed() : make_unix_bed(scratch->path());
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

void check_record_list(const v1::ServerBuild& build, CheckList& checks) {
  const v1::TrialSpec spec = one_request(build, "record-list", kListBodyBytes);
  const v1::TrialResult result = run(spec, /*slow=*/false);
  add_verdict("h1 128 KiB response", result, checks);
  std::vector<uint32_t> seen;
  for (const v1::TlsRecord& record : result.client().records()) {
    if (record.content() == v1::DATA) seen.push_back(record.plaintext_bytes());
  }
  checks.equal("h1 record list",
               describe_records(expected_h1_records(spec, result.client().decrypted_bytes())),
               describe_records(seen));
}

void check_slow_reader(const v1::ServerBuild& build, CheckList& checks) {
  const v1::TrialResult result = run(one_request(build, "slow", kListBodyBytes), /*slow=*/true);
  add_verdict("slow reader, small send buffer", result, checks);
  const auto retries = std::count_if(result.server().writes().begin(), result.server().writes().end(),
                                     [](const v1::SslWrite& write) { return write.returned() <= 0; });
  // Otherwise the slow reader was not slow, and the retry path went untried.
  checks.holds("slow reader: writes that blocked", "at least 1", fmt::format("{}", retries), retries > 0);
}

}  // namespace

v1::GateResult run_gate(const v1::GateJob& job) {
  const base::Deadline deadline(kWhole);
  CheckList checks(Blame::kServer);
  check_record_list(job.build(), checks);
  for (const uint64_t bytes : kBodyBytes) {
    if (deadline.passed()) break;
    add_verdict(fmt::format("h1 response of {} bytes", bytes),
                run(one_request(job.build(), "body", bytes), /*slow=*/false), checks);
  }
  if (!deadline.passed()) check_slow_reader(job.build(), checks);
  for (const std::string protocol : {"h1", "h2"}) {
    if (deadline.passed()) break;
    add_verdict(fmt::format("{} {} requests on one connection", kManyRequests, protocol),
                run(many_requests(job.build(), protocol), /*slow=*/false), checks);
  }
  if (deadline.passed()) checks.holds("time", "at most 90 s", "more; not every step was tried", false);
  v1::GateResult result;
  for (const v1::Check& check : checks.checks()) *result.add_checks() = check;
  return result;
}

}  // namespace hopyard::trial
