// SPDX-License-Identifier: Apache-2.0
// What a person sees while a campaign runs, on a terminal and in a log.
#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hopyard::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int64_t kSecond = 1'000'000'000;

v1::PlannedTrial trial() {
  v1::PlannedTrial trial;
  trial.set_block(1);
  trial.set_case_name("C");
  trial.set_path("clean");
  trial.set_workload("h1-128k");
  return trial;
}

v1::CampaignEvent event(uint32_t passed, uint32_t failed) {
  v1::CampaignEvent event;
  event.mutable_status()->set_trials(12);
  event.mutable_status()->set_passed(passed);
  event.mutable_status()->set_failed(failed);
  return event;
}

v1::CampaignEvent started(uint32_t passed) {
  v1::CampaignEvent started = event(passed, 0);
  *started.mutable_started() = trial();
  return started;
}

v1::CampaignEvent finished(uint32_t passed, uint32_t failed, v1::Verdict verdict) {
  v1::CampaignEvent finished = event(passed, failed);
  *finished.mutable_finished()->mutable_trial() = trial();
  finished.mutable_finished()->set_verdict(verdict);
  finished.mutable_finished()->set_reason(verdict == v1::PASSED ? "" : "body: expected 1, saw 2");
  finished.mutable_finished()->set_wall_ns(1'500'000'000);
  return finished;
}

TEST(ProgressInALog, IsOnePlainLineATrialAndNothingIsRewritten) {
  Progress progress(0);
  EXPECT_EQ(progress.on_event(started(0), 0), "");
  const std::string line = progress.on_event(finished(1, 0, v1::PASSED), 2 * kSecond);
  EXPECT_EQ(line, "1/12  block 2  C × clean × h1-128k  passed  (1.5 s)  22 s left\n");
  EXPECT_EQ(progress.finish(), "");
}

TEST(ProgressInALog, NamesThePhaseOfAnExtension) {
  Progress progress(0);
  v1::CampaignEvent late = finished(1, 0, v1::PASSED);
  late.mutable_finished()->mutable_trial()->set_phase("initial");
  EXPECT_THAT(progress.on_event(late, 0), HasSubstr("  block 2  C"));
  late.mutable_finished()->mutable_trial()->set_phase("more-of-d");
  EXPECT_THAT(progress.on_event(late, 0), HasSubstr("  more-of-d block 2  C"));
}

TEST(ProgressInALog, SaysWhyATrialFailed) {
  Progress progress(0);
  EXPECT_THAT(progress.on_event(finished(0, 1, v1::FAILED), 0), HasSubstr("FAILED: body: expected 1, saw 2"));
}

TEST(ProgressOnATerminal, RewritesOneLineThatFits) {
  Progress progress(60);
  progress.on_event(started(0), 0);
  const std::string bar = progress.on_event(finished(6, 0, v1::PASSED), 6 * kSecond);
  EXPECT_THAT(bar, StartsWith("\r\x1b[K[##########----------] 6/12  6 passed, 0 failed  6 s left"));
  EXPECT_THAT(bar, Not(HasSubstr("\n")));
  EXPECT_EQ(progress.finish(), "\r\x1b[K");
  EXPECT_EQ(progress.finish(), "") << "cleared once";
}

TEST(ProgressOnATerminal, IsCutByCharactersNotBytes) {
  for (unsigned width = 70; width < 110; ++width) {
    Progress progress(width);
    const std::string bar = progress.on_event(started(0), 0).substr(4);  // after the clearing sequence
    const auto characters =
        std::count_if(bar.begin(), bar.end(), [](char byte) { return (byte & 0xc0) != 0x80; });
    EXPECT_LT(characters, width);
    EXPECT_THAT(bar, Not(EndsWith("\xc3"))) << "half a character at width " << width;
  }
}

TEST(ProgressOnATerminal, KeepsFailuresAboveTheBar) {
  Progress progress(100);
  progress.on_event(started(0), 0);
  const std::string text = progress.on_event(finished(0, 1, v1::FAILED), kSecond);
  EXPECT_THAT(text, StartsWith("\r\x1b[K1/12  block 2"));
  EXPECT_THAT(text, HasSubstr("saw 2"));
  EXPECT_THAT(text, HasSubstr("\n\r\x1b[K["));
}

TEST(ProgressOfAResumedCampaign, EstimatesFromWhatItSawItself) {
  Progress progress(0);
  progress.on_event(started(10), 0);
  EXPECT_THAT(progress.on_event(finished(11, 0, v1::PASSED), 5 * kSecond), HasSubstr("5 s left"));
}

}  // namespace
}  // namespace hopyard::cli
