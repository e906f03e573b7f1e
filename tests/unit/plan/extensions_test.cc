// SPDX-License-Identifier: Apache-2.0
// Extensions follow what was planned and never move it, whether they stand in the file or come later.
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/schedule.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

v1::Campaign campaign(const std::vector<std::string>& sets = {}) {
  v1::CampaignText text = small();
  for (const std::string& set : sets) text.add_set(set);
  const ReadResult result = read_campaign(text, known());
  EXPECT_EQ(describe(result.problems), "");
  return result.campaign;
}

v1::ExtensionText extension(uint32_t repetitions) {
  v1::ExtensionText text;
  text.set_repetitions(repetitions);
  return text;
}

std::string said(const v1::Campaign& campaign, const v1::ExtensionText& text) {
  return describe(read_extension(campaign, text).problems);
}

v1::Campaign extended(const v1::Campaign& campaign, const v1::ExtensionText& text) {
  const ReadResult result = read_extension(campaign, text);
  EXPECT_EQ(describe(result.problems), "");
  return result.campaign;
}

constexpr char kMore[] =
    "extensions=[{name: more, repetitions: 4, seed: 9, cells: [{cases: [F]}, {paths: [bare], workloads: "
    "[h1-1k], "
    "repetitions: 2}]}]";

// Whatever the seed, and whatever follows.
TEST(Extensions, LeaveTheInitialScheduleAsItIs) {
  std::mt19937_64 random(20261201);
  for (int i = 0; i < 200; ++i) {
    const std::string seed = absl::StrCat("seed=", random() >> 11);
    const std::string repetitions = absl::StrCat("repetitions=", 1 + random() % 5);
    const v1::Plan plain = make_plan(campaign({seed, repetitions}));
    const v1::Plan longer = make_plan(
        campaign({seed, repetitions, kMore, absl::StrCat("extensions.more.seed=", random() >> 11)}));
    ASSERT_GT(longer.trials(), plain.trials());
    for (int at = 0; at < plain.schedule_size(); ++at) {
      ASSERT_EQ(plain.schedule(at).SerializeAsString(), longer.schedule(at).SerializeAsString())
          << seed << ", trial " << at;
    }
  }
}

TEST(Extensions, FollowInBlocksOfTheirOwnWithTheirCells) {
  const v1::Plan plan = make_plan(campaign({kMore}));
  // 8 cells three times; F's four cells four times, and C's one of them twice.
  EXPECT_EQ(plan.trials(), 24u + 16u + 2u);
  EXPECT_EQ(plan.blocks(), 7u);
  EXPECT_EQ(plan.cells(), 8u);
  ASSERT_EQ(plan.phases_size(), 2);
  EXPECT_EQ(plan.phases(0).name(), "initial");
  EXPECT_EQ(plan.phases(0).trials(), 24u);
  EXPECT_EQ(plan.phases(1).name(), "more");
  EXPECT_EQ(plan.phases(1).first_block(), 3u);
  EXPECT_EQ(plan.phases(1).blocks(), 4u);
  EXPECT_EQ(plan.phases(1).cells(), 5u);
  EXPECT_EQ(plan.phases(1).trials(), 18u);
  EXPECT_EQ(plan.phases(1).seed(), 9u);
  EXPECT_EQ(plan.phases(0).responses() + plan.phases(1).responses(), plan.responses());
  std::map<uint32_t, uint32_t> in_block;
  for (int i = 0; i < plan.schedule_size(); ++i) {
    const auto& trial = plan.schedule(i);
    EXPECT_EQ(trial.index(), static_cast<uint32_t>(i));
    EXPECT_EQ(trial.position(), in_block[trial.block()]++);
    EXPECT_EQ(trial.phase(), trial.block() < 3 ? "initial" : "more");
  }
  EXPECT_EQ(in_block[3], 5u);
  EXPECT_EQ(in_block[6], 4u);
}

TEST(Extensions, TakeOrderAndSeedFromTheirOwnSeed) {
  const v1::Plan plan = make_plan(campaign({kMore}));
  const auto& trial = plan.schedule(24);
  const std::string digest = base::sha256_hex("hopyard trial\n9\n3\nauto\n" + trial.path() + "\n" +
                                              trial.workload() + "\n" + trial.case_name() + "\n");
  EXPECT_EQ(trial.seed(), std::stoull(digest.substr(51), nullptr, 16) + 1);
}

TEST(Extensions, WithoutASeedAreWhatMoreRepetitionsWouldHaveBeen) {
  const v1::Plan one = make_plan(campaign({"repetitions=7"}));
  v1::Plan two = make_plan(campaign({"extensions=[{name: more, repetitions: 4}]"}));
  ASSERT_EQ(one.schedule_size(), two.schedule_size());
  for (int i = 0; i < one.schedule_size(); ++i) {
    two.mutable_schedule(i)->set_phase("initial");
    EXPECT_EQ(one.schedule(i).SerializeAsString(), two.schedule(i).SerializeAsString());
  }
}

TEST(Extensions, RunCombinationsThatDidNotRunBefore) {
  const v1::Campaign part = campaign({"cells=[{cases: [C], paths: [clean]}]"});
  v1::ExtensionText text = extension(2);
  text.add_cases("F");
  text.add_paths("bare");
  const v1::Plan plan = make_plan(extended(part, text));
  EXPECT_EQ(plan.phases(1).cells(), 2u);
  EXPECT_EQ(plan.cells(), 4u);
}

TEST(LaterExtension, IsTheSameAsOneInTheFile) {
  v1::ExtensionText text;
  text.set_yaml(
      "name: more\nrepetitions: 4\nseed: 9\ncells:\n- cases: [F]\n- {paths: [bare], workloads: [h1-1k], "
      "repetitions: 2}\n");
  EXPECT_EQ(make_plan(extended(campaign(), text)).SerializeAsString(),
            make_plan(campaign({kMore})).SerializeAsString());
}

