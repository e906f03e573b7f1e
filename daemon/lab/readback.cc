// SPDX-License-Identifier: Apache-2.0
// A path as lines of text, as planned and as seen. Changes nothing.
#include "lab/readback.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "fmt/format.h"
#include "lab/sysctl.h"

namespace hopyard::lab {
namespace {

constexpr uint32_t kRootParent = 0xffffffff;

std::string link_name(const Topology& topology, Side side, int index) {
  for (const LinkPlan& link : topology.links) {
    if (link.side == side && link.index == index) return link.name;
  }
  return fmt::format("link {}", index);
}

std::string link_line(const LinkState& link) {
  const auto word = [](bool on) { return on ? "on" : "off"; };
  std::vector<std::string> addresses = link.addresses;
  std::sort(addresses.begin(), addresses.end());
  return fmt::format("{} link {} mac {} mtu {} {} addresses {} tso {} gso {} gro {}", side_name(link.side),
                     link.name, link.mac, link.mtu, link.running ? "running" : "not running",
                     absl::StrJoin(addresses, ","), word(link.tso), word(link.gso), word(link.gro));
}

std::string route_line(Side side, const std::string& destination, const std::string& gateway,
                       const std::string& link) {
  const std::string via = gateway.empty() ? "" : " via " + gateway;
  return fmt::format("{} {}{} dev {}", side_name(side), destination, via, link);
}

std::string neighbour_line(Side side, const std::string& address, const std::string& mac,
                           const std::string& link, bool permanent) {
  return fmt::format("{} {} lladdr {} dev {} {}", side_name(side), address, mac, link,
                     permanent ? "PERMANENT" : "not permanent");
}

LinkState planned_state(const LinkPlan& plan) {
  return {.side = plan.side,
          .name = plan.name,
          .mac = plan.mac,
          .mtu = kMtu,
          .running = true,
          .addresses = plan.addresses};
}

std::vector<std::string> planned_lines(const Topology& topology) {
  std::vector<std::string> out;
  for (const LinkPlan& plan : topology.links) out.push_back(link_line(planned_state(plan)));
  for (const RoutePlan& route : topology.routes) {
    const LinkPlan& link = topology.links[route.link];
    out.push_back(route_line(link.side, route.destination, route.gateway, link.name));
  }
  for (const NeighbourPlan& neighbour : topology.neighbours) {
    const LinkPlan& link = topology.links[neighbour.link];
    out.push_back(neighbour_line(link.side, neighbour.address, neighbour.mac, link.name, true));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> seen_lines(const Observed& observed) {
  std::vector<std::string> out;
  for (const LinkState& link : observed.links) out.push_back(link_line(link));
  out.insert(out.end(), observed.routes.begin(), observed.routes.end());
  out.insert(out.end(), observed.neighbours.begin(), observed.neighbours.end());
  if (observed.filters != 0) out.push_back(fmt::format("{} traffic-control filters", observed.filters));
  std::sort(out.begin(), out.end());
  return out;
}

absl::Status read_side(const Topology& topology, Side side, End& end, Observed& observed) {
  HOPYARD_ASSIGN_OR_RETURN(const auto links, end.route.links());
  HOPYARD_ASSIGN_OR_RETURN(const auto addresses, end.route.addresses());
  for (const LinkPlan& plan : topology.links) {
    if (plan.side != side) continue;
    HOPYARD_ASSIGN_OR_RETURN(LinkState state, read_link(plan, end, links, addresses));
    observed.links.push_back(std::move(state));
    HOPYARD_ASSIGN_OR_RETURN(const size_t filters, end.qdisc.count_filters(plan.index));
    observed.filters += static_cast<uint32_t>(filters);
  }
  HOPYARD_ASSIGN_OR_RETURN(const auto routes, end.route.routes());
  for (const auto& route : routes) {
    observed.routes.push_back(
        route_line(side, route.destination, route.gateway, link_name(topology, side, route.link)));
  }
  HOPYARD_ASSIGN_OR_RETURN(const auto neighbours, end.route.neighbours());
  for (const auto& neighbour : neighbours) {
    observed.neighbours.push_back(neighbour_line(side, neighbour.address, neighbour.mac,
                                                 link_name(topology, side, neighbour.link),
                                                 neighbour.permanent));
  }
  // The kernel's order is that of a hash over addresses in memory, and says nothing.
  std::sort(observed.neighbours.begin(), observed.neighbours.end());
  return absl::OkStatus();
}

std::vector<std::string_view> recorded_of(Side side) {
  if (side == Side::kRouter) return {"net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"};
  const auto names = recorded_sysctls();
  return {names.begin(), names.end()};
}

}  // namespace

absl::StatusOr<LinkState> read_link(const LinkPlan& plan, End& end,
                                    const std::vector<netlink::LinkInfo>& links,
                                    const std::vector<netlink::AddressInfo>& addresses) {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.index == plan.index; });
  if (found == links.end()) {
    return absl::NotFoundError(fmt::format("read back: {} link {}: gone", side_name(plan.side), plan.name));
  }
  LinkState state{.side = plan.side, .name = found->name, .mac = found->mac, .mtu = found->mtu};
  state.running = found->up && found->running;
  for (const auto& address : addresses) {
    if (address.link != plan.index) continue;
    state.addresses.push_back(address.address + (address.tentative ? " tentative" : ""));
  }
  HOPYARD_ASSIGN_OR_RETURN(const netlink::Offloads offloads, end.ethtool.offloads(found->name));
  state.tso = offloads.tso;
  state.gso = offloads.gso;
  state.gro = offloads.gro;
  return state;
}

absl::Status read_settings_of(Side side, Observed& observed) {
  for (const std::string_view name : recorded_of(side)) {
    auto value = read_sysctl(name);
    if (absl::IsNotFound(value.status())) continue;
    HOPYARD_RETURN_IF_ERROR(value.status());
    observed.sysctls.push_back({fmt::format("{}/{}", side_name(side), name), std::move(value).value()});
  }
  return absl::OkStatus();
}

absl::Status read_network(const Topology& topology, Ends& ends, Observed& observed) {
  for (const Side side : kSides) {
    HOPYARD_RETURN_IF_ERROR(base::annotate(read_side(topology, side, ends[side_index(side)], observed),
                                           "read back path", side_name(side)));
  }
  return absl::OkStatus();
}

absl::Status read_settings(const Ends& ends, Observed& observed) {
  for (const Side side : kSides) {
    HOPYARD_RETURN_IF_ERROR(
        ends[side_index(side)].netns.run([&] { return read_settings_of(side, observed); }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<QdiscSnapshot>> read_qdiscs(const Topology& topology, Ends& ends) {
  std::vector<QdiscSnapshot> out;
  out.reserve(topology.links.size());
  for (const Side side : kSides) {
    const int64_t taken_ns = base::monotonic_ns();
    HOPYARD_ASSIGN_OR_RETURN(auto qdiscs, ends[side_index(side)].qdisc.dump());
    for (const LinkPlan& plan : topology.links) {
      if (plan.side != side) continue;
      const auto root = std::find_if(qdiscs.begin(), qdiscs.end(), [&](const netlink::QdiscInfo& qdisc) {
        return qdisc.link == plan.index && qdisc.parent == kRootParent;
      });
      if (root == qdiscs.end()) {
        return absl::NotFoundError(fmt::format("read qdisc: {} link {}: none", side_name(side), plan.name));
      }
      out.push_back({side, plan.name, taken_ns, std::move(*root)});
    }
  }
  return out;
}

absl::Status compare_network(const Topology& topology, const Observed& observed) {
  const std::vector<std::string> planned = planned_lines(topology);
  const std::vector<std::string> seen = seen_lines(observed);
  std::vector<std::string> missing, unexpected;
  std::set_difference(planned.begin(), planned.end(), seen.begin(), seen.end(), std::back_inserter(missing));
  std::set_difference(seen.begin(), seen.end(), planned.begin(), planned.end(),
                      std::back_inserter(unexpected));
  if (missing.empty() && unexpected.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("read back path: asked for [{}], the kernel has [{}]",
                                                   absl::StrJoin(missing, "; "),
                                                   absl::StrJoin(unexpected, "; ")));
}

}  // namespace hopyard::lab
