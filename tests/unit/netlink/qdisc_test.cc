// SPDX-License-Identifier: Apache-2.0
// Qdiscs that every kernel has, against tc; fq and netem are tested in a guest.
#include "netlink/qdisc.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "netlink/route.h"
#include "unit/netlink/network.h"
#include "unit/netlink/tc_json.h"

namespace hopyard::netlink {
namespace {

using netlink_test::output_of;
using testing::HasSubstr;

class QdiscTest : public netlink_test::NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
    const auto status = socket.run(
        RouteBatch().add_veth({.name = "va", .index = 5}, {.name = "vb", .index = 6}).set_up(5).set_up(6));
    ASSERT_TRUE(status.ok()) << status;
  }
};

// The root qdisc of a link; a default one, with a failure, if there is none.
QdiscInfo root_of(QdiscSocket& socket, int link) {
  const auto qdiscs = socket.dump();
  EXPECT_TRUE(qdiscs.ok()) << qdiscs.status();
  for (const QdiscInfo& info : *qdiscs) {
    if (info.link == link) return info;
  }
  ADD_FAILURE() << "no qdisc on link " << link;
  return {};
}

TEST_F(QdiscTest, LinksBeginWithoutAQueue) {
  ASSERT_OK_AND_TAKE(QdiscSocket socket, QdiscSocket::open());
  const QdiscInfo info = root_of(socket, 5);
  EXPECT_EQ(info.kind, "noqueue");
  EXPECT_EQ(info.handle, 0u);
  EXPECT_EQ(info.parent, 0xffffffffu);
  EXPECT_EQ(info.options_json(), "{}");
  EXPECT_GE(netlink_test::expect_as_tc_says(output_of({"/sbin/tc", "-s", "-j", "qdisc"}), "va", info), 9u);
}

TEST_F(QdiscTest, CountersOfAFifoAreAsTcShowsThem) {
  output_of({"/sbin/tc", "qdisc", "add", "dev", "lo", "root", "pfifo", "limit", "77"});
  const auto pair = netlink_test::connect_tcp("127.0.0.1");
  netlink_test::transfer(pair.client, pair.server, 100'000);
  ASSERT_OK_AND_TAKE(QdiscSocket socket, QdiscSocket::open());
  // A delayed ack may pass in between: ask until nothing did.
  for (int attempt = 0; attempt < 10; ++attempt) {
    const QdiscInfo before = root_of(socket, 1);
    const std::string json = output_of({"/sbin/tc", "-s", "-j", "qdisc"});
    if (root_of(socket, 1).packets != before.packets) continue;
    EXPECT_EQ(before.kind, "pfifo");
    EXPECT_GT(before.bytes, 100'000u);
    EXPECT_THAT(json, HasSubstr("\"bytes\":" + std::to_string(before.bytes) +
                                ",\"packets\":" + std::to_string(before.packets) + ",\"drops\":0"));
    return;
  }
  FAIL() << "packets never rested";
}

TEST_F(QdiscTest, AFreshLinkHasNoFilters) {
  ASSERT_OK_AND_TAKE(QdiscSocket socket, QdiscSocket::open());
  ASSERT_OK_AND_TAKE(const size_t filters, socket.count_filters(5));
  EXPECT_EQ(filters, 0u);
}

TEST_F(QdiscTest, ImpossibleOptionsAreRefusedBeforeAnythingIsSent) {
  ASSERT_OK_AND_TAKE(QdiscSocket socket, QdiscSocket::open());
  using std::chrono::milliseconds;
  const NetemOptions impossible[] = {
      {},                                                                // no limit
      {.limit_packets = 1, .rate_bps = 12345},                           // not whole bytes
      {.limit_packets = 1, .loss = 1.4},                                 //
      {.limit_packets = 1, .loss = -0.1},                                //
      {.limit_packets = 1, .corrupt = std::nan("")},                     //
      {.limit_packets = 1, .reorder = 0.5},                              // needs a delay
      {.limit_packets = 1, .jitter = milliseconds(1)},                   // needs a delay
      {.limit_packets = 1, .delay = milliseconds(-1)},                   //
      {.limit_packets = 1, .delay = milliseconds(1), .reorder_gap = 5},  // needs a fraction
  };
  for (const NetemOptions& options : impossible) {
    const auto status = socket.add_root(5, options);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), testing::StartsWith("netem: "));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(socket.add_root(5, FqOptions{.quantum_bytes = 0})));
  EXPECT_TRUE(absl::IsInvalidArgument(socket.add_root(5, FqOptions{.buckets_log = 19})));
  EXPECT_EQ(root_of(socket, 5).kind, "noqueue");
}

TEST_F(QdiscTest, AFailureNamesKindLinkAndTheKernelsCause) {
  ASSERT_OK_AND_TAKE(QdiscSocket socket, QdiscSocket::open());
  const auto status = socket.add_root(4711, NetemOptions{.limit_packets = 10});
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("add netem: root of link 4711: "));
  EXPECT_THAT(std::string(socket.delete_root(4711).message()),
              testing::StartsWith("delete qdisc: root of link 4711: "));
}

}  // namespace
}  // namespace hopyard::netlink
