// SPDX-License-Identifier: Apache-2.0
// One owner for each kind of libnl object; the only put and free calls of the room. Private to it.
#pragma once

#include <netlink/addr.h>
#include <netlink/cache.h>
#include <netlink/msg.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/route.h>

#include <memory>

namespace hopyard::netlink {

template <auto kPut>
struct NlPut {
  template <typename T>
  void operator()(T* object) const noexcept {
    kPut(object);
  }
};

using NlMessage = std::unique_ptr<nl_msg, NlPut<nlmsg_free>>;
using NlCache = std::unique_ptr<nl_cache, NlPut<nl_cache_free>>;
using NlAddress = std::unique_ptr<nl_addr, NlPut<nl_addr_put>>;
using NlLink = std::unique_ptr<rtnl_link, NlPut<rtnl_link_put>>;
using NlAddr = std::unique_ptr<rtnl_addr, NlPut<rtnl_addr_put>>;
using NlNeighbour = std::unique_ptr<rtnl_neigh, NlPut<rtnl_neigh_put>>;
using NlRoute = std::unique_ptr<rtnl_route, NlPut<rtnl_route_put>>;

}  // namespace hopyard::netlink
