// SPDX-License-Identifier: Apache-2.0
// GoogleTest's main in a network of its own. Where this machine refuses that, every test is skipped with the
// reason.
#include <gtest/gtest.h>

#include <string>

#include "unit/lab/own_network.h"

namespace {

class OwnNetwork : public ::testing::Environment {
 public:
  explicit OwnNetwork(absl::Status entered) : entered_(std::move(entered)) {}
  void SetUp() override {
    if (!entered_.ok()) GTEST_SKIP() << entered_;
  }

 private:
  absl::Status entered_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::AddGlobalTestEnvironment(new OwnNetwork(hopyard::testing_support::enter_own_network()));
  return RUN_ALL_TESTS();
}
