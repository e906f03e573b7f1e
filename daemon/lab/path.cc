// SPDX-License-Identifier: Apache-2.0
// Makes, watches and ends routed paths. The order of steps is here; what each one sets is in its own file.
#include "lab/path.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "fmt/format.h"
#include "lab/impairment.h"
#include "lab/link_up.h"
#include "lab/readback.h"
#include "lab/settings.h"
#include "lab/sysctl.h"
#include "lab/topology.h"
#include "netlink/route.h"

namespace hopyard::lab {
namespace {

constexpr std::chrono::seconds kCarrierTime(5);
constexpr char kIpv6Settings[] = "/proc/sys/net/ipv6";

constexpr char kNoIpv6[] = "IPv6: this kernel has none (the module ipv6 is not loaded)";

absl::Status add_veth(End& from, End& to, const LinkPlan& endpoint, const LinkPlan& router) {
  netlink::RouteBatch batch;
  batch.add_veth({.name = endpoint.name, .index = endpoint.index, .mac = endpoint.mac, .mtu = kMtu},
                 {.name = router.name,
                  .netns_fd = to.netns.fd(),
                  .index = router.index,
                  .mac = router.mac,
                  .mtu = kMtu});
  return base::annotate(from.route.run(batch), "make links", endpoint.name);
}

absl::Status make_links(const Topology& topology, Ends& ends) {
  End& router = ends[side_index(Side::kRouter)];
  HOPYARD_RETURN_IF_ERROR(add_veth(ends[side_index(Side::kClient)], router, topology.links[kClientLink],
                                   topology.links[kRouterToClient]));
  HOPYARD_RETURN_IF_ERROR(add_veth(ends[side_index(Side::kServer)], router, topology.links[kServerLink],
                                   topology.links[kRouterToServer]));
  for (const LinkPlan& link : topology.links) {
    HOPYARD_RETURN_IF_ERROR(ends[side_index(link.side)].ethtool.set_offloads(
        link.name, {.tso = false, .gso = false, .gro = false}));
  }
  return absl::OkStatus();
}

// Links, then what needs them up.
absl::Status add_addresses(const Topology& topology, Side side, End& end) {
  netlink::RouteBatch batch;
  for (const LinkPlan& link : topology.links) {
    if (link.side != side) continue;
    for (const std::string& address : link.addresses) batch.add_address(link.index, address);
  }
  for (const NeighbourPlan& neighbour : topology.neighbours) {
    const LinkPlan& link = topology.links[neighbour.link];
    if (link.side == side) batch.add_neighbour(link.index, neighbour.address, neighbour.mac);
  }
  for (const RoutePlan& route : topology.routes) {
    const LinkPlan& link = topology.links[route.link];
    if (link.side != side || route.gateway.empty()) continue;
    batch.add_route({.destination = route.destination, .gateway = route.gateway, .link = link.index});
  }
  return base::annotate(end.route.run(batch), "set addresses", side_name(side));
}

struct RisingSide {
  LinkEvents events;
  std::vector<int> links;
};

absl::StatusOr<RisingSide> bring_up_side(const Topology& topology, Side side, const End& end) {
  return end.netns.run([&]() -> absl::StatusOr<RisingSide> {
    HOPYARD_ASSIGN_OR_RETURN(LinkEvents events, LinkEvents::open());
    RisingSide rising{std::move(events), {}};
    HOPYARD_RETURN_IF_ERROR(bring_up_silently("lo"));
    for (const LinkPlan& link : topology.links) {
      if (link.side != side) continue;
      HOPYARD_RETURN_IF_ERROR(bring_up_silently(link.name));
      rising.links.push_back(link.index);
    }
    return rising;
  });
}

absl::Status bring_up(const Topology& topology, Ends& ends) {
  std::vector<RisingSide> rising;
  for (const Side side : kSides) {
    HOPYARD_ASSIGN_OR_RETURN(RisingSide one, bring_up_side(topology, side, ends[side_index(side)]));
    rising.push_back(std::move(one));
  }
  for (const Side side : kSides) {
    HOPYARD_RETURN_IF_ERROR(add_addresses(topology, side, ends[side_index(side)]));
  }
  const base::Deadline deadline(kCarrierTime);
  for (const Side side : kSides) {
    RisingSide& one = rising[side_index(side)];
    HOPYARD_RETURN_IF_ERROR(one.events.wait_running(ends[side_index(side)].route, one.links, deadline));
  }
  return absl::OkStatus();
}

// A closed socket whose data or FIN nobody answers would hold its namespace for minutes of retransmissions.
absl::Status hurry_orphans(const End& end) {
  return end.netns.run([] { return write_sysctl("net.ipv4.tcp_orphan_retries", "1"); });
}

// Whether a socket is there that waits for an answer; those that only wait for time to pass hold no
// namespace.
absl::StatusOr<bool> is_talking(End& end) {
  constexpr uint32_t kWaitingForTheOther = 1u << TCP_ESTABLISHED | 1u << TCP_SYN_SENT | 1u << TCP_SYN_RECV |
                                           1u << TCP_FIN_WAIT1 | 1u << TCP_CLOSE_WAIT | 1u << TCP_LAST_ACK |
                                           1u << TCP_CLOSING;
  netlink::SocketFilter filter;
  filter.states = kWaitingForTheOther;
  HOPYARD_ASSIGN_OR_RETURN(const auto sockets, end.sockets.dump(filter));
  return !sockets.empty();
}

absl::StatusOr<bool> wait_gone(netlink::NamespaceWatch& watch, const base::Deadline& deadline) {
  const absl::Status gone = watch.wait_all_gone(deadline);
  if (absl::IsDeadlineExceeded(gone)) return false;
  HOPYARD_RETURN_IF_ERROR(gone);
  return true;
}

}  // namespace

struct RoutedPath::Parts {
  RoutedSpec spec;
  Topology topology;
  Ends ends;                          // by side_index()
  netlink::NamespaceWatch endpoints;  // watched apart, since the router may have to outlive them
  netlink::NamespaceWatch router;
  std::vector<std::string> unsupported;
  std::optional<RouterTap> tap;

