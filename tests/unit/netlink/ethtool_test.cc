// SPDX-License-Identifier: Apache-2.0
// Offloads set and read back, against what `ethtool -k` says.
#include "netlink/ethtool.h"

#include <gmock/gmock.h>

#include "netlink/route.h"
#include "unit/netlink/network.h"

namespace hopyard::netlink {
namespace {

using netlink_test::output_of;
using testing::HasSubstr;

class EthtoolTest : public netlink_test::NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
    ASSERT_TRUE(socket.run(RouteBatch().add_veth({.name = "a"}, {.name = "b"})).ok());
  }
};

TEST_F(EthtoolTest, OffloadsGoOffAndOnAsEthtoolSeesThem) {
  ASSERT_OK_AND_TAKE(EthtoolSocket socket, EthtoolSocket::open());
  ASSERT_TRUE(socket.set_offloads("a", {}).ok());
  ASSERT_OK_AND_TAKE(Offloads seen, socket.offloads("a"));
  EXPECT_EQ(seen, Offloads{});
  EXPECT_THAT(
      output_of({"/sbin/ethtool", "-k", "a"}),
      testing::AllOf(HasSubstr("\ttx-tcp-segmentation: off"), HasSubstr("\ttx-tcp6-segmentation: off"),
                     HasSubstr("\ngeneric-segmentation-offload: off"),
                     HasSubstr("\ngeneric-receive-offload: off")));
  const Offloads on{.tso = true, .gso = true, .gro = true};
  ASSERT_TRUE(socket.set_offloads("a", on).ok());
  ASSERT_OK_AND_TAKE(seen, socket.offloads("a"));
  EXPECT_EQ(seen, on);
  EXPECT_THAT(output_of({"/sbin/ethtool", "-k", "a"}),
              testing::AllOf(HasSubstr("\ttx-tcp-segmentation: on"), HasSubstr("\ttx-tcp6-segmentation: on"),
                             HasSubstr("\ngeneric-segmentation-offload: on"),
                             HasSubstr("\ngeneric-receive-offload: on")));
}

TEST_F(EthtoolTest, EachOffloadIsItsOwn) {
  ASSERT_OK_AND_TAKE(EthtoolSocket socket, EthtoolSocket::open());
  const Offloads some{.tso = false, .gso = true, .gro = false};
  ASSERT_TRUE(socket.set_offloads("a", some).ok());
  ASSERT_OK_AND_TAKE(const Offloads seen, socket.offloads("a"));
  EXPECT_EQ(seen, some);
}

TEST_F(EthtoolTest, AMissingLinkIsNamed) {
  ASSERT_OK_AND_TAKE(EthtoolSocket socket, EthtoolSocket::open());
  const auto status = socket.set_offloads("nolink", {});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("set tso: nolink: No such device"));
  EXPECT_TRUE(absl::IsInvalidArgument(socket.offloads("a-name-of-more-than-15").status()));
}

}  // namespace
}  // namespace hopyard::netlink
