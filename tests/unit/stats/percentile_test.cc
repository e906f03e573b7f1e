// SPDX-License-Identifier: Apache-2.0
// Percentiles are real samples, and absent where too few samples lie beyond them.
#include "stats/percentile.h"

#include <algorithm>
#include <numeric>

#include "gtest/gtest.h"

namespace hopyard::stats {
namespace {

// 1, 2, …, n, the last first.
std::vector<double> counting(size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.rbegin(), samples.rend(), 1.0);
  return samples;
}

TEST(Percentile, NeedsFiveSamplesBeyondIt) {
  for (const auto& [p, n] :
       {std::pair{90u, 50u}, {95u, 100u}, {99u, 500u}, {75u, 20u}, {10u, 50u}, {51u, 11u}}) {
    EXPECT_FALSE(estimable(n - 1, p)) << p;
    EXPECT_TRUE(estimable(n, p)) << p;
  }
  EXPECT_TRUE(estimable(1, 50));
  EXPECT_FALSE(estimable(0, 50));
  EXPECT_FALSE(estimable(100000, 0));
  EXPECT_FALSE(estimable(100000, 100));
}

TEST(Percentile, IsTheNearestRank) {
  EXPECT_EQ(percentile(counting(50), 90), 45.0);
  EXPECT_EQ(percentile(counting(51), 90), 46.0);
  EXPECT_EQ(percentile(counting(100), 95), 95.0);
  EXPECT_EQ(percentile(counting(500), 99), 495.0);
  EXPECT_EQ(percentile(counting(50), 10), 5.0);
}

TEST(Percentile, IsAbsentAndNotZeroWhereItCannotBeEstimated) {
  EXPECT_EQ(percentile(counting(49), 90), std::nullopt);
  EXPECT_EQ(percentile({}, 50), std::nullopt);
  EXPECT_EQ(median({}), std::nullopt);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({3, 1, 2}), 2.0);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7.0);
  EXPECT_EQ(median({-1, -3}), -2.0);
  EXPECT_EQ(median({5, 5, 1, 5}), 5.0);
}

}  // namespace
}  // namespace hopyard::stats
