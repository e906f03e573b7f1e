// SPDX-License-Identifier: Apache-2.0
// Patience grows with what a trial has to carry, and is never short.
#include "run/patience.h"

#include <gtest/gtest.h>

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

v1::TrialSpec trial(uint64_t body_bytes) {
  v1::TrialSpec spec;
  spec.mutable_workload()->add_requests()->set_body_bytes(body_bytes);
  spec.mutable_path()->set_rtt_ns(20'000'000);
  spec.mutable_path()->set_rate_bps(20'000'000);
  return spec;
}

TEST(Patience, IsAtLeastAMinute) { EXPECT_EQ(patience_for(trial(1024)), 60s); }

TEST(Patience, OfARequestEndsBeforeThatOfItsTrial) {
  constexpr auto kStartAndEnd = 20s;  // of a server that is slow to start and has to be killed
  for (const uint64_t rate : {10'000u, 100'000u, 20'000'000u}) {
    for (const uint64_t bytes : {1u, 4096u, 131072u, 8u << 20}) {
      v1::TrialSpec spec = trial(bytes);
      spec.mutable_path()->set_rate_bps(rate);
      const auto request = request_patience_for(spec);
      const auto before_it = (request - 20s) / 3;  // as long as all the others may be expected to take
      EXPECT_GE(patience_for(spec), before_it + request + kStartAndEnd) << bytes << " bytes at " << rate;
    }
  }
}

TEST(Patience, CoversASlowPath) {
  v1::TrialSpec slow = trial(1 << 20);
  slow.mutable_path()->set_rate_bps(100'000);  // 84 s at best
  EXPECT_GT(patience_for(slow), 168s);
}

TEST(Patience, CoversLossThatKeepsTcpFarBelowTheRate) {
  v1::TrialSpec lossy = trial(8 << 20);
  lossy.mutable_path()->set_rtt_ns(200'000'000);
  const auto without = patience_for(lossy);
  lossy.mutable_path()->set_loss(0.05);
  EXPECT_GT(patience_for(lossy), 3 * without);
}

TEST(Patience, CoversPauses) {
  v1::TrialSpec idle = trial(1024);
  for (int i = 0; i < 5; ++i)
    idle.mutable_workload()->add_requests()->mutable_after()->set_pause_ns(20'000'000'000);
  EXPECT_GT(patience_for(idle), 200s);
}

TEST(Patience, CoversStalls) {
  v1::TrialSpec busy = trial(1024);
  for (int i = 0; i < 5; ++i)
    busy.mutable_workload()->add_requests()->mutable_after()->set_stall_ns(20'000'000'000);
  EXPECT_GT(patience_for(busy), 200s);
}

TEST(Patience, StaysFiniteOnThePathThatLosesEverything) {
  v1::TrialSpec dead = trial(64 << 20);
  dead.mutable_path()->set_loss(1);
  dead.mutable_path()->set_rate_bps(10'000);
  EXPECT_LT(patience_for(dead), 100h);
}

}  // namespace
}  // namespace hopyard::run
