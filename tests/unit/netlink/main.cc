// SPDX-License-Identifier: Apache-2.0
// GoogleTest's main as root of a user namespace of its own. Where this machine refuses that, every test is
// skipped with the reason.
#include <gtest/gtest.h>

#include "unit/netlink/network.h"

namespace {

class OwnUsers : public testing::Environment {
 public:
  explicit OwnUsers(absl::Status entered) : entered_(std::move(entered)) {}
  void SetUp() override {
    if (!entered_.ok()) GTEST_SKIP() << entered_;
  }

 private:
  absl::Status entered_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::AddGlobalTestEnvironment(new OwnUsers(hopyard::netlink_test::enter_user_namespace()));
  return RUN_ALL_TESTS();
}
