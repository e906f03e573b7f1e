// SPDX-License-Identifier: Apache-2.0
// The generator gives the published numbers.
#include "stats/random.h"

#include "gtest/gtest.h"

namespace hopyard::stats {
namespace {

TEST(SplitMix64, GivesTheNumbersPublishedForItsSeed) {
  SplitMix64 generator(1234567);
  for (const uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                  4593380528125082431u, 16408922859458223821u}) {
    EXPECT_EQ(generator.next(), expected);
  }
}

TEST(Random, GivesTheNumbersOfXoshiro256StarStarSeededBySplitMix64) {
  Random random(0);
  for (const uint64_t expected :
       {0x99ec5f36cb75f2b4u, 0xbf6e1f784956452au, 0x1a5f849d4933e6e0u, 0x6aa594f1262d2d2cu}) {
    EXPECT_EQ(random.next(), expected);
  }
}

// 60000 throws of a die: each face 10000 times, give or take five standard deviations (456).
TEST(Random, IsUniformBelowItsBound) {
  Random random(42);
  int faces[6] = {};
  for (int i = 0; i < 60000; ++i) ++faces[random.below(6)];
  for (const int times : faces) EXPECT_NEAR(times, 10000, 456);
}

TEST(Random, StaysBelowABoundThatIsNoPowerOfTwo) {
  Random random(3);
  const uint64_t bound = (uint64_t{1} << 63) + 1;
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(bound), bound);
  EXPECT_EQ(random.below(1), 0u);
}

}  // namespace
}  // namespace hopyard::stats
