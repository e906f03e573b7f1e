// SPDX-License-Identifier: Apache-2.0
// Sets the loopback link of a fresh namespace up.
#include "lab/loopback.h"

#include "netlink/route.h"

namespace hopyard::lab {

absl::StatusOr<NetNamespace> make_loopback_namespace() {
  constexpr int kLoopbackIndex = 1;
  HOPYARD_ASSIGN_OR_RETURN(NetNamespace ns, NetNamespace::make());
  HOPYARD_RETURN_IF_ERROR(ns.run([]() -> absl::Status {
    HOPYARD_ASSIGN_OR_RETURN(netlink::RouteSocket socket, netlink::RouteSocket::open());
    netlink::RouteBatch batch;
    batch.set_up(kLoopbackIndex);
    return socket.run(batch);
  }));
  return ns;
}

}  // namespace hopyard::lab
