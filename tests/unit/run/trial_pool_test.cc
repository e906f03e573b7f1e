// SPDX-License-Identifier: Apache-2.0
// Every trial is handed out once, in order, whatever the number of takers.
#include "run/trial_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hopyard::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<store::PlannedRow> rows(const std::vector<std::string>& kernels) {
  std::vector<store::PlannedRow> rows;
  for (const auto& kernel : kernels) {
    store::PlannedRow row{.trial_id = std::to_string(rows.size())};
    row.planned.set_index(static_cast<uint32_t>(rows.size()));
    row.planned.set_kernel(kernel);
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> ids(const std::deque<store::PlannedRow>& rows) {
  std::vector<std::string> ids;
  for (const auto& row : rows) ids.push_back(row.trial_id);
  return ids;
}

TEST(TrialPool, HandsOutJobsInOrder) {
  TrialPool pool(rows({"a", "a", "a", "a", "a"}), 2);
  EXPECT_THAT(ids(pool.take()), ElementsAre("0", "1"));
  EXPECT_THAT(ids(pool.take()), ElementsAre("2", "3"));
  EXPECT_THAT(ids(pool.take()), ElementsAre("4"));
  EXPECT_THAT(ids(pool.take()), IsEmpty());
  EXPECT_TRUE(pool.empty());
}

TEST(TrialPool, AJobHasOneKernelAndNoTrialIsForgotten) {
  TrialPool pool(rows({"a", "b", "a", "b", "a", "b"}), 3);
  EXPECT_THAT(ids(pool.take()), ElementsAre("0", "2", "4"));
  EXPECT_THAT(ids(pool.take()), ElementsAre("1", "3", "5"));
  EXPECT_TRUE(pool.empty());
}

TEST(TrialPool, WhatWasPutBackComesFirstAgain) {
  TrialPool pool(rows({"a", "a", "a", "a"}), 2);
  auto job = pool.take();
  job.pop_front();
  pool.put_back(std::move(job));
  EXPECT_THAT(ids(pool.take()), ElementsAre("1", "2"));
}

TEST(TrialPool, AClosedPoolHandsOutNothingAndKeepsWhatIsLeft) {
  TrialPool pool(rows({"a", "a"}), 1);
  pool.close();
  EXPECT_THAT(ids(pool.take()), IsEmpty());
  EXPECT_FALSE(pool.empty());
}

}  // namespace
}  // namespace hopyard::run
