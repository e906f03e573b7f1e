// SPDX-License-Identifier: Apache-2.0
// SIOCETHTOOL with the single-feature commands that predate the feature bitmaps.
#include "netlink/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "fmt/format.h"

namespace hopyard::netlink {
namespace {

struct Feature {
  const char* name;
  bool Offloads::*member;
  uint32_t get;
  uint32_t set;
};
constexpr Feature kFeatures[] = {
    {"tso", &Offloads::tso, ETHTOOL_GTSO, ETHTOOL_STSO},
    {"gso", &Offloads::gso, ETHTOOL_GGSO, ETHTOOL_SGSO},
    {"gro", &Offloads::gro, ETHTOOL_GGRO, ETHTOOL_SGRO},
};

absl::Status command(int fd, const std::string& link, const char* attempt, ethtool_value& value) {
  ifreq request{};
  if (link.empty() || link.size() >= sizeof request.ifr_name) {
    return absl::InvalidArgumentError(fmt::format("{}: {}: not a link name", attempt, link));
  }
  std::memcpy(request.ifr_name, link.data(), link.size());
  request.ifr_data = reinterpret_cast<char*>(&value);
  if (::ioctl(fd, SIOCETHTOOL, &request) != 0) return base::errno_status(attempt, link);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EthtoolSocket> EthtoolSocket::open() {
  base::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return base::errno_status("open", "socket for ethtool");
  return EthtoolSocket(std::move(fd));
}

absl::Status EthtoolSocket::set_offloads(const std::string& link, const Offloads& wanted) {
  for (const Feature& feature : kFeatures) {
    ethtool_value value{feature.set, wanted.*feature.member};
    HOPYARD_RETURN_IF_ERROR(command(fd_.get(), link, fmt::format("set {}", feature.name).c_str(), value));
  }
  return absl::OkStatus();
}

absl::StatusOr<Offloads> EthtoolSocket::offloads(const std::string& link) const {
  Offloads seen;
  for (const Feature& feature : kFeatures) {
    ethtool_value value{feature.get, 0};
    HOPYARD_RETURN_IF_ERROR(command(fd_.get(), link, fmt::format("read {}", feature.name).c_str(), value));
    seen.*feature.member = value.data != 0;
  }
  return seen;
}

}  // namespace hopyard::netlink