TEST(LaterExtension, TakesOptionsOverItsText) {
  v1::ExtensionText text;
  text.set_yaml("name: more\nrepetitions: 4\nseed: 9\ncells: [{cases: [C]}]\nnote: n\n");
  text.set_name("other");
  text.set_repetitions(5);
  text.set_seed(0);
  text.add_paths("bare");
  const v1::Campaign both = extended(campaign(), text);
  const v1::Extension& made = both.extensions(0);
  EXPECT_EQ(made.name(), "other");
  EXPECT_EQ(made.repetitions(), 5u);
  EXPECT_TRUE(made.has_seed());
  EXPECT_EQ(made.seed(), 0u);
  EXPECT_EQ(made.note(), "n");
  ASSERT_EQ(made.cells_size(), 1);
  EXPECT_TRUE(made.cells(0).cases().empty()) << "the selection stands in place of the text's";
  EXPECT_THAT(made.cells(0).paths(), ElementsAre("bare"));
}

TEST(LaterExtension, GetsANameThatIsFree) {
  v1::Campaign one = extended(campaign(), extension(1));
  EXPECT_EQ(one.extensions(0).name(), "extension-1");
  v1::ExtensionText named = extension(1);
  named.set_name("extension-3");
  one = extended(one, named);
  EXPECT_EQ(extended(one, extension(1)).extensions(2).name(), "extension-4");
}

TEST(LaterExtension, RefusesNamesThatTheCampaignHasNot) {
  v1::ExtensionText text = extension(1);
  text.add_cases("C");
  text.add_cases("Z");
  text.add_workloads("h1-2k");
  const std::string problems = said(campaign(), text);
  EXPECT_THAT(problems, HasSubstr("--cases C,Z:1:1: no case is called `Z`"));
  EXPECT_THAT(problems,
              HasSubstr("--workloads h1-2k:1:1: no workload is called `h1-2k` (did you mean `h1-1k`?)"));
}

TEST(LaterExtension, SaysWhatIsMissingOrWrong) {
  EXPECT_THAT(said(campaign(), {}), StartsWith("extension:1:1: `repetitions` is missing"));
  v1::ExtensionText text;
  text.set_file("more.yaml");
  text.set_yaml("repetitions: 2\nnam: more\n");
  EXPECT_THAT(said(campaign(), text),
              StartsWith("more.yaml:2:1: `nam` is no key here (did you mean `name`?)"));
  text.set_yaml("[1]\n");
  EXPECT_THAT(said(campaign(), text), StartsWith("more.yaml:1:1: a list stands where keys should"));
  text.set_yaml("repetitions: [\n");
  EXPECT_THAT(said(campaign(), text), HasSubstr("not YAML"));
}

TEST(LaterExtension, RefusesTheNameOfAPhase) {
  v1::ExtensionText text = extension(1);
  text.set_name("initial");
  EXPECT_THAT(said(campaign(), text), StartsWith("--name initial:1:1: `initial` is the phase before all"));
  text.set_name("more");
  EXPECT_THAT(said(extended(campaign(), text), text),
              StartsWith("--name more:1:1: `more` is a phase of it already"));
}

// As large as the campaign may be, but not with what it has already.
TEST(LaterExtension, CountsWithAllBeforeIt) {
  const v1::Campaign part = campaign({"cells=[{cases: [C], paths: [bare], workloads: [h1-1k]}]"});
  v1::ExtensionText one_cell = extension(9998);
  one_cell.add_cases("C");
  one_cell.add_paths("bare");
  one_cell.add_workloads("h1-1k");
  EXPECT_THAT(said(part, one_cell),
              StartsWith("--repetitions 9998:1:1: 10001 blocks up to this phase; expected at "
                         "most 10000 in one campaign"));
  one_cell.set_repetitions(9997);
  EXPECT_EQ(said(part, one_cell), "");
  const v1::Campaign wide = campaign({"kernel=[host, debian-uml]"});
  EXPECT_THAT(said(wide, extension(6248)),
              HasSubstr("100016 trials up to this phase; expected at most 100000"));
  EXPECT_EQ(said(wide, extension(6247)), "");
}

TEST(LaterExtension, MayNotLeaveACellWithTooFewForAPercentile) {
  const v1::Campaign part = campaign({"percentiles=90", "repetitions=50", "cells=[{cases: [C]}]"});
  EXPECT_THAT(said(part, extension(49)),
              StartsWith("--repetitions 49:1:1: p90 cannot be estimated from 49 repetitions of a cell"));
  EXPECT_EQ(said(part, extension(50)), "");
  v1::ExtensionText more = extension(1);
  more.add_cases("C");
  EXPECT_EQ(said(part, more), "") << "51 in all";
}

TEST(LaterExtension, IsHashedWithItsOptions) {
  v1::ExtensionText text = extension(3);
  text.set_yaml("name: more\n");
  text.add_cases("D");
  text.add_cases("F");
  EXPECT_THAT(option_lines(text), ElementsAre("--repetitions 3", "--cases D,F"));
  EXPECT_EQ(extension_hash(text), base::sha256_hex("name: more\n\n--repetitions 3\n--cases D,F"));
  text.set_name("n");
  text.set_seed(4);
  text.add_paths("wan");
  text.add_workloads("h1-1k");
  EXPECT_THAT(option_lines(text), ElementsAre("--name n", "--repetitions 3", "--seed 4", "--cases D,F",
                                              "--paths wan", "--workloads h1-1k"));
}

}  // namespace
}  // namespace hopyard::plan
