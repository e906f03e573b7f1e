// SPDX-License-Identifier: Apache-2.0
// The scenarios that come with the project can be read, open with their question, and have the sizes they
// promise.
#include <filesystem>

#include "base/fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"
#include "plan/reader.h"
#include "plan/schedule.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

const std::filesystem::path kFolder = HOPYARD_SOURCE_DIR "/scenarios";

v1::Plan plan_of(const std::string& name) {
  v1::CampaignText text;
  text.set_file(name);
  const auto yaml = base::read_file(kFolder / name);
  EXPECT_TRUE(yaml.ok()) << yaml.status();
  if (!yaml.ok()) return {};
  text.set_yaml(*yaml);
  const ReadResult result = read_campaign(text, known());
  EXPECT_EQ(describe(result.problems), "");
  return make_plan(result.campaign);
}

TEST(Scenarios, AreAllGoodAndOpenWithTheirQuestion) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    SCOPED_TRACE(entry.path());
    const v1::Plan plan = plan_of(entry.path().filename());
    EXPECT_EQ(plan.campaign().name(), entry.path().stem().string());
    EXPECT_NE(plan.campaign().source(), "");
    EXPECT_GT(plan.trials(), 0u);
    const auto yaml = base::read_file(entry.path());
    const std::string first = yaml->substr(0, yaml->find("\n#\n"));
    EXPECT_THAT(first, testing::StartsWith("# "));
    EXPECT_THAT(first, testing::EndsWith("?"));
    EXPECT_THAT(*yaml, testing::HasSubstr("# From: "));
    ++seen;
  }
  EXPECT_GE(seen, 4);
}

TEST(Scenarios, Static4kSmokeIsTwelveConnectionsAndSixteenResponses) {
  const v1::Plan plan = plan_of("static4k-smoke.yaml");
  EXPECT_EQ(plan.connections(), 12u);
  EXPECT_EQ(plan.responses(), 16u);
}

TEST(Scenarios, RecheckIsEighteenSamplesInThreeBlocks) {
  const v1::Plan plan = plan_of("recheck.yaml");
  EXPECT_EQ(plan.trials(), 18u);
  EXPECT_EQ(plan.blocks(), 3u);
  EXPECT_EQ(plan.responses(), 18u);
}

TEST(Scenarios, RecordPatternsIsThreeRunsOfTwoVariantsWithoutANetwork) {
  const v1::Plan plan = plan_of("record-patterns.yaml");
  EXPECT_EQ(plan.trials(), 6u);
  for (const auto& path : plan.campaign().paths()) EXPECT_EQ(path.kind(), "unix");
}

}  // namespace
}  // namespace hopyard::plan
