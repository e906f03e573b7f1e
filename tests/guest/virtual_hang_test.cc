// SPDX-License-Identifier: Apache-2.0
// A server that computes for ever stops its guest's virtual clock, and with it every deadline inside: the
// guest is ended from outside, its trial has failed, and the others have their results.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "guest/virtual_lane.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr char kKernel[] = "uml-6.12";

std::string spinning_server(const std::string& path) {
  std::ofstream(path) << "#!/bin/sh\nwhile :; do :; done\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

std::chrono::nanoseconds patience(const v1::TrialSpec& trial) {
  return trial.case_().name() == "spins" ? 5s : 60s;
}

TEST(VirtualClock, AGuestThatAServerHangsIsEndedAndTheRestGoesOn) {
  const TempDir folder;
  VirtualLane lane(
      {{"stock", HOPYARD_BUILD_DIR "/servers/stock"}, {"spins", spinning_server(folder / "spins")}});
  const auto outcomes = lane.run({{"stock", kKernel}, {"spins", kKernel}, {"stock", kKernel}},
                                 {{kKernel, built_kernel(kKernel)}}, patience);
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].verdict(), v1::PASSED) << outcomes[0].reason();
  EXPECT_EQ(outcomes[1].verdict(), v1::FAILED);
  EXPECT_THAT(outcomes[1].reason(), HasSubstr("hung"));
  EXPECT_EQ(outcomes[2].verdict(), v1::PASSED) << outcomes[2].reason();
}

}  // namespace
}  // namespace hopyard::run
