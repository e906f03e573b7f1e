// SPDX-License-Identifier: Apache-2.0
// Schedules are complete, mixed, the same everywhere, and grow without moving what already ran.
#include "plan/schedule.h"

#include <map>
#include <set>

#include "base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hopyard/v1/worker.pb.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

v1::Campaign campaign(const std::vector<std::string>& sets = {}) {
  v1::CampaignText text = small();
  for (const std::string& set : sets) text.add_set(set);
  const ReadResult result = read_campaign(text, known());
  EXPECT_EQ(describe(result.problems), "");
  return result.campaign;
}

using Names = std::array<std::string, 4>;
Names names(const v1::PlannedTrial& trial) {
  return {trial.kernel(), trial.path(), trial.workload(), trial.case_name()};
}

std::vector<Names> order_of_block(const v1::Plan& plan, uint32_t block) {
  std::vector<Names> order;
  for (const auto& trial : plan.schedule()) {
    if (trial.block() == block) order.push_back(names(trial));
  }
  return order;
}

TEST(Plan, CountsCellsTrialsConnectionsAndResponses) {
  const v1::Plan plan = make_plan(campaign());
  EXPECT_EQ(plan.cells(), 8u);
  EXPECT_EQ(plan.blocks(), 3u);
  EXPECT_EQ(plan.trials(), 24u);
  EXPECT_EQ(plan.connections(), 24u);
  EXPECT_EQ(plan.responses(), 36u);
  EXPECT_EQ(plan.schedule_size(), 24);
}

TEST(Plan, RunsEveryCellOnceInEveryBlock) {
  const v1::Plan plan = make_plan(campaign());
  for (uint32_t block = 0; block < 3; ++block) {
    const auto order = order_of_block(plan, block);
    EXPECT_EQ(order.size(), 8u);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 8u);
  }
}

TEST(Plan, NumbersTrialsInTheOrderOfExecution) {
  const v1::Plan plan = make_plan(campaign());
  for (uint32_t i = 0; i < plan.trials(); ++i) {
    const auto& trial = plan.schedule(static_cast<int>(i));
    EXPECT_EQ(trial.index(), i);
    EXPECT_EQ(trial.block(), i / 8);
    EXPECT_EQ(trial.position(), i % 8);
  }
}

TEST(Plan, CrossesKernels) {
  const v1::Plan plan = make_plan(campaign({"kernel=[host, debian-uml]"}));
  EXPECT_EQ(plan.cells(), 16u);
  EXPECT_EQ(plan.trials(), 48u);
  EXPECT_EQ(plan.responses(), 72u);
}

TEST(Plan, TakesTheLargestRepetitionsOfOverlappingCells) {
  const v1::Plan plan = make_plan(
      campaign({"cells=[{paths: [clean], workloads: [h1-1k]}, {cases: [F], paths: [clean], workloads: "
                "[h1-1k], repetitions: 5}, {cases: [F], repetitions: 1}]"}));
  std::map<Names, int> runs;
  for (const auto& trial : plan.schedule()) ++runs[names(trial)];
  EXPECT_EQ((runs[{"auto", "clean", "h1-1k", "C"}]), 3);
  EXPECT_EQ((runs[{"auto", "clean", "h1-1k", "F"}]), 5);
  EXPECT_EQ((runs[{"auto", "bare", "h2-two", "F"}]), 1);
  EXPECT_EQ(plan.blocks(), 5u);
  EXPECT_EQ(plan.cells(), 5u);
}

// The format of what is hashed is a promise: stored campaigns must come out the same for ever.
TEST(Plan, TakesOrderAndSeedFromSha256OfTheNames) {
  const v1::Plan plan = make_plan(campaign({"seed=20261002"}));
  const auto& trial = plan.schedule(9);
  const std::string digest = base::sha256_hex("hopyard trial\n20261002\n1\nauto\n" + trial.path() + "\n" +
                                              trial.workload() + "\n" + trial.case_name() + "\n");
  EXPECT_EQ(trial.seed(), std::stoull(digest.substr(51), nullptr, 16) + 1);
}

// Worked out apart, by sorting the output of sha256sum.
TEST(Plan, DrawsTheOrderThatWasDrawnBefore) {
  const auto order =
      order_of_block(make_plan(campaign({"seed=20261002", "paths=[{name: bare, kind: routed}]"})), 0);
  std::vector<std::string> joined;
  for (const Names& n : order) joined.push_back(n[2] + " " + n[3]);
  EXPECT_THAT(joined, testing::ElementsAre("h2-two F", "h2-two C", "h1-1k C", "h1-1k F"));
}

