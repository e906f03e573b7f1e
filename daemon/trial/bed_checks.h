// SPDX-License-Identifier: Apache-2.0
// What must hold of a routed path and its sockets. Pure: what was read back in, checks out.
#pragma once

#include <vector>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "lab/path.h"
#include "trial/check_list.h"

namespace hopyard::trial {

// MTU 1500 less IPv4 and TCP headers with timestamps.
inline constexpr uint64_t kMssBytes = 1448;

// MTU and offloads of all four links, no traffic-control filters.
void check_links(const v1::Environment& environment, CheckList& checks);
// What the case set in the server's namespace, as the kernel has it.
void check_sysctls(const v1::Tcp& tcp, const v1::Environment& environment, CheckList& checks);
// The accepted socket: congestion control and MSS, and that it was seen at all. `server` gets whether it was
// still there at each later request and after the last response.
void check_sockets(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
                   CheckList& server);
// Kinds and options of the four roots, drops where they may be and nowhere else. `qdiscs`: the last snapshot.
void check_qdiscs(const lab::RoutedSpec& asked, const std::vector<lab::QdiscSnapshot>& qdiscs,
                  const v1::Environment& environment, CheckList& checks);

}  // namespace hopyard::trial
