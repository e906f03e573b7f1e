// SPDX-License-Identifier: Apache-2.0
// TCP sockets as the kernel reports them over sock_diag (libmnl): everything `ss -tinm` shows. Knows no
// trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink {

// Bits of SocketFilter::states: 1 << the kernel's state number.
inline constexpr uint32_t kEstablished = 1u << 1;
inline constexpr uint32_t kListening = 1u << 10;
inline constexpr uint32_t kAllStates = 0xffe;
// As `ss` shows without -a: all but listening, closed, waiting and half-open ones.
inline constexpr uint32_t kConnectedStates = kAllStates & ~(kListening | 1u << 7 | 1u << 6 | 1u << 3);

struct SocketFilter {
  std::optional<uint16_t> local_port;
  std::optional<uint16_t> remote_port;
  uint32_t states = kConnectedStates;
  bool ipv4 = true;
  bool ipv6 = true;
};

struct SocketValue {
  std::string_view name;  // static text
  uint64_t value;
};

struct SocketInfo {
  std::string local;   // "192.0.2.1:443", "[2001:db8:2::1]:443"
  std::string remote;  // as local
  std::string state;   // as ss names it: "ESTAB", "LISTEN", "FIN-WAIT-1", …
  uint32_t uid = 0;
  uint32_t inode = 0;
  std::string congestion_control;  // "cubic"; empty if not reported
  // A name is there only if the kernel reported it:
  //  rqueue, wqueue (bytes); timer (0 none, 1 retransmit, 2 keepalive, 3 time-wait, 4 window probe),
  //  timer_expires_ms, timer_retrans;
  //  tcpi_*: the members of struct tcp_info by name and in its units, as many as this kernel has;
  //  skmem_rmem_alloc, _rcvbuf, _wmem_alloc, _sndbuf, _fwd_alloc, _wmem_queued, _optmem, _backlog, _drops;
  //  bbr_bw (byte/s), bbr_min_rtt (us), bbr_pacing_gain, bbr_cwnd_gain (256 is 1); vegas' tcpv_*, dctcp_*;
  //  tos, tclass, shutdown, class_id, mark, v6only.
  std::vector<SocketValue> values;

  std::optional<uint64_t> value(std::string_view name) const;
};

// A NETLINK_SOCK_DIAG socket of the network namespace its opener was in; usable from anywhere later, by one
// thread at a time.
class SockDiag {
 public:
  static absl::StatusOr<SockDiag> open();
  // Every socket that matches. The kernel walks its whole connection table for this, whoever owns the
  // entries: 0.1 to 1 ms on large machines.
  absl::StatusOr<std::vector<SocketInfo>> dump(const SocketFilter& filter);
  // The connection between two endpoints, written as in SocketInfo, in some 10 us: for snapshots in a
  // measured window. NOT_FOUND if there is none.
  absl::StatusOr<SocketInfo> find(std::string_view local, std::string_view remote);

 private:
  explicit SockDiag(base::Fd fd);
  base::Fd fd_;
  uint32_t sequence_ = 0;
  std::vector<char> buffer_;
};

}  // namespace hopyard::netlink
