// SPDX-License-Identifier: Apache-2.0
// Two ways to the same figures: verify's arithmetic against stats', on lists drawn from a fixed generator.
#include "verify/estimators.h"

#include <random>

#include "gtest/gtest.h"
#include "stats/paired.h"
#include "stats/percentile.h"

namespace hopyard::verify {
namespace {

std::vector<int64_t> drawn(size_t n, int64_t spread, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> value(-spread, spread + spread / 3);
  std::vector<int64_t> values(n);
  for (int64_t& one : values) one = value(random);
  return values;
}

std::vector<double> real(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

void expect_same(const std::vector<int64_t>& differences) {
  const PairNumbers ours = pair_numbers(differences);
  const stats::Paired theirs = stats::analyse(real(differences));
  EXPECT_EQ(ours.n, theirs.n);
  EXPECT_EQ(ours.negative, theirs.negative);
  EXPECT_EQ(ours.positive, theirs.positive);
  EXPECT_EQ(ours.median, theirs.median);
  EXPECT_EQ(ours.hodges_lehmann, theirs.hodges_lehmann);
  ASSERT_EQ(ours.low.has_value(), theirs.interval.has_value());
  if (ours.low) {
    EXPECT_EQ(*ours.low, theirs.interval->low);
    EXPECT_EQ(*ours.high, theirs.interval->high);
  }
  EXPECT_NEAR(ours.p_value, *theirs.p_value, 1e-12 * ours.p_value);
}

TEST(Estimators, AgreeWithStatsOnEveryNumberToTheLastDigit) {
  for (const size_t n : {1, 2, 3, 5, 6, 7, 10, 20, 49, 50, 113}) {
    SCOPED_TRACE(n);
    expect_same(drawn(n, 40'000'000, n));  // ns, no ties
    expect_same(drawn(n, 5, n));           // many ties and zeros
  }
}

TEST(Estimators, AgreeBeyondTheSizesAtWhichTheyChangeTheirWays) {
  expect_same(drawn(301, 9'000'000, 1));  // the normal approximation
  expect_same(drawn(405, 9'000'000, 2));  // and no list of sums
}

TEST(Estimators, AgreeOnEquivalence) {
  for (const size_t n : {1, 6, 20, 50, 310}) {
    const auto differences = drawn(n, 1000, n);
    for (const int64_t margin : {1, 400, 3000}) {
      const MarginNumbers ours = margin_numbers(differences, margin);
      const auto theirs = stats::equivalence(real(differences), static_cast<double>(margin));
      EXPECT_NEAR(ours.p_above_low, theirs->p_above_low, 1e-12) << n << " " << margin;
      EXPECT_NEAR(ours.p_below_high, theirs->p_below_high, 1e-12) << n << " " << margin;
    }
  }
}

TEST(Estimators, FindNoDifferenceInZeros) {
  const PairNumbers numbers = pair_numbers(std::vector<int64_t>(8, 0));
  EXPECT_EQ(numbers.p_value, 1);
  EXPECT_EQ(numbers.median, 0);
  EXPECT_EQ(*numbers.low, 0);
}

TEST(Estimators, QuoteAPercentileOnlyWithFiveBeyond) {
  for (size_t n = 1; n <= 600; ++n) {
    const auto values = drawn(n, 1'000'000, n);
    for (const unsigned percent : {90u, 95u, 99u})
      ASSERT_EQ(percentile_of(values, percent), stats::percentile(real(values), percent))
          << n << " " << percent;
    ASSERT_EQ(median_of(values), stats::median(real(values))) << n;
  }
  EXPECT_FALSE(percentile_of(drawn(49, 10, 1), 90));
  EXPECT_TRUE(percentile_of(drawn(50, 10, 1), 90));
}

}  // namespace
}  // namespace hopyard::verify
