// SPDX-License-Identifier: Apache-2.0
// Sorts what the taps see by direction, and waits for the router to have nothing in hand.
#include "lab/router_tap.h"

#include <poll.h>

#include "absl/strings/str_join.h"
#include "fmt/format.h"

namespace hopyard::lab {
namespace {

constexpr Direction other(Direction direction) {
  return direction == Direction::kToClient ? Direction::kToServer : Direction::kToClient;
}

Sighting sighting_of(const netlink::TappedPacket& packet) {
  return {.seen_ns = packet.seen_ns,
          .bytes = packet.bytes,
          .head = std::string(packet.head.begin(), packet.head.end())};
}

}  // namespace

absl::StatusOr<RouterTap> RouterTap::open(int link_to_client, int link_to_server, uint32_t room,
                                          const ReadQueues& read) {
  HOPYARD_ASSIGN_OR_RETURN(auto to_client, netlink::PacketTap::open(link_to_client, room));
  HOPYARD_ASSIGN_OR_RETURN(auto to_server, netlink::PacketTap::open(link_to_server, room));
  HOPYARD_ASSIGN_OR_RETURN(const Queues at_opening, read());
  return RouterTap(std::move(to_client), std::move(to_server), at_opening);
}

// What leaves by a link goes its way; what comes in by it goes the other.
void RouterTap::drain() {
  const auto sort = [this](Direction way) {
    return [this, way](const netlink::TappedPacket& packet) {
      auto& into = packet.outgoing ? seen(way).departed : seen(other(way)).arrived;
      into.push_back(sighting_of(packet));
    };
  };
  to_client_.drain(sort(Direction::kToClient));
  to_server_.drain(sort(Direction::kToServer));
}

bool RouterTap::agrees(const Queues& now) {
  for (const Direction direction : kDirections) {
    const auto i = static_cast<size_t>(direction);
    const uint64_t dropped = now[i].drops - at_opening_[i].drops;
    if (now[i].backlog_packets != 0) return false;
    if (seen_[i].arrived.size() != seen_[i].departed.size() + dropped) return false;
  }
  return true;
}

absl::Status RouterTap::wait_for_packet(const base::Deadline& deadline) {
  pollfd taps[] = {{to_client_.fd(), POLLIN, 0}, {to_server_.fd(), POLLIN, 0}};
  if (::poll(taps, std::size(taps), deadline.poll_ms()) >= 0 || errno == EINTR) return absl::OkStatus();
  return base::errno_status("wait for", "packets at the router");
}

// A queue's counters and the taps cannot be read at one instant: what came between is read again.
absl::StatusOr<RouterTap::Queues> RouterTap::settle(const ReadQueues& read, const base::Deadline& deadline) {
  while (true) {
    const bool last = deadline.passed();
    HOPYARD_ASSIGN_OR_RETURN(const Queues now, read());
    drain();
    if (last || agrees(now)) return now;
    HOPYARD_RETURN_IF_ERROR(wait_for_packet(deadline));
  }
}

RouterTraffic RouterTap::traffic(Direction direction, const Queues& now, uint64_t unseen_packets) {
  const auto i = static_cast<size_t>(direction);
  const Seen& packets = seen_[i];
  Matched matched = find_drops(packets.arrived, packets.departed);
  RouterTraffic out{.direction = direction,
                    .arrived_packets = packets.arrived.size(),
                    .departed_packets = packets.departed.size(),
                    .queue_drops = now[i].drops - at_opening_[i].drops,
                    .unseen_packets = unseen_packets};
  out.dropped = std::move(matched.dropped);
  std::vector<std::string> reasons;
  if (unseen_packets > 0)
    reasons.push_back(fmt::format("the taps had no room for {} packets", unseen_packets));
  if (now[i].backlog_packets > 0)
    reasons.push_back(fmt::format("{} packets were still in the queue", now[i].backlog_packets));
  if (matched.unexplained > 0)
    reasons.push_back(fmt::format("{} packets left that had not come so", matched.unexplained));
  if (matched.doubtful > 0)
    reasons.push_back(fmt::format("{} packets have a twin that left", matched.doubtful));
  if (to_client_.clock_was_set())
    reasons.emplace_back("the wall clock was set meanwhile: the times are wrong");
  out.incomplete = absl::StrJoin(reasons, "; ");
  return out;
}

absl::StatusOr<std::vector<RouterTraffic>> RouterTap::collect(const ReadQueues& read,
                                                              const base::Deadline& deadline) {
  HOPYARD_ASSIGN_OR_RETURN(const Queues now, settle(read, deadline));
  // Either tap sees both directions.
  HOPYARD_ASSIGN_OR_RETURN(const uint64_t at_client, to_client_.unseen());
  HOPYARD_ASSIGN_OR_RETURN(const uint64_t at_server, to_server_.unseen());
  std::vector<RouterTraffic> out;
  for (const Direction direction : kDirections) out.push_back(traffic(direction, now, at_client + at_server));
  return out;
}

}  // namespace hopyard::lab
