// SPDX-License-Identifier: Apache-2.0
// Whole trials against servers that misbehave: each fails, names the check that did not hold, and ends in
// bounded time.
#include <gmock/gmock.h>

#include "base/child.h"
#include "base/clock.h"
#include "fmt/format.h"
#include "trial/trial.h"
#include "unit/server/rogue.h"

namespace hopyard::trial {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kRequestTimeout = 300ms;
// A trial waits for a server that does not obey as long as five seconds; the rest is for a busy machine.
constexpr auto kBound = 20s;

v1::TrialSpec spec_of(const std::string& program, const std::string& protocol) {
  v1::TrialSpec spec;
  spec.set_trial_id("rogue");
  spec.mutable_case_()->set_name("A");
  spec.mutable_path()->set_name("local");
  spec.mutable_path()->set_kind("unix");
  v1::Workload& workload = *spec.mutable_workload();
  workload.set_name(protocol + "-one");
  workload.set_protocol(protocol);
  workload.add_requests()->set_name("body");
  workload.mutable_requests(0)->set_body_bytes(20000);
  spec.mutable_build()->set_variant("rogue");
  spec.mutable_build()->set_nginx_path(program);
  spec.mutable_build()->mutable_records()->set_fragment_bytes(4096);
  spec.set_request_timeout_ns(std::chrono::nanoseconds(kRequestTimeout).count());
  return spec;
}

v1::TrialResult run_against(const std::string& misbehaviour, const std::string& protocol = "h1") {
  const server::Rogue rogue(misbehaviour);
  const base::Deadline bound(kBound);
  v1::TrialResult result = run_trial(spec_of(rogue.program(), protocol));
  EXPECT_FALSE(bound.passed());
  EXPECT_EQ(result.verdict(), v1::FAILED) << result.reason();
  EXPECT_EQ(base::end_orphans(), 0) << "something was left behind";
  return result;
}

std::string seen(const v1::TrialResult& result, const std::string& check) {
  for (const v1::Check& one : result.checks()) {
    if (one.name() == check) return fmt::format("{} {}", v1::Outcome_Name(one.outcome()), one.seen());
  }
  return "no such check";
}

TEST(RogueTrial, AServerThatNeverAnswersFailsAtTheRequestsDeadline) {
  EXPECT_THAT(
      run_against("never-answers").reason(),
      AllOf(StartsWith("client finished: "), HasSubstr("body: not complete within 0.3 s, 0 of 20000")));
}

TEST(RogueTrial, AServerThatDripsFailsAtTheRequestsDeadline) {
  const v1::TrialResult result = run_against("drips");
  EXPECT_THAT(result.reason(),
              AllOf(StartsWith("client finished: "), HasSubstr("not complete within 0.3 s")));
  EXPECT_EQ(result.client().decrypted_bytes(), 1u) << "what came is kept";
}

TEST(RogueTrial, AServerThatClosesMidRecordFails) {
  const v1::TrialResult result = run_against("closes-mid-record");
  EXPECT_THAT(result.reason(), AllOf(StartsWith("client finished: "),
                                     HasSubstr("in the middle of a record, 100 bytes into it")));
  EXPECT_EQ(result.client().responses(0).body_bytes(), 5000u);
}

TEST(RogueTrial, AWrongBodyFails) {
  const v1::TrialResult result = run_against("wrong-body");
  EXPECT_THAT(result.reason(),
              AllOf(StartsWith("client finished: "), HasSubstr("body: differs from the fixture")));
  EXPECT_THAT(seen(result, "body: body equals the fixture"), HasSubstr("no"));
}

TEST(RogueTrial, ARecordOverTheBoundFails) {
  EXPECT_THAT(run_against("large-records").reason(),
              AllOf(StartsWith("record bound: "), HasSubstr("at most 4096"), HasSubstr("16384")));
}

TEST(RogueTrial, ARecordThatTlsForbidsFails) {
  EXPECT_THAT(run_against("impossible-record").reason(),
              AllOf(StartsWith("client finished: "), HasSubstr("read record: header: length 16641")));
}

TEST(RogueTrial, ABrokenHttp2FrameFails) {
  EXPECT_THAT(run_against("broken-frame", "h2").reason(), StartsWith("client finished: "));
}

TEST(RogueTrial, AServerThatEndsByASignalFailsAndTheSignalIsKept) {
  const v1::TrialResult result = run_against("crashes");
  EXPECT_THAT(result.reason(), StartsWith("client finished: "));
  EXPECT_THAT(seen(result, "server exit"), HasSubstr("signal 11"));
}

TEST(RogueTrial, AServerThatDoesNotEndWhenToldIsKilledAndFails) {
  EXPECT_THAT(seen(run_against("ignores-quit"), "server exit"), HasSubstr("signal 9"));
}

TEST(RogueTrial, AServerThatNeverListensFails) {
  EXPECT_THAT(run_against("dies-at-start").reason(),
              AllOf(StartsWith("server start: "), HasSubstr("ended with signal 9")));
}

}  // namespace
}  // namespace hopyard::trial
