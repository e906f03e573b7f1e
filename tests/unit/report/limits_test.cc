// SPDX-License-Identifier: Apache-2.0
// Each limit is said of the campaigns that have it, and of no other.
#include "report/limits.h"

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hopyard::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class LimitsOf : public testing::Test {
 protected:
  LimitsOf() {
    rows_.campaign.campaign.add_paths()->set_name("clean");
    rows_.campaign.campaign.mutable_paths(0)->set_kind("routed");
    rows_.campaign.campaign.add_workloads()->set_protocol("h1");
    rows_.status.set_trials(20);
    rows_.status.set_passed(20);
    cell("real", 20);
  }
  void cell(const std::string& clock, size_t trials) {
    model_.cells.push_back(
        {"clean", "h1-one", "A", "6.1", clock, "guest", std::vector<std::string>(trials, "t")});
  }
  std::string text() { return absl::StrJoin(limits_of(model_), "\n"); }

  store::ReportRows rows_;
  const Figures none_;
  Model model_{rows_, none_, {}, {}, false, ""};
};

TEST_F(LimitsOf, APercentileSayHowManySamplesItLacksAndWhere) {
  EXPECT_THAT(text(), HasSubstr("Every cell has 20 passed trials."));
  EXPECT_THAT(text(), HasSubstr("absent are p90 (from 50 samples) in every cell, p95"));
  cell("real", 60);
  EXPECT_THAT(text(), HasSubstr("Cells have 20 to 60 passed trials."));
  EXPECT_THAT(text(), HasSubstr("p90 (from 50 samples) in 1 of 2 cells"));
}

TEST_F(LimitsOf, AClockAreThatClocks) {
  EXPECT_THAT(text(), HasSubstr("The clock was real"));
  EXPECT_THAT(text(), HasSubstr("User-Mode Linux"));
  EXPECT_THAT(text(), Not(HasSubstr("virtual")));
  model_.cells[0].clock = "virtual";
  EXPECT_THAT(text(), HasSubstr("The clock was virtual: computing takes no time"));
  EXPECT_THAT(text(), Not(HasSubstr("The clock was real")));
}

TEST_F(LimitsOf, PathsNameThem) {
  EXPECT_THAT(text(), Not(HasSubstr("losses are not paired")));
  rows_.campaign.campaign.mutable_paths(0)->set_loss(0.001);
  EXPECT_THAT(text(), HasSubstr("On clean losses are not paired"));
  EXPECT_THAT(text(), Not(HasSubstr("loopback device")));
  rows_.campaign.campaign.mutable_paths(0)->set_kind("loopback");
  EXPECT_THAT(text(), HasSubstr("clean: netem sits on the loopback device"));
  rows_.unsupported.push_back({"netem seed: this kernel takes none", 20});
  EXPECT_THAT(text(), HasSubstr("could not do or show it: netem seed: this kernel takes none (20 trials)."));
}

TEST_F(LimitsOf, LostAndMissingTrialsCountThem) {
  EXPECT_THAT(text(), Not(HasSubstr("give no times")));
  rows_.status.set_passed(17);
  rows_.status.set_failed(2);
  EXPECT_THAT(text(), HasSubstr("1 of 20 planned trials have no outcome"));
  EXPECT_THAT(text(), HasSubstr("2 failed and 0 invalid trials give no times"));
}

TEST_F(LimitsOf, ManyComparisonsSayHowManyWouldShowByChance) {
  std::vector<v1::PairFigure> pairs(40);
  Milestone& milestone = model_.milestones.emplace_back();
  for (const auto& pair : pairs) milestone.pairs.push_back(&pair);
  EXPECT_THAT(text(), HasSubstr("40 of 40 paired differences have no interval"));
  EXPECT_THAT(text(), HasSubstr("the 40 comparisons shown here. If nothing differed, about 2"));
}

}  // namespace
}  // namespace hopyard::report
