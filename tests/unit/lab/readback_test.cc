// SPDX-License-Identifier: Apache-2.0
// A difference between plan and kernel is an error that names it. Pure.
#include "lab/readback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hopyard::lab {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What a kernel that did everything would show.
Observed as_planned(const Topology& topology) {
  Observed out;
  for (const LinkPlan& link : topology.links) {
    out.links.push_back({link.side, link.name, link.mac, 1500, true, link.addresses, false, false, false});
  }
  for (const RoutePlan& route : topology.routes) {
    const LinkPlan& link = topology.links[route.link];
    const std::string via = route.gateway.empty() ? "" : " via " + route.gateway;
    out.routes.push_back(std::string(side_name(link.side)) + " " + route.destination + via + " dev " +
                         link.name);
  }
  for (const NeighbourPlan& neighbour : topology.neighbours) {
    const LinkPlan& link = topology.links[neighbour.link];
    out.neighbours.push_back(std::string(side_name(link.side)) + " " + neighbour.address + " lladdr " +
                             neighbour.mac + " dev " + link.name + " PERMANENT");
  }
  return out;
}

std::string difference(const Topology& topology, const Observed& seen) {
  const absl::Status status = compare_network(topology, seen);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

class CompareNetwork : public ::testing::Test {
 protected:
  const Topology topology_ = plan_topology(7, true);
  Observed seen_ = as_planned(topology_);
};

TEST_F(CompareNetwork, AcceptsThePlanInAnyOrder) {
  std::swap(seen_.links[0], seen_.links[3]);
  std::swap(seen_.routes.front(), seen_.routes.back());
  std::swap(seen_.links[1].addresses[0], seen_.links[1].addresses[1]);
  EXPECT_TRUE(compare_network(topology_, seen_).ok()) << compare_network(topology_, seen_);
}

TEST_F(CompareNetwork, NamesAnOffloadLeftOn) {
  seen_.links[2].tso = true;
  EXPECT_THAT(difference(topology_, seen_),
              AllOf(HasSubstr("router link router-s7"), HasSubstr("tso on"), Not(HasSubstr("client7"))));
}

TEST_F(CompareNetwork, NamesAnotherMtu) {
  seen_.links[0].mtu = 65535;
  EXPECT_THAT(difference(topology_, seen_),
              AllOf(HasSubstr("client7"), HasSubstr("mtu 65535"), HasSubstr("mtu 1500")));
}

TEST_F(CompareNetwork, NamesALinkWithoutCarrier) {
  seen_.links[3].running = false;
  EXPECT_THAT(difference(topology_, seen_), HasSubstr("server7 mac 02:00:00:00:02:01 mtu 1500 not running"));
}

TEST_F(CompareNetwork, NamesAMissingNeighbour) {
  seen_.neighbours.erase(seen_.neighbours.begin());
  EXPECT_THAT(difference(topology_, seen_),
              HasSubstr("asked for [client 198.51.100.254 lladdr 02:00:00:00:01:fe"));
}

TEST_F(CompareNetwork, NamesARouteNobodyAskedFor) {
  seen_.routes.push_back("server 10.0.0.0/8 dev server7");
  EXPECT_THAT(difference(topology_, seen_), HasSubstr("the kernel has [server 10.0.0.0/8 dev server7]"));
}

TEST_F(CompareNetwork, NamesFilters) {
  seen_.filters = 2;
  EXPECT_THAT(difference(topology_, seen_), HasSubstr("2 traffic-control filters"));
}

}  // namespace
}  // namespace hopyard::lab
