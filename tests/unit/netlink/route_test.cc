// SPDX-License-Identifier: Apache-2.0
// Links, addresses, neighbours and routes: what was asked is what the kernel has, and what `ip` says.
#include "netlink/route.h"

#include <gmock/gmock.h>
#include <linux/rtnetlink.h>

#include <algorithm>

#include "unit/netlink/network.h"

namespace hopyard::netlink {
namespace {

using netlink_test::current_netns;
using netlink_test::inside;
using netlink_test::new_netns;
using netlink_test::output_of;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class RouteTest : public netlink_test::NetworkTest {};

// A link by name; a default LinkInfo (index 0) if there is none.
LinkInfo find(RouteSocket& socket, const std::string& name) {
  const auto links = socket.links();
  EXPECT_TRUE(links.ok()) << links.status();
  for (const LinkInfo& link : *links) {
    if (link.name == name) return link;
  }
  return {};
}

std::vector<std::string> addresses_of(RouteSocket& socket, int link) {
  const auto addresses = socket.addresses();
  EXPECT_TRUE(addresses.ok()) << addresses.status();
  std::vector<std::string> seen;
  for (const AddressInfo& address : *addresses) {
    if (address.link == link) seen.push_back(address.address);
  }
  return seen;
}

TEST_F(RouteTest, VethEndsAreBornCompleteInTheirNamespaces) {
  const base::Fd other = new_netns();
  ASSERT_OK_AND_TAKE(RouteSocket here, RouteSocket::open());
  std::optional<RouteSocket> there;
  inside(other, [&there] { there = RouteSocket::open().value(); });
  const auto status = here.run(RouteBatch().add_veth(
      {.name = "left", .index = 7, .mac = "02:00:00:00:00:01", .mtu = 1500},
      {.name = "right", .netns_fd = other.get(), .index = 9, .mac = "02:00:00:00:00:02", .mtu = 1400}));
  ASSERT_TRUE(status.ok()) << status;
  const LinkInfo left = find(here, "left");
  EXPECT_EQ(left.index, 7);
  EXPECT_EQ(left.mac, "02:00:00:00:00:01");
  EXPECT_EQ(left.mtu, 1500u);
  EXPECT_FALSE(left.up);
  EXPECT_EQ(find(here, "right").index, 0);
  // The other socket was opened inside and is used from outside.
  const LinkInfo right = find(*there, "right");
  EXPECT_EQ(right.index, 9);
  EXPECT_EQ(right.mac, "02:00:00:00:00:02");
  EXPECT_EQ(right.mtu, 1400u);
  EXPECT_THAT(output_of({"/sbin/ip", "-o", "link", "show", "left"}),
              testing::AllOf(HasSubstr("7: left@"), HasSubstr("link/ether 02:00:00:00:00:01")));
}

TEST_F(RouteTest, ALinkThatWasSetUpIsUp) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  ASSERT_TRUE(socket.run(RouteBatch().add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})).ok());
  const auto status = socket.run(RouteBatch().set_up(2));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(find(socket, "a").up);
  EXPECT_FALSE(find(socket, "b").up);
  ASSERT_OK_AND_TAKE(const int index, socket.link_index("b"));
  EXPECT_EQ(index, 3);
}

TEST_F(RouteTest, DeletingALinkTakesItsPeerWithIt) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  ASSERT_TRUE(socket.run(RouteBatch().add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})).ok());
  ASSERT_TRUE(socket.run(RouteBatch().delete_link(3)).ok());
  EXPECT_TRUE(absl::IsNotFound(socket.link_index("a").status()));
  EXPECT_TRUE(absl::IsNotFound(socket.link_index("b").status()));
}

TEST_F(RouteTest, AddressesAreReadBack) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const auto status = socket.run(RouteBatch()
                                     .add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})
                                     .add_address(2, "192.0.2.1/24")
                                     .add_address(2, "192.0.2.9/32")
                                     .add_address(2, "2001:db8:2::1/64"));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(addresses_of(socket, 2),
              UnorderedElementsAre("192.0.2.1/24", "192.0.2.9/32", "2001:db8:2::1/64"));
}

TEST_F(RouteTest, Ipv6AddressesAreUsableAtOnce) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const auto status = socket.run(RouteBatch()
                                     .add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})
                                     .set_up(2)
                                     .set_up(3)
                                     .add_address(2, "2001:db8:2::1/64"));
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_OK_AND_TAKE(const auto addresses, socket.addresses());
  const auto added = std::find_if(addresses.begin(), addresses.end(),
                                  [](const auto& a) { return a.address == "2001:db8:2::1/64"; });
  ASSERT_NE(added, addresses.end());
  EXPECT_TRUE(added->no_dad);
  EXPECT_FALSE(added->tentative);
}

