// SPDX-License-Identifier: Apache-2.0
// Reads a path back from the kernel and says where it differs from the plan. Changes nothing.
#pragma once

#include <array>
#include <vector>

#include "base/status.h"
#include "lab/end.h"
#include "lab/path.h"
#include "lab/topology.h"

namespace hopyard::lab {

using Ends = std::array<End, 3>;  // by side_index()

// Links, addresses, offloads, routes, neighbours and filters.
absl::Status read_network(const Topology& topology, Ends& ends, Observed& observed);
// Settings of both endpoints and the router's forwarding; those the kernel does not show there are left out.
absl::Status read_settings(const Ends& ends, Observed& observed);
// One link with its addresses and offloads, of all that `links` and `addresses` hold of its namespace.
absl::StatusOr<LinkState> read_link(const LinkPlan& plan, End& end,
                                    const std::vector<netlink::LinkInfo>& links,
                                    const std::vector<netlink::AddressInfo>& addresses);
// Settings of the calling thread's namespace, which is that of `side`.
absl::Status read_settings_of(Side side, Observed& observed);
// The root qdiscs of all four links, in the topology's order.
absl::StatusOr<std::vector<QdiscSnapshot>> read_qdiscs(const Topology& topology, Ends& ends);

// FAILED_PRECONDITION names every line that is missing or should not be there.
absl::Status compare_network(const Topology& topology, const Observed& observed);

}  // namespace hopyard::lab
