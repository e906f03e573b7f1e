// SPDX-License-Identifier: Apache-2.0
// Builds route requests as bytes with libnl; sends nothing.
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/inet6.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/route.h>

#include "fmt/format.h"
#include "netlink/nl_owner.h"
#include "netlink/route.h"

namespace hopyard::netlink {
namespace {

std::string link_text(int link) { return fmt::format("link {}", link); }

std::string route_text(const Route& route) {
  std::string text = route.destination;
  if (!route.gateway.empty()) text += " via " + route.gateway;
  return text + " on " + link_text(route.link);
}

// A link object that names an existing link by its index.
NlLink link_object(int index) {
  NlLink link(rtnl_link_alloc());
  rtnl_link_set_ifindex(link.get(), index);
  return link;
}

// 0, or libnl's error. `family` AF_UNSPEC takes either IP family.
int parse_address(const std::string& text, int family, NlAddress& address) {
  nl_addr* parsed = nullptr;
  const int error = nl_addr_parse(text.c_str(), family, &parsed);
  address.reset(parsed);
  if (error < 0) return error;
  const int got = nl_addr_get_family(parsed);
  if (family == AF_UNSPEC && got != AF_INET && got != AF_INET6) return -NLE_AF_NOSUPPORT;
  return 0;
}

int describe_end(rtnl_link* link, const VethEnd& end) {
  if (end.name.empty() || end.name.size() >= IFNAMSIZ) return -NLE_INVAL;
  rtnl_link_set_name(link, end.name.c_str());
  if (end.netns_fd >= 0) rtnl_link_set_ns_fd(link, end.netns_fd);
  if (end.index > 0) rtnl_link_set_ifindex(link, end.index);
  if (end.mtu > 0) rtnl_link_set_mtu(link, end.mtu);
  if (end.mac.empty()) return 0;
  NlAddress mac;
  if (const int error = parse_address(end.mac, AF_LLC, mac); error < 0) return error;
  rtnl_link_set_addr(link, mac.get());
  return 0;
}

int build_veth(const VethEnd& a, const VethEnd& b, nl_msg** message) {
  NlLink link(rtnl_link_veth_alloc());
  if (!link) return -NLE_NOMEM;
  NlLink peer(rtnl_link_veth_get_peer(link.get()));
  if (const int error = describe_end(link.get(), a); error < 0) return error;
  if (const int error = describe_end(peer.get(), b); error < 0) return error;
  return rtnl_link_build_add_request(link.get(), NLM_F_CREATE | NLM_F_EXCL, message);
}

int fill_address(rtnl_addr* object, int link, const std::string& text) {
  NlAddress local;
  if (const int error = parse_address(text, AF_UNSPEC, local); error < 0) return error;
  rtnl_addr_set_ifindex(object, link);
  if (const int error = rtnl_addr_set_local(object, local.get()); error < 0) return error;
  if (nl_addr_get_family(local.get()) == AF_INET6) rtnl_addr_set_flags(object, IFA_F_NODAD);
  return 0;
}

int fill_route(rtnl_route* object, const Route& route) {
  NlAddress gateway;
  NlAddress destination;
  int family = AF_UNSPEC;
  if (!route.gateway.empty()) {
    if (const int error = parse_address(route.gateway, AF_UNSPEC, gateway); error < 0) return error;
    family = nl_addr_get_family(gateway.get());
  } else if (route.destination == "default") {
    return -NLE_INVAL;  // of which family?
  }
  if (const int error = parse_address(route.destination, family, destination); error < 0) return error;
  rtnl_route_set_family(object, static_cast<uint8_t>(nl_addr_get_family(destination.get())));
  rtnl_route_set_protocol(object, RTPROT_BOOT);
  rtnl_route_set_table(object, RT_TABLE_MAIN);
  rtnl_route_set_scope(object, gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK);
  if (const int error = rtnl_route_set_dst(object, destination.get()); error < 0) return error;
  rtnl_nexthop* hop = rtnl_route_nh_alloc();
  if (hop == nullptr) return -NLE_NOMEM;
  rtnl_route_nh_set_ifindex(hop, route.link);
  if (gateway) rtnl_route_nh_set_gateway(hop, gateway.get());
  rtnl_route_add_nexthop(object, hop);  // the route owns it now
  return 0;
}

int build_netns_id(int netns_fd, int id, nl_msg** message) {
  NlMessage built(nlmsg_alloc_simple(RTM_NEWNSID, 0));
  if (!built) return -NLE_NOMEM;
  rtgenmsg general{};
  general.rtgen_family = AF_UNSPEC;
  int error = nlmsg_append(built.get(), &general, sizeof general, NLMSG_ALIGNTO);
  if (error >= 0) error = nla_put_s32(built.get(), NETNSA_NSID, id);
  if (error >= 0) error = nla_put_u32(built.get(), NETNSA_FD, static_cast<uint32_t>(netns_fd));
  if (error >= 0) *message = built.release();
  return error;
}

}  // namespace

RouteBatch& RouteBatch::push(std::string attempt, std::string object, int error, nl_msg* message) {
  const NlMessage owner(message);
  if (error < 0 || message == nullptr) {
    if (error_.ok()) {
      error_ = absl::InvalidArgumentError(fmt::format("{}: {}: {}", attempt, object, nl_geterror(error)));
    }
    return *this;
  }
  nlmsghdr* header = nlmsg_hdr(message);
  header->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
  const auto* bytes = reinterpret_cast<const uint8_t*>(header);
  requests_.push_back({std::move(attempt), std::move(object), {bytes, bytes + header->nlmsg_len}});
  return *this;
}

RouteBatch& RouteBatch::add_veth(const VethEnd& a, const VethEnd& b) {
  nl_msg* message = nullptr;
  const int error = build_veth(a, b, &message);
  return push("add veth pair", fmt::format("{} and {}", a.name, b.name), error, message);
}

RouteBatch& RouteBatch::delete_link(int link) {
  nl_msg* message = nullptr;
  const int error = rtnl_link_build_delete_request(link_object(link).get(), &message);
  return push("delete link", link_text(link), error, message);
}

RouteBatch& RouteBatch::set_up(int link) {
  const NlLink changes(rtnl_link_alloc());
  rtnl_link_set_flags(changes.get(), IFF_UP);
  nl_msg* message = nullptr;
  const int error = rtnl_link_build_change_request(link_object(link).get(), changes.get(), 0, &message);
  return push("set up", link_text(link), error, message);
}

RouteBatch& RouteBatch::add_address(int link, const std::string& address) {
  const NlAddr object(rtnl_addr_alloc());
  nl_msg* message = nullptr;
  int error = fill_address(object.get(), link, address);
  if (error >= 0) {
    error = rtnl_addr_build_add_request(object.get(), NLM_F_CREATE | NLM_F_EXCL, &message);
  }
  return push("add address " + address, link_text(link), error, message);
}

RouteBatch& RouteBatch::add_neighbour(int link, const std::string& address, const std::string& mac) {
  const NlNeighbour object(rtnl_neigh_alloc());
  NlAddress ip;
  NlAddress lladdr;
  nl_msg* message = nullptr;
  int error = parse_address(address, AF_UNSPEC, ip);
  if (error >= 0) error = parse_address(mac, AF_LLC, lladdr);
  if (error >= 0) {
    rtnl_neigh_set_ifindex(object.get(), link);
    rtnl_neigh_set_dst(object.get(), ip.get());
    rtnl_neigh_set_lladdr(object.get(), lladdr.get());
    rtnl_neigh_set_state(object.get(), NUD_PERMANENT);
    error = rtnl_neigh_build_add_request(object.get(), NLM_F_CREATE | NLM_F_REPLACE, &message);
  }
  return push("add neighbour", fmt::format("{} at {} on {}", address, mac, link_text(link)), error, message);
}

RouteBatch& RouteBatch::add_route(const Route& route) {
  const NlRoute object(rtnl_route_alloc());
  nl_msg* message = nullptr;
  int error = fill_route(object.get(), route);
  if (error >= 0) {
    error = rtnl_route_build_add_request(object.get(), NLM_F_CREATE | NLM_F_EXCL, &message);
  }
  return push("add route", route_text(route), error, message);
}

RouteBatch& RouteBatch::assign_netns_id(int netns_fd, int id) {
  nl_msg* message = nullptr;
  const int error = build_netns_id(netns_fd, id, &message);
  return push("assign namespace id", fmt::format("{} to fd {}", id, netns_fd), error, message);
}

}  // namespace hopyard::netlink
