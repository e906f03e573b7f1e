// SPDX-License-Identifier: Apache-2.0
// What must hold of a routed or loopback path and its sockets. Pure: what was read back in, checks out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "lab/path.h"
#include "trial/check_list.h"

namespace hopyard::trial {

// What the accepted socket may say at any snapshot.
struct Mss {
  uint64_t least_bytes;
  uint64_t most_bytes;
};
// MTU 1500 less IPv4 and TCP headers with timestamps.
inline constexpr Mss kMss = {1448, 1448};
// On lo IPv4's 65535 less the same, but while the peer's window is small TCP takes half of that.
inline constexpr Mss kLoopbackMss = {32768, 65483};

// MTU and offloads of all four links, no traffic-control filters.
void check_links(const v1::Environment& environment, CheckList& checks);
// lo as the kernel makes it: its MTU, TSO and GSO on, no filters.
void check_loopback_link(const v1::Environment& environment, CheckList& checks);
// What the case set in the server's namespace, as the kernel has it, and what every endpoint's has. `sides`:
// the endpoints, the server's last.
void check_sysctls(const v1::Tcp& tcp, const std::vector<std::string>& sides,
                   const v1::Environment& environment, CheckList& checks);
// The accepted socket: congestion control and MSS, and that it was seen at all. `server` gets whether it was
// still there at each later request and after the last response.
void check_sockets(const v1::TrialSpec& spec, const v1::TrialResult& result, Mss mss_range, CheckList& bed,
                   CheckList& server);
// Kinds and options of the four roots, drops where they may be and nowhere else. `qdiscs`: the last snapshot.
void check_qdiscs(const lab::RoutedSpec& asked, const std::vector<lab::QdiscSnapshot>& qdiscs,
                  const v1::Environment& environment, CheckList& checks);

// The same for the one at lo's root. Nothing: no snapshot was taken.
void check_loopback_qdisc(const lab::RoutedSpec& asked, const std::optional<lab::QdiscSnapshot>& qdisc,
                          const v1::Environment& environment, CheckList& checks);

// "drops_listed to_server" and "drops_listed to_client": as many packets are listed as netem dropped. A list
// that says itself that it is incomplete is recorded, not judged; one that does not and is of another length
// means that packets were lost otherwise than asked.
void check_drops(const v1::TrialResult& result, CheckList& checks);

}  // namespace hopyard::trial