TEST_F(RouteTest, NeighboursArePermanent) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const auto status = socket.run(RouteBatch()
                                     .add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})
                                     .set_up(2)
                                     .add_neighbour(2, "192.0.2.254", "02:00:00:00:00:02")
                                     .add_neighbour(2, "2001:db8:2::fe", "02:00:00:00:00:03"));
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_OK_AND_TAKE(const auto neighbours, socket.neighbours());
  ASSERT_EQ(neighbours.size(), 2u);
  for (const NeighbourInfo& neighbour : neighbours) {
    EXPECT_TRUE(neighbour.permanent);
    EXPECT_EQ(neighbour.link, 2);
    EXPECT_EQ(neighbour.mac, neighbour.address == "192.0.2.254" ? "02:00:00:00:00:02" : "02:00:00:00:00:03");
  }
  EXPECT_THAT(output_of({"/sbin/ip", "neigh", "show", "dev", "a"}),
              HasSubstr("192.0.2.254 lladdr 02:00:00:00:00:02 PERMANENT"));
}

TEST_F(RouteTest, RoutesAreReadBackWithGatewayAndLink) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const auto status = socket.run(RouteBatch()
                                     .add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})
                                     .set_up(2)
                                     .set_up(3)
                                     .add_address(2, "192.0.2.1/24")
                                     .add_address(2, "2001:db8:2::1/64")
                                     .add_route({"default", "192.0.2.254", 2})
                                     .add_route({"198.51.100.0/24", "192.0.2.253", 2})
                                     .add_route({"203.0.113.0/24", "", 2})
                                     .add_route({"default", "2001:db8:2::fe", 2})
                                     .add_route({"2001:db8:1::/64", "2001:db8:2::fe", 2}));
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_OK_AND_TAKE(const auto routes, socket.routes());
  std::vector<std::string> made;
  for (const RouteInfo& route : routes) {
    if (route.protocol == RTPROT_BOOT && route.link == 2) {
      made.push_back(route.destination + " via " + route.gateway + (route.ipv6 ? " (6)" : " (4)"));
    }
  }
  EXPECT_THAT(made, UnorderedElementsAre("default via 192.0.2.254 (4)", "198.51.100.0/24 via 192.0.2.253 (4)",
                                         "203.0.113.0/24 via  (4)", "default via 2001:db8:2::fe (6)",
                                         "2001:db8:1::/64 via 2001:db8:2::fe (6)"));
  EXPECT_THAT(output_of({"/sbin/ip", "route"}), HasSubstr("default via 192.0.2.254 dev a"));
}

TEST_F(RouteTest, AFailedRequestIsNamedAndTheOthersAreCarriedOut) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const auto status = socket.run(RouteBatch()
                                     .add_veth({.name = "a", .index = 2}, {.name = "b", .index = 3})
                                     .set_up(2)
                                     .set_up(3)
                                     .add_route({"198.51.100.0/24", "203.0.113.77", 2})
                                     .add_address(2, "192.0.2.1/24"));
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(HasSubstr("add route: 198.51.100.0/24 via 203.0.113.77 on link 2:"),
                             HasSubstr("(Nexthop has invalid gateway)")));
  EXPECT_THAT(addresses_of(socket, 2), testing::Contains("192.0.2.1/24"));
}

TEST_F(RouteTest, AnExistingNameIsRefused) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  ASSERT_TRUE(socket.run(RouteBatch().add_veth({.name = "a"}, {.name = "b"})).ok());
  const auto status = socket.run(RouteBatch().add_veth({.name = "a"}, {.name = "c"}));
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("add veth pair: a and c"));
}

TEST_F(RouteTest, MalformedTextsAreRefusedBeforeAnythingIsSent) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  const RouteBatch batches[] = {
      RouteBatch().add_address(1, "10.9.8.7/32").add_address(1, "192.0.2.300/24"),
      RouteBatch().add_address(1, "10.9.8.7/32").add_address(1, "02:00:00:00:00:01"),
      RouteBatch().add_address(1, "10.9.8.7/32").add_neighbour(1, "192.0.2.1", "nonsense"),
      RouteBatch().add_address(1, "10.9.8.7/32").add_route({"default", "", 1}),
      RouteBatch().add_address(1, "10.9.8.7/32").add_veth({.name = "a-name-of-more-than-15"}, {.name = "b"}),
      RouteBatch().add_address(1, "10.9.8.7/32").add_veth({.name = "a"}, {.name = ""}),
  };
  for (const RouteBatch& batch : batches) {
    const auto status = socket.run(batch);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(addresses_of(socket, 1), testing::Not(testing::Contains("10.9.8.7/32")));
  }
}

