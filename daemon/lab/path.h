// SPDX-License-Identifier: Apache-2.0
// The routed path: client — veth — router — veth — server, made, read back, watched and taken down. Knows
// nothing of servers, clients or trials.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/status.h"
#include "lab/namespace.h"
#include "lab/router_tap.h"
#include "lab/side.h"
#include "netlink/qdisc.h"
#include "netlink/sock_diag.h"

namespace hopyard::lab {

// Fixed addresses, since every path has namespaces of its own.
inline constexpr char kClientAddress[] = "198.51.100.1";
inline constexpr char kServerAddress[] = "192.0.2.1";
inline constexpr char kClientAddressV6[] = "2001:db8:1::1";
inline constexpr char kServerAddressV6[] = "2001:db8:2::1";

// What is asked of a path. Rate, loss and limit hold for each direction by itself.
struct RoutedSpec {
  std::chrono::nanoseconds rtt{0};  // half of it at each router egress
  uint64_t rate_bps = 0;            // bit/s, a multiple of 8 (netem counts bytes); 0: unlimited
  double loss = 0;                  // random, a fraction of 1
  uint32_t limit_packets = 1000;    // netem's queue, packets in flight through the delay included
  // netem's random numbers: client to server uses `seed`, server to client `seed + 1`.
  std::optional<uint64_t> seed;
  // The server's namespace only. Absent: the kernel's default, to be seen in Observed.
  std::optional<std::string> congestion_control;
  std::optional<uint64_t> notsent_lowat_bytes;
  // Packets that taps at the router have room for, on each link; 0: no taps. Both directions' packets pass
  // each link, and are read only by router_traffic().
  uint32_t tap_packets = 0;
  // false: no fq and no netem anywhere; for kernels without them, in tests and benchmarks. Nothing that only
  // netem can do may then be asked.
  bool qdiscs = true;
};

struct Setting {
  std::string name;  // "server/net.ipv4.tcp_ecn"
  std::string value;
};

struct LinkState {
  Side side;
  std::string name;
  std::string mac;
  uint32_t mtu = 0;
  bool running = false;                // up, with carrier
  std::vector<std::string> addresses;  // with prefix length: "198.51.100.1/24"
  bool tso = false;
  bool gso = false;
  bool gro = false;
};

// How the entries of Observed::unsupported that others look for begin.
inline constexpr std::string_view kNoSeed = "netem seed";
inline constexpr std::string_view kNoDropList = "list of drops";

// The path as the kernel has it.
struct Observed {
  std::vector<LinkState> links;          // client, router towards client, router towards server, server
  std::vector<std::string> routes;       // "client default via 198.51.100.254 dev client1"
  std::vector<std::string> neighbours;   // "client 198.51.100.254 lladdr 02:… dev client1 PERMANENT"
  std::vector<Setting> sysctls;          // both endpoints, and the router's forwarding
  uint32_t filters = 0;                  // traffic-control filters on the path's links
  std::vector<std::string> unsupported;  // what was asked and this kernel cannot do: "netem seed: …"
};

struct QdiscSnapshot {
  Side side;
  std::string link;
  int64_t taken_ns = 0;  // CLOCK_MONOTONIC, just before the kernel was asked
  netlink::QdiscInfo qdisc;
};

struct SocketSnapshot {
  Side side;
  int64_t taken_ns = 0;  // CLOCK_MONOTONIC, just before the kernel was asked
  netlink::SocketInfo socket;
};

// Dropping a path without tear_down() leaves its end to the kernel and waits for nothing.
class RoutedPath {
 public:
  // Fresh namespaces with everything set, read back and compared. The caller must be root of its user and
  // network namespace. Errors name what differs or was refused: INVALID_ARGUMENT for a spec no kernel could
  // serve, FAILED_PRECONDITION where this kernel lacks a part (fq, netem, the congestion control) or read
  // back other values.
  static absl::StatusOr<RoutedPath> make(const RoutedSpec& spec);

  RoutedPath(RoutedPath&&) noexcept;
  RoutedPath& operator=(RoutedPath&&) noexcept;
  ~RoutedPath();

  const NetNamespace& in(Side side) const;
  // An unconnected TCP socket (IPv4), non-blocking and close-on-exec, made inside that namespace; the
  // client's has cubic whatever the machine's default is.
  absl::StatusOr<base::Fd> tcp_socket(Side side) const;

  // All of it as it is now. Takes milliseconds: not for a measured window.
  absl::StatusOr<Observed> observe() const;
  // The roots of all four links, in Observed's order, over sockets opened by make(): nothing is opened or
  // forked.
  absl::StatusOr<std::vector<QdiscSnapshot>> snapshot_qdiscs() const;
  // One connection's socket at an endpoint, by the ports of an IPv4 connection between client and server;
  // some 10 us. NOT_FOUND if there is none. Opens nothing.
  absl::StatusOr<SocketSnapshot> snapshot_connection(Side endpoint, uint16_t client_port,
                                                     uint16_t server_port) const;

  // Every packet since make() that came to the router and did not leave it, by direction, once its queues are
  // empty or at the deadline; a second call tells the same and more. Empty if there are no taps: none were
  // asked for, or this kernel has none, which Observed::unsupported then says.
  absl::StatusOr<std::vector<RouterTraffic>> router_traffic(const base::Deadline& deadline) const;

  // Ends the path. What closed sockets still have to say to each other is let through. True once the kernel
  // has reported all three namespaces destroyed; false if it had not by the deadline: something still holds
  // one. Sockets made inside (tcp_socket) must be closed and processes be gone.
  absl::StatusOr<bool> tear_down(const base::Deadline& deadline) &&;

 private:
  struct Parts;
  explicit RoutedPath(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hopyard::lab
