// SPDX-License-Identifier: Apache-2.0
// fq at the endpoints, netem at the router's egresses, or netem alone on a loopback: set and compared. Knows
// no addresses.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "lab/path.h"
#include "lab/readback.h"
#include "lab/topology.h"

namespace hopyard::lab {

// INVALID_ARGUMENT for what no kernel could do, or what only qdiscs can do when there shall be none.
absl::Status check_impairment(const RoutedSpec& spec);

// FAILED_PRECONDITION if this kernel has no fq or no netem.
absl::Status add_qdiscs(const Topology& topology, const RoutedSpec& spec, Ends& ends);

// Against the spec. A seed this kernel's netem does not know is added to `unsupported`; any other difference
// is FAILED_PRECONDITION and names link, option and both values.
absl::Status compare_qdiscs(const Topology& topology, const RoutedSpec& spec,
                            const std::vector<QdiscSnapshot>& seen, std::vector<std::string>& unsupported);

// The one netem of a loopback path, which every packet of either direction passes: half of the round trip,
// and the spec's seed.
netlink::NetemOptions loopback_options(const RoutedSpec& spec);
// As compare_qdiscs, for that one.
absl::Status compare_loopback_qdisc(const RoutedSpec& spec, const QdiscSnapshot& seen,
                                    std::vector<std::string>& unsupported);

}  // namespace hopyard::lab
