// SPDX-License-Identifier: Apache-2.0
// AF_PACKET with TPACKET_V2: every kernel has it, and a frame is ready the moment its packet passes.
#include "netlink/packet_tap.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "fmt/format.h"

namespace hopyard::netlink {
namespace {

constexpr uint32_t align(uint32_t bytes) { return TPACKET_ALIGN(bytes); }
// As af_packet lays a frame out where there is no link header: its own header and address, sixteen bytes
// kept for a link header, the packet.
constexpr uint32_t kFrameBytes = align(align(TPACKET2_HDRLEN) + 16 + PacketTap::kHeadBytes);
// One page: where larger blocks were mapped, a small User-Mode Linux kernel (6.12, SLUB_TINY) soon found its
// slabs damaged and stopped.
constexpr uint32_t kBlockBytes = 1u << 12;
constexpr uint32_t kFramesPerBlock = kBlockBytes / kFrameBytes;
static_assert(kFrameBytes == 208);

constexpr int64_t kClockStepNs = 1'000'000;

template <typename Value>
absl::Status set_option(int fd, int name, const Value& value, const char* what) {
  if (::setsockopt(fd, SOL_PACKET, name, &value, sizeof value) == 0) return absl::OkStatus();
  return base::errno_status("set up packet tap", what);
}

// IPv4 and IPv6, cut to the headers.
absl::Status attach_filter(int fd) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, static_cast<uint32_t>(SKF_AD_OFF) + SKF_AD_PROTOCOL),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, PacketTap::kHeadBytes),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog filter = {.len = std::size(program), .filter = program};
  if (::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0) return absl::OkStatus();
  return base::errno_status("set up packet tap", "filter");
}

// All of the link's packets, those that leave too: only ETH_P_ALL shows them.
absl::Status bind_to(int fd, int link) {
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = link;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return absl::OkStatus();
  return base::errno_status("set up packet tap", fmt::format("link {}", link));
}

// CLOCK_REALTIME less CLOCK_MONOTONIC. The narrowest of some readings: between two of them the thread may
// have had to wait.
int64_t wall_offset_ns() {
  int64_t offset = 0;
  int64_t narrowest = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const int64_t before = base::monotonic_ns();
    const int64_t wall = base::unix_ns();
    const int64_t after = base::monotonic_ns();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    offset = wall - (before + narrowest / 2);
  }
  return offset;
}

}  // namespace

absl::StatusOr<PacketTap> PacketTap::open(int link, uint32_t room) {
  // No protocol: nothing comes before the ring and the filter are there.
  base::Fd fd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() && errno == EAFNOSUPPORT)
    return absl::UnimplementedError("open packet tap: this kernel has no packet sockets");
  if (!fd.valid()) return base::errno_status("open", "packet tap");
  HOPYARD_RETURN_IF_ERROR(attach_filter(fd.get()));
  HOPYARD_RETURN_IF_ERROR(set_option(fd.get(), PACKET_VERSION, int{TPACKET_V2}, "version"));
  tpacket_req ring = {};
  ring.tp_block_size = kBlockBytes;
  ring.tp_block_nr = (room + kFramesPerBlock - 1) / kFramesPerBlock;
  ring.tp_frame_size = kFrameBytes;
  ring.tp_frame_nr = ring.tp_block_nr * kFramesPerBlock;
  HOPYARD_RETURN_IF_ERROR(set_option(fd.get(), PACKET_RX_RING, ring, "ring"));
  const size_t bytes = size_t{kBlockBytes} * ring.tp_block_nr;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return base::errno_status("map", "ring of a packet tap");
  PacketTap tap(std::move(fd),
                Ring{.memory = static_cast<uint8_t*>(memory), .bytes = bytes, .frames = ring.tp_frame_nr},
                wall_offset_ns());
  HOPYARD_RETURN_IF_ERROR(bind_to(tap.fd(), link));
  return tap;
}

PacketTap::PacketTap(PacketTap&& other) noexcept
    : fd_(std::move(other.fd_)),
      ring_(std::exchange(other.ring_, Ring{})),
      wall_offset_ns_(other.wall_offset_ns_),
      unseen_(other.unseen_) {}

PacketTap::~PacketTap() {
  if (ring_.memory != nullptr) ::munmap(ring_.memory, ring_.bytes);
}

uint8_t* PacketTap::frame(uint32_t number) const {
  return ring_.memory + size_t{number / kFramesPerBlock} * kBlockBytes +
         size_t{number % kFramesPerBlock} * kFrameBytes;
}

void PacketTap::drain(const std::function<void(const TappedPacket&)>& take) {
  const int64_t offset_ns = wall_offset_ns();
  while (true) {
    uint8_t* const at = frame(ring_.next);
    auto* const header = reinterpret_cast<tpacket2_hdr*>(at);
    // The kernel's word that the rest of the frame is written; ours below that it may be written again.
    const std::atomic_ref<uint32_t> status(header->tp_status);
    if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) return;
    sockaddr_ll address;
    std::memcpy(&address, at + align(sizeof(tpacket2_hdr)), sizeof address);
    const int64_t wall_ns = int64_t{header->tp_sec} * 1'000'000'000 + header->tp_nsec;
    take({.outgoing = address.sll_pkttype == PACKET_OUTGOING,
          .seen_ns = wall_ns - offset_ns,
          .bytes = header->tp_len,
          .head = {at + header->tp_net, header->tp_snaplen}});
    status.store(TP_STATUS_KERNEL, std::memory_order_release);
    ring_.next = (ring_.next + 1) % ring_.frames;
  }
}

absl::StatusOr<uint64_t> PacketTap::unseen() {
  tpacket_stats counted = {};  // since it was last read
  socklen_t length = sizeof counted;
  if (::getsockopt(fd_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &length) != 0)
    return base::errno_status("read counters of", "packet tap");
  return unseen_ += counted.tp_drops;
}

bool PacketTap::clock_was_set() const {
  const int64_t step_ns = wall_offset_ns() - wall_offset_ns_;
  return step_ns > kClockStepNs || step_ns < -kClockStepNs;
}

}  // namespace hopyard::netlink