TEST(Plan, MovesNothingWhenRepetitionsAreAdded) {
  const v1::Plan before = make_plan(campaign());
  const v1::Plan after = make_plan(campaign({"repetitions=9"}));
  ASSERT_EQ(after.trials(), 72u);
  for (int i = 0; i < before.schedule_size(); ++i) {
    EXPECT_EQ(before.schedule(i).SerializeAsString(), after.schedule(i).SerializeAsString());
  }
}

TEST(Plan, KeepsSeedsAndMutualOrderWhenACaseIsAdded) {
  const v1::Plan before = make_plan(campaign());
  const v1::Plan after = make_plan(campaign(
      {"cases=[{name: A, variant: adaptive}, {name: F, variant: static4k}, {name: C, variant: stock}]"}));
  std::vector<std::pair<Names, uint64_t>> old_ones;
  std::vector<std::pair<Names, uint64_t>> kept;
  for (const auto& trial : before.schedule()) old_ones.emplace_back(names(trial), trial.seed());
  for (const auto& trial : after.schedule()) {
    if (trial.case_name() != "A") kept.emplace_back(names(trial), trial.seed());
  }
  EXPECT_EQ(old_ones, kept);
}

TEST(Plan, ShufflesDifferentlyBySeedAndBlock) {
  const v1::Plan one = make_plan(campaign({"seed=1"}));
  const v1::Plan two = make_plan(campaign({"seed=2"}));
  EXPECT_NE(order_of_block(one, 0), order_of_block(two, 0));
  EXPECT_NE(order_of_block(one, 0), order_of_block(one, 1));
}

// Each of 8 cells should come first in about 1000 of 8000 blocks; five standard deviations are 148.
TEST(Plan, PutsEveryCellFirstEquallyOften) {
  const v1::Plan plan = make_plan(campaign({"repetitions=8000"}));
  std::map<Names, int> first;
  for (const auto& trial : plan.schedule()) first[names(trial)] += trial.position() == 0;
  ASSERT_EQ(first.size(), 8u);
  for (const auto& [cell, times] : first) EXPECT_NEAR(times, 1000, 148) << testing::PrintToString(cell);
}

TEST(Plan, GivesEveryTrialItsOwnSeedThatJsonCanHold) {
  const v1::Plan plan = make_plan(campaign({"repetitions=1000"}));
  std::set<uint64_t> seeds;
  for (const auto& trial : plan.schedule()) {
    EXPECT_GE(trial.seed(), 1u);
    EXPECT_LT(trial.seed() + 1, uint64_t{1} << 53);
    seeds.insert(trial.seed());
  }
  EXPECT_EQ(seeds.size(), plan.trials());
}

TEST(TrialSpec, HoldsAllThatTheWorkerNeedsFromTheCampaign) {
  const v1::Campaign source = campaign({"cases.C.tcp.congestion_control=bbr"});
  const v1::Plan plan = make_plan(source);
  for (const auto& planned : plan.schedule()) {
    const v1::TrialSpec spec = trial_spec(source, planned);
    EXPECT_EQ(spec.case_().name(), planned.case_name());
    EXPECT_EQ(spec.case_().tcp().congestion_control(), planned.case_name() == "C" ? "bbr" : "");
    EXPECT_EQ(spec.path().name(), planned.path());
    EXPECT_EQ(spec.workload().name(), planned.workload());
    EXPECT_GT(spec.workload().requests_size(), 0);
    EXPECT_EQ(spec.seed(), planned.seed());
    EXPECT_EQ(spec.block(), planned.block());
    EXPECT_EQ(spec.position(), planned.position());
    EXPECT_EQ(spec.kernel(), "auto");
    EXPECT_EQ(spec.clock(), "real");
    EXPECT_EQ(spec.trial_id(), "");
    EXPECT_FALSE(spec.has_build());
  }
}

TEST(CampaignHash, IsTheFilesOwnUntilAnOptionChangesIt) {
  v1::CampaignText text = small();
  EXPECT_EQ(campaign_hash(text), base::sha256_hex(text.yaml()));
  text.set_file("elsewhere.yaml");
  EXPECT_EQ(campaign_hash(text), base::sha256_hex(text.yaml()));
  text.set_seed(3);
  const std::string with_seed = campaign_hash(text);
  EXPECT_EQ(with_seed, base::sha256_hex(text.yaml() + "\n--seed 3"));
  text.add_set("repetitions=3");
  EXPECT_NE(campaign_hash(text), with_seed);
}

}  // namespace
}  // namespace hopyard::plan