  static absl::StatusOr<std::unique_ptr<Parts>> make(const RoutedSpec& spec);
  absl::Status set_up();
  absl::Status check();
  absl::Status open_tap();
  RouterTap::ReadQueues read_queues();
  End& end(Side side) { return ends[side_index(side)]; }
};

absl::StatusOr<std::unique_ptr<RoutedPath::Parts>> RoutedPath::Parts::make(const RoutedSpec& spec) {
  HOPYARD_ASSIGN_OR_RETURN(const uint32_t number, next_path_number());
  HOPYARD_ASSIGN_OR_RETURN(auto endpoints, netlink::NamespaceWatch::open());
  HOPYARD_ASSIGN_OR_RETURN(auto router, netlink::NamespaceWatch::open());
  std::vector<End> ends;
  for (const Side side : kSides) {
    HOPYARD_ASSIGN_OR_RETURN(NetNamespace netns, NetNamespace::make());
    auto& watch = side == Side::kRouter ? router : endpoints;
    HOPYARD_RETURN_IF_ERROR(
        base::annotate(watch.add(netns.fd()).status(), "watch namespace", side_name(side)));
    HOPYARD_ASSIGN_OR_RETURN(End end, End::make(std::move(netns)));
    ends.push_back(std::move(end));
  }
  const bool ipv6 = ::access(kIpv6Settings, F_OK) == 0;
  std::vector<std::string> unsupported = {kNoTcpMem};
  if (!ipv6) unsupported.emplace_back(kNoIpv6);
  return std::make_unique<Parts>(Parts{
      spec, plan_topology(number, ipv6), Ends{std::move(ends[0]), std::move(ends[1]), std::move(ends[2])},
      std::move(endpoints), std::move(router), std::move(unsupported), std::nullopt});
}

absl::Status RoutedPath::Parts::set_up() {
  const bool ipv6 = topology.links[kClientLink].addresses.size() > 1;
  for (const Side side : kSides) {
    HOPYARD_RETURN_IF_ERROR(
        end(side).netns.run([&] { return apply_settings(side, spec, ipv6, unsupported); }));
  }
  HOPYARD_RETURN_IF_ERROR(make_links(topology, ends));
  HOPYARD_RETURN_IF_ERROR(bring_up(topology, ends));
  if (spec.qdiscs) HOPYARD_RETURN_IF_ERROR(add_qdiscs(topology, spec, ends));
  return spec.tap_packets > 0 ? open_tap() : absl::OkStatus();
}

RouterTap::ReadQueues RoutedPath::Parts::read_queues() {
  return [this]() -> absl::StatusOr<RouterTap::Queues> {
    RouterTap::Queues queues;
    if (!spec.qdiscs) return queues;
    HOPYARD_ASSIGN_OR_RETURN(const auto seen, read_qdiscs(topology, ends));
    const auto queue = [&seen](LinkSlot slot) {
      return RouterTap::Queue{.drops = seen[slot].qdisc.drops,
                              .backlog_packets = seen[slot].qdisc.backlog_packets};
    };
    queues[static_cast<size_t>(Direction::kToServer)] = queue(kRouterToServer);
    queues[static_cast<size_t>(Direction::kToClient)] = queue(kRouterToClient);
    return queues;
  };
}

// A path without a list is still the path that was asked for.
absl::Status RoutedPath::Parts::open_tap() {
  auto opened = end(Side::kRouter).netns.run([&] {
    return RouterTap::open(topology.links[kRouterToClient].index, topology.links[kRouterToServer].index,
                           spec.tap_packets, read_queues());
  });
  if (absl::IsUnimplemented(opened.status()) || absl::IsPermissionDenied(opened.status())) {
    unsupported.push_back(fmt::format("{}: {}", kNoDropList, std::string(opened.status().message())));
    return absl::OkStatus();
  }
  HOPYARD_RETURN_IF_ERROR(opened.status());
  tap.emplace(*std::move(opened));
  return absl::OkStatus();
}

absl::Status RoutedPath::Parts::check() {
  Observed observed;
  HOPYARD_RETURN_IF_ERROR(read_network(topology, ends, observed));
  HOPYARD_RETURN_IF_ERROR(compare_network(topology, observed));
  if (!spec.qdiscs) return absl::OkStatus();
  HOPYARD_ASSIGN_OR_RETURN(const auto qdiscs, read_qdiscs(topology, ends));
  return compare_qdiscs(topology, spec, qdiscs, unsupported);
}

RoutedPath::RoutedPath(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RoutedPath::RoutedPath(RoutedPath&&) noexcept = default;
RoutedPath& RoutedPath::operator=(RoutedPath&&) noexcept = default;
RoutedPath::~RoutedPath() = default;

absl::StatusOr<RoutedPath> RoutedPath::make(const RoutedSpec& spec) {
  HOPYARD_RETURN_IF_ERROR(check_impairment(spec));
  HOPYARD_RETURN_IF_ERROR(check_settings(spec));
  HOPYARD_ASSIGN_OR_RETURN(auto parts, Parts::make(spec));
  HOPYARD_RETURN_IF_ERROR(parts->set_up());
  HOPYARD_RETURN_IF_ERROR(parts->check());
  return RoutedPath(std::move(parts));
}

const NetNamespace& RoutedPath::in(Side side) const { return parts_->end(side).netns; }

absl::StatusOr<base::Fd> RoutedPath::tcp_socket(Side side) const {
  return in(side).run([&]() -> absl::StatusOr<base::Fd> {
    base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return base::errno_status("open TCP socket", side_name(side));
    if (side == Side::kClient) HOPYARD_RETURN_IF_ERROR(set_client_congestion_control(fd.get()));
    return fd;
  });
}

absl::StatusOr<Observed> RoutedPath::observe() const {
  Observed observed;
  HOPYARD_RETURN_IF_ERROR(read_network(parts_->topology, parts_->ends, observed));
  HOPYARD_RETURN_IF_ERROR(read_settings(parts_->ends, observed));
  observed.unsupported = parts_->unsupported;
  return observed;
}

absl::StatusOr<std::vector<QdiscSnapshot>> RoutedPath::snapshot_qdiscs() const {
  return read_qdiscs(parts_->topology, parts_->ends);
}

absl::StatusOr<SocketSnapshot> RoutedPath::snapshot_connection(Side endpoint, uint16_t client_port,
                                                               uint16_t server_port) const {
  const std::string client = fmt::format("{}:{}", kClientAddress, client_port);
  const std::string server = fmt::format("{}:{}", kServerAddress, server_port);
  const bool at_server = endpoint == Side::kServer;
  netlink::SockDiag& socket = parts_->end(endpoint).sockets;
  const int64_t taken_ns = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(auto found, socket.find(at_server ? server : client, at_server ? client : server));
  return SocketSnapshot{endpoint, taken_ns, std::move(found)};
}

absl::StatusOr<std::vector<RouterTraffic>> RoutedPath::router_traffic(const base::Deadline& deadline) const {
  if (!parts_->tap) return std::vector<RouterTraffic>{};
  return parts_->tap->collect(parts_->read_queues(), deadline);
}

absl::StatusOr<bool> RoutedPath::tear_down(const base::Deadline& deadline) && {
  const std::unique_ptr<Parts> parts = std::move(parts_);
  parts->tap.reset();
  bool talking = false;
  for (const Side side : {Side::kClient, Side::kServer}) {
    HOPYARD_RETURN_IF_ERROR(hurry_orphans(parts->end(side)));
    HOPYARD_ASSIGN_OR_RETURN(const bool one, is_talking(parts->end(side)));
    talking = talking || one;
  }
  // What is said last can arrive only while there is a router. Otherwise all go at once: the kernel then
  // takes them apart together, and the router need not wait until it is done with the endpoints.
  std::optional<End> router;
  if (talking) router.emplace(std::move(parts->end(Side::kRouter)));
  { const Ends dropped = std::move(parts->ends); }
  HOPYARD_ASSIGN_OR_RETURN(const bool endpoints_gone, wait_gone(parts->endpoints, deadline));
  if (!endpoints_gone) return false;
  router.reset();
  return wait_gone(parts->router, deadline);
}

}  // namespace hopyard::lab
