// SPDX-License-Identifier: Apache-2.0
// Paired estimators against published examples, counts done by hand, and slow definitions.
#include "stats/paired.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "stats/percentile.h"
#include "stats/random.h"

namespace hopyard::stats {
namespace {

// Darwin's maize, crossed less self-fertilised, in eighths of an inch.
const std::vector<double> kDarwin = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};

// Hollander and Wolfe's depression scores: {after, before}.
const std::vector<std::pair<double, double>> kDepression = {{0.878, 1.83}, {0.647, 0.50}, {0.598, 1.62},
                                                            {2.05, 2.48},  {1.06, 1.68},  {1.29, 1.88},
                                                            {1.06, 1.55},  {3.14, 3.06},  {1.29, 1.30}};

TEST(SignedRank, AgreesWithTheDarwinExampleOfScipysDocumentation) {
  const auto both = signed_rank(kDarwin);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->w_plus, 96);  // of 120; the smaller sum is 24
  EXPECT_EQ(both->p_value, 0.041259765625);
  EXPECT_TRUE(both->exact);
  EXPECT_EQ(signed_rank(kDarwin, Tail::kGreater)->p_value, 0.0206298828125);
  EXPECT_EQ(signed_rank(kDarwin, Tail::kLess)->p_value, 0.982330322265625);
}

TEST(SignedRank, AgreesWithTheDepressionExampleOfRsDocumentation) {
  std::vector<double> fall;
  for (const auto& [after, before] : kDepression) fall.push_back(before - after);
  const auto test = signed_rank(fall, Tail::kGreater);
  EXPECT_EQ(test->w_plus, 40);
  EXPECT_EQ(test->p_value, 0.01953125);
}

// By hand: magnitudes 1, 1, 1, 2 have ranks 2, 2, 2, 4; W+ = 8. Of 16 choices of signs four reach 8
// ({2,2,4} three times, and all), so p = 2 * 4/16.
TEST(SignedRank, SharesRanksAmongTiesAndDropsZeros) {
  const auto test = signed_rank({1, 1, -1, 2, 0});
  EXPECT_EQ(test->n, 4u);
  EXPECT_EQ(test->w_plus, 8);
  EXPECT_EQ(test->p_value, 0.5);
  EXPECT_EQ(signed_rank({1, 1, -1, 2, 0}, Tail::kLess)->p_value, 15.0 / 16);
}

TEST(SignedRank, HasItsSmallestPValueWhereAllSignsAgree) {
  EXPECT_EQ(signed_rank({1, 2, 3})->p_value, 0.25);
  EXPECT_EQ(signed_rank({-1, -2, -3, -4, -5})->p_value, 0.0625);
  EXPECT_EQ(signed_rank({1, 2, 3, 4, 5, 6})->p_value, 0.03125);
}

TEST(SignedRank, SaysNothingWhereNothingDiffers) {
  EXPECT_EQ(signed_rank({0, 0, 0})->p_value, 1);
  EXPECT_EQ(signed_rank({0, 0, 0})->n, 0u);
  EXPECT_EQ(signed_rank({}), std::nullopt);
}

// Exact tails by counting in whole numbers: 0.3499056096729794 and 0.6503176991450985.
TEST(SignedRank, ApproximatesLargeSamplesCloselyAndSaysSo) {
  std::vector<double> differences;
  for (int i = 1; i <= 320; ++i) differences.push_back(i * 7919 % 16 > 7 ? i : -i);
  const auto less = signed_rank(differences, Tail::kLess);
  EXPECT_FALSE(less->exact);
  EXPECT_EQ(less->w_plus, 25040);
  EXPECT_NEAR(less->p_value, 0.34971464691326104, 1e-12);  // the formula
  EXPECT_NEAR(less->p_value, 0.3499056096729794, 5e-4);    // the truth
  EXPECT_NEAR(signed_rank(differences, Tail::kGreater)->p_value, 0.6503176991450985, 5e-4);
}

// Groups of four equal magnitudes; exact lower tail by counting: 0.8914480690489103.
TEST(SignedRank, CorrectsTheApproximationForTies) {
  std::vector<double> differences;
  for (int i = 1; i <= 320; ++i) differences.push_back((i + 3) / 4 * (i * 7919 % 11 > 4 ? 1 : -1));
  const auto less = signed_rank(differences, Tail::kLess);
  EXPECT_EQ(less->w_plus, 27725.5);
  EXPECT_NEAR(less->p_value, 0.8914480690489103, 5e-4);
}

