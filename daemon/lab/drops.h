// SPDX-License-Identifier: Apache-2.0
// Which packets came to a router and did not leave it. Pure: what two taps saw in, the list out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hopyard::lab {

// A packet as a tap saw it at one of the router's links.
struct Sighting {
  int64_t seen_ns = 0;
  uint32_t bytes = 0;  // the whole packet, from its network header on
  std::string head;    // its first bytes, as sent
};

struct DroppedPacket {
  uint32_t ordinal = 0;    // among the direction's packets, from 1
  int64_t arrived_ns = 0;  // CLOCK_MONOTONIC
  uint32_t ip_protocol = 0;
  uint32_t ip_bytes = 0;
  // 0 unless it is TCP.
  uint8_t flags = 0;
  uint64_t sequence = 0;  // counted on from the direction's SYN, which has 0; never wraps
  uint32_t payload_bytes = 0;
  bool repeated = false;  // all its bytes (or its SYN, its FIN) had come before
};

struct Matched {
  std::vector<DroppedPacket> dropped;  // in the order in which they came
  uint64_t unexplained = 0;            // packets that left and had not come like that
  // Listed packets that have a twin which left: contents cannot tell which of them was dropped, and the last
  // are listed.
  uint64_t doubtful = 0;
};

// One direction's packets in the order in which each tap saw them. A packet is known again by its headers,
// less what a router and netem may change in them: hop count, congestion marks, checksums. Packets may leave
// in another order, twice or changed.
Matched find_drops(std::span<const Sighting> arrived, std::span<const Sighting> departed);

}  // namespace hopyard::lab
