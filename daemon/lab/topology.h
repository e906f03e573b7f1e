// SPDX-License-Identifier: Apache-2.0
// The routed path as data: which links, addresses, neighbours and routes there shall be. Pure; knows no
// kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/side.h"

namespace hopyard::lab {

inline constexpr uint32_t kMtu = 1500;

struct LinkPlan {
  Side side;
  int index;  // the same in every path, and all different: a veth end with its peer's index gets its carrier
              // late
  std::string name;
  std::string mac;
  std::vector<std::string> addresses;  // with prefix length
};

struct NeighbourPlan {
  size_t link;  // of Topology::links
  std::string address;
  std::string mac;
};

struct RoutePlan {
  size_t link;  // of Topology::links
  std::string destination;
  std::string gateway;  // empty: made by the kernel with the address
};

// Places in Topology::links, in the order a packet to the server passes them.
enum LinkSlot : size_t { kClientLink, kRouterToClient, kRouterToServer, kServerLink };

struct Topology {
  std::array<LinkPlan, 4> links;
  std::vector<NeighbourPlan> neighbours;
  std::vector<RoutePlan> routes;
};

// Link names carry `number`, so that no name returns while the kernel may still be taking an earlier one
// apart.
Topology plan_topology(uint32_t number, bool ipv6);

// 1, 2, 3, … within this process; RESOURCE_EXHAUSTED when link names would grow beyond 15 characters.
absl::StatusOr<uint32_t> next_path_number();

}  // namespace hopyard::lab