double hodges_lehmann_by_definition(const std::vector<double>& values) {
  std::vector<double> averages;
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = i; j < values.size(); ++j) averages.push_back(values[i] / 2 + values[j] / 2);
  }
  return *median(averages);
}

TEST(HodgesLehmann, IsTheMedianOfTheWalshAverages) {
  EXPECT_EQ(hodges_lehmann({1, 2, 4}), 2.25);      // 1 1.5 2 2.5 3 4
  EXPECT_EQ(hodges_lehmann({10, 1, 2, 3}), 2.75);  // … 2.5 3 …
  EXPECT_EQ(hodges_lehmann({-5}), -5);
  EXPECT_EQ(hodges_lehmann({0, 0}), 0);
  EXPECT_EQ(hodges_lehmann(kDarwin), 25);
}

TEST(HodgesLehmann, IsExactForAnyValues) {
  Random random(9);
  for (size_t n = 1; n <= 40; ++n) {
    for (const double scale : {1e-3, 1.0, 1e9}) {
      std::vector<double> values;
      for (size_t i = 0; i < n; ++i) {
        values.push_back((static_cast<double>(random.below(41)) - 20) * scale / (i % 3 == 0 ? 7 : 1));
      }
      EXPECT_EQ(hodges_lehmann(values), hodges_lehmann_by_definition(values)) << n << " at " << scale;
    }
  }
}

// Values that bisecting between them alone would take a thousand steps for.
TEST(HodgesLehmann, EndsSoonForValuesOfAllMagnitudes) {
  std::vector<double> values = {0, 0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1, 1};
  EXPECT_EQ(hodges_lehmann(values), hodges_lehmann_by_definition(values));
  values.push_back(-1);
  EXPECT_EQ(hodges_lehmann(values), hodges_lehmann_by_definition(values));
}

TEST(Compare, SubtractsTheFirstFromTheSecond) {
  const Paired fall = compare(kDepression);
  EXPECT_EQ(fall.n, 9u);
  EXPECT_EQ(fall.negative, 2u);
  EXPECT_EQ(fall.positive, 7u);
  EXPECT_EQ(fall.zero, 0u);
  EXPECT_NEAR(*fall.hodges_lehmann, 0.46, 1e-12);  // as R gives it
  EXPECT_NEAR(*fall.median, 0.49, 1e-12);
  EXPECT_NEAR(*fall.min, -0.147, 1e-12);
  EXPECT_NEAR(*fall.max, 1.022, 1e-12);
  EXPECT_EQ(*fall.p_value, 0.0390625);
}

// The same resampling done in another language from the published generators.
TEST(Bootstrap, GivesTheIntervalOfItsSeed) {
  const Paired first = analyse(kDarwin, {.seed = 1, .resamples = 1000});
  EXPECT_EQ(first.interval->low, 0.5);
  EXPECT_EQ(first.interval->high, 39.75);
  const Paired second = analyse(kDarwin, {.seed = 7, .resamples = 1000});
  EXPECT_EQ(second.interval->low, 0.25);
  EXPECT_EQ(second.interval->high, 40.75);
}

// By definition, resample by resample, at sizes on both sides of where the way of computing changes.
TEST(Bootstrap, IsThatOfItsDefinitionAtAnySize) {
  for (const size_t n : {6u, 7u, 21u, 200u, 201u}) {
    Random values(n);
    std::vector<double> differences;
    for (size_t i = 0; i < n; ++i)
      differences.push_back(static_cast<double>(values.below(i % 2 == 0 ? 9 : 100000)) / 7 - 3);
    Random random(5);
    std::vector<double> estimates(40);
    for (double& estimate : estimates) {
      std::vector<double> resample;
      while (resample.size() < n) resample.push_back(differences[random.below(n)]);
      estimate = hodges_lehmann_by_definition(resample);
    }
    std::sort(estimates.begin(), estimates.end());
    const Paired paired = analyse(differences, {.seed = 5, .resamples = 40});
    EXPECT_EQ(paired.interval->low, estimates[1]) << n;
    EXPECT_EQ(paired.interval->high, estimates[38]) << n;
  }
}

TEST(Bootstrap, IsAbsentBelowSixPairs) {
  EXPECT_EQ(analyse({1, 2, 3, 4, 5}).interval.has_value(), false);
  EXPECT_EQ(analyse({1, 2, 3, 4, 5, 6}).interval.has_value(), true);
}

