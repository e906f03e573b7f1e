// SPDX-License-Identifier: Apache-2.0
// Addresses and names of the routed path. Pure.
#include "lab/topology.h"

#include "fmt/format.h"

namespace hopyard::lab {
namespace {

constexpr uint32_t kMaxNumber = 9'999'999;  // "router-c9999999" has 15 characters

// One of the two networks: an endpoint's link and the router's link towards it.
struct Network {
  LinkSlot endpoint;
  LinkSlot router;
  const char* v4;  // the first three bytes
  const char* v6;
};

constexpr Network kNetworks[] = {
    {kClientLink, kRouterToClient, "198.51.100", "2001:db8:1:"},
    {kServerLink, kRouterToServer, "192.0.2", "2001:db8:2:"},
};

struct Family {
  std::string network, endpoint, router;
  const char* length;
};

std::vector<Family> families(const Network& network, bool ipv6) {
  const std::string v4 = network.v4;
  const std::string v6 = network.v6;
  std::vector<Family> out = {{v4 + ".0/24", v4 + ".1", v4 + ".254", "/24"}};
  if (ipv6) out.push_back({v6 + ":/64", v6 + ":1", v6 + ":fe", "/64"});
  return out;
}

void add_network(const Network& network, bool ipv6, Topology& topology) {
  LinkPlan& endpoint = topology.links[network.endpoint];
  LinkPlan& router = topology.links[network.router];
  for (const Family& family : families(network, ipv6)) {
    endpoint.addresses.push_back(family.endpoint + family.length);
    router.addresses.push_back(family.router + family.length);
    topology.neighbours.push_back({network.endpoint, family.router, router.mac});
    topology.neighbours.push_back({network.router, family.endpoint, endpoint.mac});
    topology.routes.push_back({network.endpoint, family.network, ""});
    topology.routes.push_back({network.router, family.network, ""});
    topology.routes.push_back({network.endpoint, "default", family.router});
  }
}

}  // namespace

Topology plan_topology(uint32_t number, bool ipv6) {
  Topology topology;
  topology.links = {{
      {Side::kClient, 2, fmt::format("client{}", number), "02:00:00:00:01:01", {}},
      {Side::kRouter, 3, fmt::format("router-c{}", number), "02:00:00:00:01:fe", {}},
      {Side::kRouter, 4, fmt::format("router-s{}", number), "02:00:00:00:02:fe", {}},
      {Side::kServer, 5, fmt::format("server{}", number), "02:00:00:00:02:01", {}},
  }};
  for (const Network& network : kNetworks) add_network(network, ipv6, topology);
  return topology;
}

absl::StatusOr<uint32_t> next_path_number() {
  static uint32_t last = 0;  // the lab is used by one thread
  if (last == kMaxNumber)
    return absl::ResourceExhaustedError("name: links of a path: all names of this process are used");
  return ++last;
}

}  // namespace hopyard::lab
