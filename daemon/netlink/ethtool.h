// SPDX-License-Identifier: Apache-2.0
// Segmentation offloads by the classic ethtool ioctls, which every kernel has. Knows links by name only.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink {

struct Offloads {
  // TCP over IPv4 and IPv6. The variant for accurate ECN (Linux 6.18) is out of the ioctls' reach; without
  // gso it does nothing.
  bool tso = false;
  bool gso = false;
  bool gro = false;

  bool operator==(const Offloads&) const = default;
};

// A socket of the network namespace its opener was in; usable from anywhere later.
class EthtoolSocket {
 public:
  static absl::StatusOr<EthtoolSocket> open();
  absl::Status set_offloads(const std::string& link, const Offloads& wanted);
  absl::StatusOr<Offloads> offloads(const std::string& link) const;

 private:
  explicit EthtoolSocket(base::Fd fd) : fd_(std::move(fd)) {}
  base::Fd fd_;
};

}  // namespace hopyard::netlink
