// SPDX-License-Identifier: Apache-2.0
// The verdict rule: a bed that was not as asked outweighs whatever the server did on it.
#include "trial/check_list.h"

#include "gtest/gtest.h"

namespace hopyard::trial {
namespace {

CheckList list(Blame blame, bool held) {
  CheckList checks(blame);
  checks.equal("first", 1, 1);
  checks.equal("second", 2, held ? 2 : 3);
  return checks;
}

TEST(Judge, PassesWhenEverythingHolds) {
  v1::TrialResult result;
  judge({list(Blame::kBed, true), list(Blame::kServer, true)}, result);
  EXPECT_EQ(result.verdict(), v1::PASSED);
  EXPECT_EQ(result.reason(), "");
  EXPECT_EQ(result.checks_size(), 4);
}

TEST(Judge, FailsForTheServerAndNamesTheCheck) {
  v1::TrialResult result;
  judge({list(Blame::kBed, true), list(Blame::kServer, false)}, result);
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_EQ(result.reason(), "second: expected 2, saw 3");
}

TEST(Judge, CallsATrialInvalidWhenTheBedWasNotAsAsked) {
  v1::TrialResult result;
  judge({list(Blame::kServer, false), list(Blame::kBed, false)}, result);
  EXPECT_EQ(result.verdict(), v1::INVALID);
}

TEST(Judge, DoesNotJudgeWhatTheKernelCannotDo) {
  CheckList checks(Blame::kBed);
  checks.unsupported("netem seed", "7", "kernel 6.1 has none");
  v1::TrialResult result;
  judge({checks}, result);
  EXPECT_EQ(result.verdict(), v1::PASSED);
  EXPECT_EQ(result.checks(0).outcome(), v1::UNSUPPORTED);
}

TEST(Judge, NeverOverwritesAVerdict) {
  v1::TrialResult result;
  result.set_verdict(v1::FAILED);
  result.set_reason("server start: no such file");
  judge({list(Blame::kBed, false)}, result);
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_EQ(result.reason(), "server start: no such file");
}

}  // namespace
}  // namespace hopyard::trial