TEST_F(RouteTest, ABatchLargerThanOneSendIsCarriedOutWhole) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  RouteBatch batch;
  for (int i = 1; i <= 200; ++i) batch.add_address(1, "10.9.8." + std::to_string(i) + "/32");
  const auto status = socket.run(batch);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GE(addresses_of(socket, 1).size(), 200u);
}

TEST_F(RouteTest, ANamespaceIdIsAssignedOnce) {
  const base::Fd other = new_netns();
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  EXPECT_TRUE(absl::IsNotFound(socket.netns_id(other.get()).status()));
  ASSERT_TRUE(socket.run(RouteBatch().assign_netns_id(other.get(), 41)).ok());
  ASSERT_OK_AND_TAKE(const int id, socket.netns_id(other.get()));
  EXPECT_EQ(id, 41);
  EXPECT_TRUE(absl::IsAlreadyExists(socket.run(RouteBatch().assign_netns_id(other.get(), 42))));
}

class NamespaceWatchTest : public netlink_test::NetworkTest {};

TEST_F(NamespaceWatchTest, TellsOfTheEndOfEachNamespace) {
  base::Fd first = new_netns();
  base::Fd second = new_netns();
  ASSERT_OK_AND_TAKE(NamespaceWatch watch, NamespaceWatch::open());
  ASSERT_OK_AND_TAKE(NamespaceWatch other, NamespaceWatch::open());
  ASSERT_TRUE(watch.add(first.get()).ok());
  ASSERT_OK_AND_TAKE(const int kept, other.add(second.get()));
  first.reset();
  auto status = watch.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
  EXPECT_TRUE(status.ok()) << status;
  status = other.wait_all_gone(base::Deadline(std::chrono::milliseconds(50)));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ids " + std::to_string(kept) + " still"));
  second.reset();
  status = other.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NamespaceWatchTest, ASocketInsideKeepsANamespaceAlive) {
  base::Fd netns = new_netns();
  std::optional<RouteSocket> holder;
  inside(netns, [&holder] { holder = RouteSocket::open().value(); });
  ASSERT_OK_AND_TAKE(NamespaceWatch watch, NamespaceWatch::open());
  ASSERT_TRUE(watch.add(netns.get()).ok());
  netns.reset();
  EXPECT_TRUE(absl::IsDeadlineExceeded(watch.wait_all_gone(base::Deadline(std::chrono::milliseconds(50)))));
  holder.reset();
  const auto status = watch.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NamespaceWatchTest, TakesTheIdThatALinkHasGivenAlready) {
  base::Fd other = new_netns();
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  ASSERT_TRUE(socket.run(RouteBatch().add_veth({.name = "a"}, {.name = "b", .netns_fd = other.get()})).ok());
  ASSERT_OK_AND_TAKE(NamespaceWatch watch, NamespaceWatch::open());
  ASSERT_OK_AND_TAKE(const int watched, watch.add(other.get()));
  ASSERT_OK_AND_TAKE(const int id, socket.netns_id(other.get()));
  EXPECT_EQ(watched, id);
  other.reset();
  const auto status = watch.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NamespaceWatchTest, LostEventsAreMadeUpFor) {
  ASSERT_OK_AND_TAKE(NamespaceWatch watch, NamespaceWatch::open());
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  base::Fd first = new_netns();
  ASSERT_TRUE(watch.add(first.get()).ok());
  // More events than its receive buffer takes.
  for (int i = 0; i < 400; ++i) {
    const base::Fd other = new_netns();
    ASSERT_TRUE(socket.run(RouteBatch().assign_netns_id(other.get(), -1)).ok());
  }
  ASSERT_OK_AND_TAKE(NamespaceWatch witness, NamespaceWatch::open());
  ASSERT_TRUE(witness.add(first.get()).ok());
  first.reset();
  ASSERT_TRUE(witness.wait_all_gone(base::Deadline(std::chrono::seconds(60))).ok());
  const auto status = watch.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
  EXPECT_TRUE(status.ok()) << status;
}

TEST_F(NamespaceWatchTest, AnIdUsedAgainIsNotTakenForTheOldOne) {
  ASSERT_OK_AND_TAKE(NamespaceWatch watch, NamespaceWatch::open());
  for (int round = 0; round < 3; ++round) {
    base::Fd netns = new_netns();
    ASSERT_TRUE(watch.add(netns.get()).ok());
    EXPECT_TRUE(absl::IsDeadlineExceeded(watch.wait_all_gone(base::Deadline(std::chrono::milliseconds(20)))));
    netns.reset();
    const auto status = watch.wait_all_gone(base::Deadline(std::chrono::seconds(20)));
    ASSERT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace hopyard::netlink
