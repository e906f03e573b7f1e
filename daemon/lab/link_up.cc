// SPDX-License-Identifier: Apache-2.0
// Link flags by ioctl, link events by rtnetlink's multicast group.
#include "lab/link_up.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "fmt/format.h"

namespace hopyard::lab {

absl::Status bring_up_silently(const std::string& link) {
  const base::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return base::errno_status("open", "socket for link flags");
  ifreq request = {};
  if (link.size() >= sizeof request.ifr_name) {
    return absl::InvalidArgumentError(fmt::format("bring up: {}: name longer than 15 characters", link));
  }
  std::memcpy(request.ifr_name, link.data(), link.size());
  if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return base::errno_status("read flags", link);
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_NOARP);
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &request) != 0) return base::errno_status("bring up", link);
  return absl::OkStatus();
}

absl::StatusOr<LinkEvents> LinkEvents::open() {
  base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  if (!fd.valid()) return base::errno_status("open", "netlink socket for link events");
  sockaddr_nl address = {};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return base::errno_status("subscribe", "link events");
  }
  return LinkEvents(std::move(fd));
}

absl::Status LinkEvents::wait_event(const base::Deadline& deadline) {
  pollfd waited = {fd_.get(), POLLIN, 0};
  if (::poll(&waited, 1, deadline.poll_ms()) < 0 && errno != EINTR)
    return base::errno_status("poll", "link events");
  // What happened is read from the links themselves; an overrun (ENOBUFS) is an event like any other.
  char event[8192];
  while (::recv(fd_.get(), event, sizeof event, 0) > 0) {
  }
  return absl::OkStatus();
}

absl::Status LinkEvents::wait_running(netlink::RouteSocket& route, std::span<const int> links,
                                      const base::Deadline& deadline) {
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const auto seen, route.links());
    const auto late = std::find_if(seen.begin(), seen.end(), [&](const netlink::LinkInfo& link) {
      return !link.running && std::find(links.begin(), links.end(), link.index) != links.end();
    });
    if (late == seen.end()) return absl::OkStatus();
    if (deadline.passed()) {
      return absl::DeadlineExceededError(fmt::format("wait for carrier: {}: none in time", late->name));
    }
    HOPYARD_RETURN_IF_ERROR(wait_event(deadline));
  }
}

}  // namespace hopyard::lab
