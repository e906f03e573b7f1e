// SPDX-License-Identifier: Apache-2.0
// Seeds matter where lots are drawn.
#include "run/guest_seed.h"

#include <gtest/gtest.h>

namespace hopyard::run {
namespace {

v1::TrialSpec trial(uint64_t seed, double loss) {
  v1::TrialSpec spec;
  spec.set_seed(seed);
  spec.mutable_path()->set_loss(loss);
  return spec;
}

TEST(GuestSeed, IsOneForAllWhereNothingIsLost) {
  EXPECT_EQ(guest_seed(trial(7, 0)), guest_seed(trial(8, 0)));
  v1::TrialSpec unimpaired;
  unimpaired.set_seed(9);
  EXPECT_EQ(guest_seed(unimpaired), guest_seed(trial(7, 0)));
}

TEST(GuestSeed, IsTheTrialsOwnWhereSomethingIsLost) {
  EXPECT_NE(guest_seed(trial(7, 0.01)), guest_seed(trial(8, 0.01)));
  EXPECT_EQ(guest_seed(trial(7, 0.01)), 7u);
}

}  // namespace
}  // namespace hopyard::run
