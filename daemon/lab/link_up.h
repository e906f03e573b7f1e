// SPDX-License-Identifier: Apache-2.0
// Brings links up so that they stay silent, and waits until they can carry packets. Knows links by name and
// number only.
#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/status.h"
#include "netlink/route.h"

namespace hopyard::lab {

// In the calling thread's namespace: the link goes up without address resolution (IFF_NOARP). So the kernel
// never sends ARP, neighbour or router solicitations on it, and joins no solicited-node group that it would
// have to report: those packets would take random numbers and queue places from netem at random times. lo
// goes up by the same call.
absl::Status bring_up_silently(const std::string& link);

// Tells when links change in the namespace its opener was in. Open it before they go up.
class LinkEvents {
 public:
  static absl::StatusOr<LinkEvents> open();
  // Until every one of `links` (indexes) runs: the kernel reports carrier to a link that was up before its
  // peer on its own time. DEADLINE_EXCEEDED names the one that does not.
  absl::Status wait_running(netlink::RouteSocket& route, std::span<const int> links,
                            const base::Deadline& deadline);

 private:
  explicit LinkEvents(base::Fd fd) : fd_(std::move(fd)) {}
  absl::Status wait_event(const base::Deadline& deadline);
  base::Fd fd_;
};

}  // namespace hopyard::lab
