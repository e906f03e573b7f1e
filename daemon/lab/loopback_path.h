// SPDX-License-Identifier: Apache-2.0
// The loopback path: client and server in one namespace, netem on its lo, as published work often has it.
// Knows nothing of servers, clients or trials.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/status.h"
#include "lab/namespace.h"
#include "lab/path.h"
#include "lab/side.h"

namespace hopyard::lab {

inline constexpr char kLoopbackAddress[] = "127.0.0.1";
// What lo has where nobody changes it. It is left so: that is what such experiments were made with.
inline constexpr uint32_t kLoopbackMtu = 65536;

// lo keeps its MTU and offloads. A packet passes netem once on its way, whichever it is: half of `rtt` each,
// while rate, queue and random numbers are shared by both directions. There is no fq.
class LoopbackPath {
 public:
  // A fresh namespace with lo up and the server's settings, read back. Not impaired yet: what happens before
  // impair() takes no time and no random numbers. The spec is that of a routed path. Errors as
  // RoutedPath::make.
  static absl::StatusOr<LoopbackPath> make(const RoutedSpec& spec);

  LoopbackPath(LoopbackPath&&) noexcept;
  LoopbackPath& operator=(LoopbackPath&&) noexcept;
  ~LoopbackPath();

  const NetNamespace& in() const;
  // Puts netem on lo and reads it back. Gives what was asked and this kernel cannot do: "netem seed: …".
  absl::StatusOr<std::vector<std::string>> impair();
  // The client's: unconnected TCP (IPv4), non-blocking, close-on-exec, cubic.
  absl::StatusOr<base::Fd> tcp_socket() const;

  // As those of RoutedPath. `end`, client or server: whose socket of the one connection between these ports.
  absl::StatusOr<Observed> observe() const;
  absl::StatusOr<QdiscSnapshot> snapshot_qdisc() const;
  absl::StatusOr<SocketSnapshot> snapshot_connection(Side end, uint16_t client_port,
                                                     uint16_t server_port) const;
  // As RoutedPath::tear_down, for the one namespace.
  absl::StatusOr<bool> tear_down(const base::Deadline& deadline) &&;

 private:
  struct Parts;
  explicit LoopbackPath(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hopyard::lab