TEST(Bootstrap, EndsWithoutAnIntervalOnceItIsStopped) {
  std::stop_source stop;
  EXPECT_TRUE(analyse(kDarwin, {.stop = stop.get_token()}).interval);
  stop.request_stop();
  EXPECT_FALSE(analyse(kDarwin, {.stop = stop.get_token()}).interval);
}

TEST(Bootstrap, HasNoWidthWhereAllDifferencesAreEqual) {
  const Paired same = analyse({3, 3, 3, 3, 3, 3});
  EXPECT_EQ(same.interval->low, 3);
  EXPECT_EQ(same.interval->high, 3);
}

// 300 samples of 20 sums of twelve uniform numbers (near normal) around 5. A percentile bootstrap of so few
// falls a little short of 95 %; outside 88 to 98 something is wrong.
TEST(Bootstrap, CoversTheTruthAboutAsOftenAsItSays) {
  Random random(2026);
  int covered = 0;
  for (int sample = 0; sample < 300; ++sample) {
    std::vector<double> differences(20);
    for (double& value : differences) {
      value = 5 - 6;
      for (int i = 0; i < 12; ++i) value += static_cast<double>(random.below(1u << 20)) / (1u << 20);
    }
    const Paired paired = analyse(differences, {.seed = random.next(), .resamples = 400});
    covered += paired.interval->low <= 5 && 5 <= paired.interval->high;
  }
  EXPECT_GE(covered, 264);
  EXPECT_LE(covered, 294);
}

TEST(Analyse, LeavesOutWhatNoPairsSupport) {
  const Paired none = analyse({});
  EXPECT_EQ(none.n, 0u);
  EXPECT_FALSE(none.median || none.hodges_lehmann || none.interval || none.p_value || none.min || none.max);
}

TEST(Analyse, CountsSignsAndZeros) {
  const Paired paired = analyse({-1, 0, 0, 2, 3});
  EXPECT_EQ(paired.negative, 1u);
  EXPECT_EQ(paired.zero, 2u);
  EXPECT_EQ(paired.positive, 2u);
}

// Blocks {neither, first, second, both}: (both - second) - (first - neither) is 3, 4, -1.
TEST(Interaction, IsWhatOneFactorAddsToTheOther) {
  const Paired contrast = interaction({{10, 8, 9, 10}, {10, 7, 10, 11}, {5, 6, 7, 7}});
  EXPECT_EQ(contrast.n, 3u);
  EXPECT_EQ(contrast.max, 4.0);
  EXPECT_EQ(contrast.min, -1.0);
  EXPECT_EQ(contrast.median, 3.0);
}

TEST(Interaction, IsZeroWhereEffectsAddUp) {
  const Paired contrast = interaction({{10, 8, 9, 7}, {20, 15, 18, 13}});
  EXPECT_EQ(contrast.zero, 2u);
  EXPECT_EQ(contrast.p_value, 1.0);
}

// By hand. Above -15: 25, -5, 45, 20, 5 have W- = 1.5; 3 of 32 choices are as small. Below 15: -5, -35, 15,
// -10, -25 have W+ = 3; 5 of 32 are as small.
TEST(Equivalence, IsTheLargerOfTwoOneSidedTests) {
  const auto result = equivalence({10, -20, 30, 5, -10}, 15);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->p_above_low, 3.0 / 32);
  EXPECT_EQ(result->p_below_high, 5.0 / 32);
  EXPECT_EQ(result->p_value, 5.0 / 32);
  EXPECT_FALSE(result->equivalent);
}

TEST(Equivalence, HoldsOnlyInsideTheMargin) {
  const std::vector<double> small = {1, -2, 3, 0.5, -1, 0};
  EXPECT_TRUE(equivalence(small, 10)->equivalent);
  EXPECT_FALSE(equivalence(small, 1)->equivalent);
  std::vector<double> shifted = small;
  for (double& value : shifted) value += 20;
  EXPECT_FALSE(equivalence(shifted, 10)->equivalent);
}

TEST(Equivalence, CannotBeShownByFewPairs) { EXPECT_FALSE(equivalence({0, 0, 0, 0}, 100)->equivalent); }

TEST(Equivalence, NeedsDifferencesAndAMargin) {
  EXPECT_FALSE(equivalence({}, 1));
  EXPECT_FALSE(equivalence({1, 2}, 0));
  EXPECT_FALSE(equivalence({1, 2}, -1));
}

}  // namespace
}  // namespace hopyard::stats
