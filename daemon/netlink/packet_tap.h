// SPDX-License-Identifier: Apache-2.0
// Watches one link's packets come and go, through a ring shared with the kernel. Reads headers, changes
// nothing, and knows no protocol above the network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink {

struct TappedPacket {
  bool outgoing = false;          // it left by the link, after the link's queue; else it came in by it
  int64_t seen_ns = 0;            // CLOCK_MONOTONIC
  uint32_t bytes = 0;             // from the network header on
  std::span<const uint8_t> head;  // as much of that as is kept; valid only while it is handed over
};

// A packet socket of the network namespace its opener was in; usable from anywhere later. While it is open
// the namespace lives.
class PacketTap {
 public:
  // Room for the longest headers of IPv4 and TCP.
  static constexpr uint32_t kHeadBytes = 120;

  // IPv4 and IPv6 packets of the link from now on. So many as `room` may wait to be read, some 216 bytes of
  // the kernel's memory each. UNIMPLEMENTED: the kernel has no packet sockets.
  static absl::StatusOr<PacketTap> open(int link, uint32_t room);

  PacketTap(PacketTap&& other) noexcept;
  PacketTap& operator=(PacketTap&&) = delete;
  ~PacketTap();

  // Hands over what waits, oldest first. Does not block.
  void drain(const std::function<void(const TappedPacket&)>& take);
  // Packets since opening that there was no room for.
  absl::StatusOr<uint64_t> unseen();
  // The machine's wall clock, which the kernel stamps packets with, was set since opening: times are wrong.
  bool clock_was_set() const;
  int fd() const { return fd_.get(); }  // readable while a packet waits

 private:
  struct Ring {
    uint8_t* memory = nullptr;
    size_t bytes = 0;
    uint32_t frames = 0;
    uint32_t next = 0;  // the frame that will be filled next
  };
  PacketTap(base::Fd fd, Ring ring, int64_t wall_offset_ns)
      : fd_(std::move(fd)), ring_(ring), wall_offset_ns_(wall_offset_ns) {}
  uint8_t* frame(uint32_t number) const;

  base::Fd fd_;
  Ring ring_;
  int64_t wall_offset_ns_;  // CLOCK_REALTIME less CLOCK_MONOTONIC, at opening
  uint64_t unseen_ = 0;
};

}  // namespace hopyard::netlink
