// SPDX-License-Identifier: Apache-2.0
// One side of a path: its namespace and the sockets opened in it beforehand. Knows no topology.
#pragma once

#include "base/status.h"
#include "lab/namespace.h"
#include "netlink/ethtool.h"
#include "netlink/qdisc.h"
#include "netlink/route.h"
#include "netlink/sock_diag.h"

namespace hopyard::lab {

struct End {
  NetNamespace netns;
  netlink::RouteSocket route;
  netlink::QdiscSocket qdisc;
  netlink::SockDiag sockets;
  netlink::EthtoolSocket ethtool;

  static absl::StatusOr<End> make(NetNamespace netns);
};

}  // namespace hopyard::lab
