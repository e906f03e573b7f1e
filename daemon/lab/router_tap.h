// SPDX-License-Identifier: Apache-2.0
// Taps on both of a router's links, and what they say of either direction's packets. Knows neither how the
// path was made nor what it is for.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "lab/drops.h"
#include "netlink/packet_tap.h"

namespace hopyard::lab {

enum class Direction { kToServer, kToClient };
inline constexpr std::array kDirections = {Direction::kToServer, Direction::kToClient};

struct RouterTraffic {
  Direction direction;
  uint64_t arrived_packets = 0;
  uint64_t departed_packets = 0;
  uint64_t queue_drops = 0;     // as the direction's queue counted them meanwhile
  uint64_t unseen_packets = 0;  // that a tap had no room for
  std::string incomplete;       // why `dropped` may lack packets or name the wrong ones; empty: it is exact
  std::vector<DroppedPacket> dropped;
};

class RouterTap {
 public:
  // Of the queue through which a direction's packets leave the router.
  struct Queue {
    uint64_t drops = 0;
    uint64_t backlog_packets = 0;
  };
  using Queues = std::array<Queue, 2>;  // by Direction
  using ReadQueues = std::function<absl::StatusOr<Queues>()>;

  // Opened inside the router's namespace, by link index; `room` packets for each link. Errors as
  // PacketTap::open.
  static absl::StatusOr<RouterTap> open(int link_to_client, int link_to_server, uint32_t room,
                                        const ReadQueues& read);

  // Waits until both queues are empty and as many packets are missing as they dropped, or for the deadline;
  // then tells of all packets since opening.
  absl::StatusOr<std::vector<RouterTraffic>> collect(const ReadQueues& read, const base::Deadline& deadline);

 private:
  struct Seen {
    std::vector<Sighting> arrived;
    std::vector<Sighting> departed;
  };
  RouterTap(netlink::PacketTap to_client, netlink::PacketTap to_server, Queues at_opening)
      : to_client_(std::move(to_client)), to_server_(std::move(to_server)), at_opening_(at_opening) {}

  Seen& seen(Direction direction) { return seen_[static_cast<size_t>(direction)]; }
  void drain();
  bool agrees(const Queues& now);
  absl::Status wait_for_packet(const base::Deadline& deadline);
  absl::StatusOr<Queues> settle(const ReadQueues& read, const base::Deadline& deadline);
  RouterTraffic traffic(Direction direction, const Queues& now, uint64_t unseen);

  netlink::PacketTap to_client_;
  netlink::PacketTap to_server_;
  Queues at_opening_;
  std::array<Seen, 2> seen_;
};

}  // namespace hopyard::lab
