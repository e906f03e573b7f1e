// SPDX-License-Identifier: Apache-2.0
// The scenarios that come with the project can be read, open with their question, and have the sizes they
// promise.
#include <filesystem>
#include <map>
#include <set>

#include "base/fd.h"
#include "fmt/format.h"
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
  EXPECT_GE(seen, 6);
}

TEST(Scenarios, Static4kSmokeIsTwelveConnectionsAndSixteenResponses) {
  const v1::Plan plan = plan_of("static4k-smoke.yaml");
  EXPECT_EQ(plan.connections(), 12u);
  EXPECT_EQ(plan.responses(), 16u);
}

// The source's campaign: 4920 connections and 6090 responses in the complete matrix.
TEST(Scenarios, RecordSizingIsTheWholeMatrix) {
  const v1::Plan plan = plan_of("record-sizing.yaml");
  EXPECT_EQ(plan.connections(), 4920u);
  EXPECT_EQ(plan.responses(), 6090u);
  EXPECT_EQ(plan.blocks(), 50u);
  std::map<std::string, std::set<std::string>> cases;
  std::map<std::string, int> connections;
  for (const auto& trial : plan.schedule()) {
    cases[trial.workload()].insert(trial.case_name());
    ++connections[trial.workload()];
  }
  EXPECT_EQ(cases["h1-1m"].size(), 5u);
  EXPECT_EQ(cases["h2-competition"].size(), 7u);
  EXPECT_THAT(cases["h1-idle"], testing::ElementsAre("D", "E"));
  EXPECT_EQ(connections["h1-128k"], 5 * 3 * 50);
  EXPECT_EQ(connections["h2-competition"], 7 * 3 * 50);
  EXPECT_EQ(connections["h1-idle"] + connections["h2-idle"], 120);
}

// What the comparisons of the source hold fixed and what they change.
TEST(Scenarios, RecordSizingsCasesAreTheOnesOfTheComparisons) {
  const v1::Campaign campaign = plan_of("record-sizing.yaml").campaign();
  std::map<std::string, std::string> settings;
  for (const auto& one : campaign.cases()) {
    settings[one.name()] = fmt::format(
        "{} {} {} {}", one.variant(), one.server().ssl_buffer_size_bytes(), one.tcp().congestion_control(),
        one.tcp().has_notsent_lowat_bytes() ? std::to_string(one.tcp().notsent_lowat_bytes()) : "unset");
  }
  EXPECT_THAT(settings,
              testing::ElementsAre(
                  testing::Pair("A", "stock 16384 cubic unset"), testing::Pair("B", "stock 4096 cubic unset"),
                  testing::Pair("C", "stock 16384 bbr 16384"), testing::Pair("D", "stock 4096 bbr 16384"),
                  testing::Pair("E", "adaptive 16384 bbr 16384"),
                  testing::Pair("F", "stock 4096 cubic 16384"), testing::Pair("G", "stock 4096 bbr unset")));
}

TEST(Scenarios, DeclareTheComparisonsOfTheSources) {
  const v1::Campaign sizing = plan_of("record-sizing.yaml").campaign();
  ASSERT_EQ(sizing.factorials_size(), 1);
  EXPECT_EQ(sizing.factorials(0).first(), "F");
  const v1::Campaign static4k = plan_of("static4k.yaml").campaign();
  ASSERT_EQ(static4k.equivalence_size(), 1);
  EXPECT_THAT(static4k.equivalence(0).cases(), testing::ElementsAre("D", "F", "G"));
  EXPECT_EQ(static4k.equivalence(0).margin_ns(), 100'000);
  EXPECT_EQ(static4k.factorials(0).both(), "G");
}

TEST(Scenarios, Static4kIsTwentyRepetitionsAndThirtyMoreWhereItWasClose) {
  const v1::Plan plan = plan_of("static4k.yaml");
  EXPECT_EQ(plan.connections(), 1350u);
  EXPECT_EQ(plan.responses(), 1800u);
  ASSERT_EQ(plan.phases_size(), 2);
  EXPECT_EQ(plan.phases(0).trials(), 720u);
  EXPECT_EQ(plan.phases(1).trials(), 630u);
  EXPECT_EQ(plan.phases(1).first_block(), 20u);
  EXPECT_EQ(plan.blocks(), 50u);
  std::map<std::string, std::set<std::string>> later;
  for (const auto& trial : plan.schedule()) {
    if (trial.block() >= 20) later[trial.path()].insert(trial.case_name());
  }
  EXPECT_THAT(later["clean"], testing::ElementsAre("D", "F"));
  EXPECT_THAT(later["wan"], testing::ElementsAre("D", "F"));
  EXPECT_THAT(later["adverse"], testing::ElementsAre("D", "F", "G"));
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

TEST(Scenarios, DynamicRecordsIs2400ColdConnectionsOnEitherPath) {
  for (const auto& [name, kind] :
       {std::pair("dynamic-records.yaml", "loopback"), std::pair("dynamic-records-routed.yaml", "routed")}) {
    const v1::Plan plan = plan_of(name);
    EXPECT_EQ(plan.trials(), 2400u) << name;
    EXPECT_EQ(plan.connections(), 2400u) << name;
    EXPECT_EQ(plan.responses(), 2400u) << name;
    EXPECT_EQ(plan.cells(), 12u) << name;
    for (const auto& path : plan.campaign().paths()) EXPECT_EQ(path.kind(), kind);
  }
}

}  // namespace
}  // namespace hopyard::plan
