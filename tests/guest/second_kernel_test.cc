// SPDX-License-Identifier: Apache-2.0
// Two guest kernels as a factor of one campaign: each gives its own, and the same every time. The second one
// takes minutes to build and is there only where somebody built it (hopyard kernels build uml-7.2).
#include <unistd.h>

#include "guest/virtual_lane.h"
#include "run/trial_digest.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

constexpr char kFirst[] = "uml-6.12";
constexpr char kSecond[] = "uml-7.2";

std::chrono::nanoseconds patience(const v1::TrialSpec&) { return 60s; }

TEST(SecondKernel, RunsBesideTheFirstAndGivesTheSameEveryTime) {
  if (::access(HOPYARD_BUILD_DIR "/kernels/uml-7.2", X_OK) != 0)
    GTEST_SKIP() << "not built: hopyard kernels build uml-7.2";
  const std::map<std::string, std::string> servers = {{"stock", HOPYARD_BUILD_DIR "/servers/stock"}};
  VirtualLane lane(servers);
  const auto outcomes =
      lane.run({{"stock", kFirst}, {"stock", kSecond}, {"stock", kSecond}, {"stock", kFirst}},
               {{kFirst, built_kernel(kFirst)}, {kSecond, built_kernel(kSecond, {"seccomp=on"})}}, patience);
  ASSERT_EQ(outcomes.size(), 4u);
  for (const auto& outcome : outcomes) EXPECT_EQ(outcome.verdict(), v1::PASSED) << outcome.reason();
  EXPECT_EQ(first_difference(lane.result(0), lane.result(3)), "");
  EXPECT_EQ(first_difference(lane.result(1), lane.result(2)), "");
  EXPECT_TRUE(lane.result(1).environment().kernel_release().starts_with("7.2."));
  EXPECT_NE(lane.result(0).environment().kernel_release(), lane.result(1).environment().kernel_release());
}

}  // namespace
}  // namespace hopyard::run
