// SPDX-License-Identifier: Apache-2.0
// The plan of a path, without a kernel.
#include "lab/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace hopyard::lab {
namespace {

using ::testing::ElementsAre;

TEST(Topology, LinkIndexesDifferAcrossThePath) {
  const Topology topology = plan_topology(1, true);
  std::set<int> indexes;
  for (const LinkPlan& link : topology.links) indexes.insert(link.index);
  EXPECT_EQ(indexes.size(), 4u);
  EXPECT_FALSE(indexes.contains(1)) << "lo has it";
}

TEST(Topology, LongestLinkNameFitsTheKernel) {
  for (const LinkPlan& link : plan_topology(9'999'999, true).links)
    EXPECT_LE(link.name.size(), 15u) << link.name;
}

TEST(Topology, NamesDoNotReturn) {
  const auto first = next_path_number();
  const auto second = next_path_number();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(plan_topology(*first, true).links[kClientLink].name,
            plan_topology(*second, true).links[kClientLink].name);
}

TEST(Topology, KnowsEveryNeighbourOfBothFamilies) {
  const Topology topology = plan_topology(1, true);
  EXPECT_EQ(topology.neighbours.size(), 8u);
  for (const NeighbourPlan& neighbour : topology.neighbours) {
    EXPECT_NE(neighbour.mac, topology.links[neighbour.link].mac) << "the peer's, not its own";
  }
}

TEST(Topology, WithoutIpv6HasIpv4Only) {
  const Topology topology = plan_topology(1, false);
  EXPECT_THAT(topology.links[kClientLink].addresses, ElementsAre("198.51.100.1/24"));
  EXPECT_THAT(topology.links[kRouterToServer].addresses, ElementsAre("192.0.2.254/24"));
  EXPECT_EQ(topology.neighbours.size(), 4u);
  EXPECT_EQ(topology.routes.size(), 6u);
}

}  // namespace
}  // namespace hopyard::lab
