// SPDX-License-Identifier: Apache-2.0
// Ids are unique, readable, and sort in the order of submission.
#include "run/ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hopyard::run {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(CampaignId, IsReadable) {
  EXPECT_THAT(new_campaign_id("quick", 1796076301 * kSecond),
              testing::MatchesRegex("20261130-220501-quick-[0-9a-f]+"));
}

TEST(CampaignId, SortsByTimeOfSubmission) {
  EXPECT_LT(new_campaign_id("zebra", 1796076301 * kSecond),
            new_campaign_id("aardvark", 1796076302 * kSecond));
}

TEST(CampaignId, DiffersWithinOneSecond) {
  std::set<std::string> ids;
  for (int i = 0; i < 16; ++i) ids.insert(new_campaign_id("quick", kSecond));
  EXPECT_GT(ids.size(), 12u);
}

TEST(TrialId, SortsInTheOrderOfExecution) {
  EXPECT_EQ(trial_id("c", 7), "c.00007");
  EXPECT_LT(trial_id("c", 99), trial_id("c", 100));
}

}  // namespace
}  // namespace hopyard::run
