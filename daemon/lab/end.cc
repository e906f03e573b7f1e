// SPDX-License-Identifier: Apache-2.0
// Opens the sockets of a side inside its namespace.
#include "lab/end.h"

namespace hopyard::lab {

absl::StatusOr<End> End::make(NetNamespace netns) {
  HOPYARD_ASSIGN_OR_RETURN(const NamespaceVisit visit, NamespaceVisit::enter(netns.fd()));
  HOPYARD_ASSIGN_OR_RETURN(auto route, netlink::RouteSocket::open());
  HOPYARD_ASSIGN_OR_RETURN(auto qdisc, netlink::QdiscSocket::open());
  HOPYARD_ASSIGN_OR_RETURN(auto sockets, netlink::SockDiag::open());
  HOPYARD_ASSIGN_OR_RETURN(auto ethtool, netlink::EthtoolSocket::open());
  return End{std::move(netns), std::move(route), std::move(qdisc), std::move(sockets), std::move(ethtool)};
}

}  // namespace hopyard::lab
