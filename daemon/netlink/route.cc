// SPDX-License-Identifier: Apache-2.0
// Sends route batches and reads links, addresses, routes and neighbours back.
#include "netlink/route.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include <algorithm>

#include "fmt/format.h"
#include "netlink/nl_owner.h"
#include "netlink/wire.h"

namespace hopyard::netlink {
namespace {

// Requests sent in one system call: their acks, about a kilobyte of kernel memory each, must fit into the
// socket's receive buffer together.
constexpr size_t kRequestsPerSend = 64;

absl::StatusCode code_of(int nl_error) {
  switch (nl_error < 0 ? -nl_error : nl_error) {
    case NLE_OBJ_NOTFOUND:
    case NLE_NODEV:
      return absl::StatusCode::kNotFound;
    case NLE_PERM:
    case NLE_NOACCESS:
      return absl::StatusCode::kPermissionDenied;
    case NLE_DUMP_INTR:
      return absl::StatusCode::kAborted;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status nl_status(std::string_view attempt, std::string_view object, int nl_error) {
  return absl::Status(code_of(nl_error), fmt::format("{}: {}: {}", attempt, object, nl_geterror(nl_error)));
}

std::string ip_text(nl_addr* address) {
  char text[INET6_ADDRSTRLEN];
  const int family = nl_addr_get_family(address);
  if (::inet_ntop(family, nl_addr_get_binary_addr(address), text, sizeof text) == nullptr) return "";
  return text;
}

std::string mac_text(nl_addr* address) {
  if (address == nullptr || nl_addr_get_len(address) == 0) return "";
  char text[64];
  return nl_addr2str(address, text, sizeof text);
}

// Calls `visit` for each object of a full dump; `allocate` is one of libnl's cache allocators. A dump that
// the kernel calls inconsistent is made again.
template <typename Object, typename Allocate, typename Visit>
absl::Status for_each_object(const char* what, Allocate allocate, Visit visit) {
  nl_cache* raw = nullptr;
  int error = allocate(&raw);
  for (int again = 0; error == -NLE_DUMP_INTR && again < 3; ++again) error = allocate(&raw);
  if (error < 0) return nl_status("list", what, error);
  const NlCache cache(raw);
  for (nl_object* object = nl_cache_get_first(raw); object != nullptr; object = nl_cache_get_next(object)) {
    visit(reinterpret_cast<Object*>(object));
  }
  return absl::OkStatus();
}

LinkInfo link_info(rtnl_link* link) {
  LinkInfo info;
  info.index = rtnl_link_get_ifindex(link);
  info.name = rtnl_link_get_name(link);
  info.mac = mac_text(rtnl_link_get_addr(link));
  info.mtu = rtnl_link_get_mtu(link);
  info.up = (rtnl_link_get_flags(link) & IFF_UP) != 0;
  info.running = (rtnl_link_get_flags(link) & IFF_RUNNING) != 0;
  return info;
}

AddressInfo address_info(rtnl_addr* address) {
  const unsigned flags = rtnl_addr_get_flags(address);
  AddressInfo info;
  info.link = rtnl_addr_get_ifindex(address);
  info.address =
      fmt::format("{}/{}", ip_text(rtnl_addr_get_local(address)), rtnl_addr_get_prefixlen(address));
  info.tentative = (flags & IFA_F_TENTATIVE) != 0;
  info.no_dad = (flags & IFA_F_NODAD) != 0;
  return info;
}

// Nothing for entries the kernel keeps for itself.
std::optional<RouteInfo> route_info(rtnl_route* route) {
  if (rtnl_route_get_table(route) != RT_TABLE_MAIN || rtnl_route_get_type(route) != RTN_UNICAST) return {};
  nl_addr* destination = rtnl_route_get_dst(route);
  RouteInfo info;
  info.ipv6 = rtnl_route_get_family(route) == AF_INET6;
  info.protocol = rtnl_route_get_protocol(route);
  if (destination == nullptr || nl_addr_get_prefixlen(destination) == 0) {
    info.destination = "default";
  } else {
    info.destination = fmt::format("{}/{}", ip_text(destination), nl_addr_get_prefixlen(destination));
  }
  if (rtnl_nexthop* hop = rtnl_route_nexthop_n(route, 0); hop != nullptr) {
    info.link = rtnl_route_nh_get_ifindex(hop);
    nl_addr* gateway = rtnl_route_nh_get_gateway(hop);
    if (gateway != nullptr) info.gateway = ip_text(gateway);
  }
  return info;
}

std::optional<NeighbourInfo> neighbour_info(rtnl_neigh* neighbour) {
  const int state = rtnl_neigh_get_state(neighbour);
  const int family = rtnl_neigh_get_family(neighbour);
  if ((state & NUD_NOARP) != 0 || (family != AF_INET && family != AF_INET6)) return {};
  NeighbourInfo info;
  info.link = rtnl_neigh_get_ifindex(neighbour);
  info.address = ip_text(rtnl_neigh_get_dst(neighbour));
  info.mac = mac_text(rtnl_neigh_get_lladdr(neighbour));
  info.permanent = (state & NUD_PERMANENT) != 0;
  return info;
}

}  // namespace

void RouteSocket::Free::operator()(nl_sock* socket) const noexcept { nl_socket_free(socket); }

absl::StatusOr<RouteSocket> RouteSocket::open() {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd requests, wire::open_socket(NETLINK_ROUTE));
  RouteSocket socket(nl_socket_alloc(), std::move(requests));
  if (socket.reads_ == nullptr) return absl::ResourceExhaustedError("open: route socket: no memory");
  const int error = nl_connect(socket.reads_.get(), NETLINK_ROUTE);  // libnl opens it CLOEXEC
  if (error < 0) return nl_status("open", "route socket", error);
  return socket;
}

absl::Status RouteSocket::run_part(const RouteBatch& batch, size_t first, size_t last,
                                   absl::Status& failure) {
  std::vector<uint8_t> sending;
  const uint32_t number = sequence_ + 1;
  for (size_t i = first; i < last; ++i) {
    const size_t at = sending.size();
    sending.insert(sending.end(), batch.requests_[i].message.begin(), batch.requests_[i].message.end());
    sending.resize(NLMSG_ALIGN(sending.size()));
    nlmsghdr header = *wire::read<nlmsghdr>(batch.requests_[i].message);
    header.nlmsg_seq = ++sequence_;
    std::memcpy(sending.data() + at, &header, sizeof header);
  }
  HOPYARD_RETURN_IF_ERROR(wire::send(requests_.get(), sending));
  for (size_t waiting = last - first; waiting > 0;) {
    HOPYARD_ASSIGN_OR_RETURN(const wire::Bytes datagram, wire::receive(requests_.get(), buffer_));
    wire::for_each_message(datagram, [&](const nlmsghdr& header, wire::Bytes payload) {
      const size_t index = first + (header.nlmsg_seq - number);
      if (header.nlmsg_type != NLMSG_ERROR || index >= last) return;  // left over from a part given up
      --waiting;
      const RouteBatch::Request& request = batch.requests_[index];
      const absl::Status status = wire::error_of(header.nlmsg_flags, payload);
      if (failure.ok()) failure = base::annotate(status, request.attempt, request.object);
    });
  }
  return absl::OkStatus();
}

absl::Status RouteSocket::run(const RouteBatch& batch) {
  HOPYARD_RETURN_IF_ERROR(batch.error_);
  absl::Status failure;
  for (size_t first = 0; first < batch.requests_.size(); first += kRequestsPerSend) {
    const size_t last = std::min(first + kRequestsPerSend, batch.requests_.size());
    HOPYARD_RETURN_IF_ERROR(run_part(batch, first, last, failure));
  }
  return failure;
}

absl::StatusOr<int> RouteSocket::link_index(const std::string& name) {
  rtnl_link* found = nullptr;
  const int error = rtnl_link_get_kernel(reads_.get(), 0, name.c_str(), &found);
  if (error < 0) return nl_status("find link", name, error);
  const NlLink link(found);
  return rtnl_link_get_ifindex(found);
}

absl::StatusOr<std::vector<LinkInfo>> RouteSocket::links() {
  std::vector<LinkInfo> links;
  HOPYARD_RETURN_IF_ERROR(for_each_object<rtnl_link>(
      "links", [this](nl_cache** cache) { return rtnl_link_alloc_cache(reads_.get(), AF_UNSPEC, cache); },
      [&links](rtnl_link* link) { links.push_back(link_info(link)); }));
  return links;
}

absl::StatusOr<std::vector<AddressInfo>> RouteSocket::addresses() {
  std::vector<AddressInfo> addresses;
  HOPYARD_RETURN_IF_ERROR(for_each_object<rtnl_addr>(
      "addresses", [this](nl_cache** cache) { return rtnl_addr_alloc_cache(reads_.get(), cache); },
      [&addresses](rtnl_addr* address) { addresses.push_back(address_info(address)); }));
  return addresses;
}

absl::StatusOr<std::vector<RouteInfo>> RouteSocket::routes() {
  std::vector<RouteInfo> routes;
  HOPYARD_RETURN_IF_ERROR(for_each_object<rtnl_route>(
      "routes",
      [this](nl_cache** cache) { return rtnl_route_alloc_cache(reads_.get(), AF_UNSPEC, 0, cache); },
      [&routes](rtnl_route* route) {
        if (auto info = route_info(route)) routes.push_back(*std::move(info));
      }));
  return routes;
}

absl::StatusOr<std::vector<NeighbourInfo>> RouteSocket::neighbours() {
  std::vector<NeighbourInfo> neighbours;
  HOPYARD_RETURN_IF_ERROR(for_each_object<rtnl_neigh>(
      "neighbours", [this](nl_cache** cache) { return rtnl_neigh_alloc_cache(reads_.get(), cache); },
      [&neighbours](rtnl_neigh* neighbour) {
        if (auto info = neighbour_info(neighbour)) neighbours.push_back(*std::move(info));
      }));
  return neighbours;
}

}  // namespace hopyard::netlink
