// SPDX-License-Identifier: Apache-2.0
// Namespace ids: asked for, and followed until the kernel withdraws them.
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "netlink/route.h"
#include "netlink/wire.h"

namespace hopyard::netlink {
namespace {

// The id in a RTM_NEWNSID or RTM_DELNSID payload; -1 (not assigned) if there is none.
int id_in(wire::Bytes payload) {
  int id = NETNSA_NSID_NOT_ASSIGNED;
  const size_t header = NLMSG_ALIGN(sizeof(rtgenmsg));
  if (payload.size() < header) return id;
  wire::for_each_attribute(payload.subspan(header), [&id](uint16_t type, wire::Bytes value) {
    if (type == NETNSA_NSID) id = wire::read<int>(value).value_or(id);
  });
  return id;
}

}  // namespace

absl::StatusOr<int> RouteSocket::netns_id(int netns_fd) {
  wire::Request request(RTM_GETNSID, NLM_F_ACK);
  request.extra<rtgenmsg>();
  mnl_attr_put_u32(request.header(), NETNSA_FD, static_cast<uint32_t>(netns_fd));
  request.header()->nlmsg_seq = ++sequence_;
  int id = NETNSA_NSID_NOT_ASSIGNED;
  const auto status = wire::exchange(requests_.get(), request.bytes(), buffer_,
                                     [&id](uint16_t, wire::Bytes payload) { id = id_in(payload); });
  const std::string object = fmt::format("fd {}", netns_fd);
  if (!status.ok()) return base::annotate(status, "find namespace id", object);
  if (id < 0) return absl::NotFoundError(fmt::format("find namespace id: {}: none assigned", object));
  return id;
}

absl::StatusOr<std::vector<int>> RouteSocket::netns_ids() {
  wire::Request request(RTM_GETNSID, NLM_F_DUMP);
  request.extra<rtgenmsg>();
  request.header()->nlmsg_seq = ++sequence_;
  std::vector<int> ids;
  HOPYARD_RETURN_IF_ERROR(
      base::annotate(wire::exchange(requests_.get(), request.bytes(), buffer_,
                                    [&ids](uint16_t, wire::Bytes payload) { ids.push_back(id_in(payload)); }),
                     "list", "namespace ids"));
  return ids;
}

absl::StatusOr<NamespaceWatch> NamespaceWatch::open() {
  HOPYARD_ASSIGN_OR_RETURN(RouteSocket requests, RouteSocket::open());
  HOPYARD_ASSIGN_OR_RETURN(base::Fd events, wire::open_socket(NETLINK_ROUTE));
  const int group = RTNLGRP_NSID;
  if (::setsockopt(events.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) != 0 ||
      ::fcntl(events.get(), F_SETFL, O_NONBLOCK) != 0) {
    return base::errno_status("watch", "namespace ids");
  }
  return NamespaceWatch(std::move(requests), std::move(events));
}

absl::StatusOr<int> NamespaceWatch::add(int netns_fd) {
  // A namespace that has an id keeps it: links between two namespaces give them ids too.
  const absl::Status assigned = requests_.run(RouteBatch().assign_netns_id(netns_fd, -1));
  if (!assigned.ok() && !absl::IsAlreadyExists(assigned)) return assigned;
  HOPYARD_ASSIGN_OR_RETURN(const int id, requests_.netns_id(netns_fd));
  // What has come by now may be the end of an earlier bearer of this id; this one lives, its fd is open.
  HOPYARD_RETURN_IF_ERROR(read_events());
  watched_[id] = false;
  return id;
}

absl::Status NamespaceWatch::read_events() {
  while (true) {
    const auto datagram = wire::receive(events_.get(), buffer_);
    if (absl::IsUnavailable(datagram.status())) return absl::OkStatus();
    if (absl::IsResourceExhausted(datagram.status())) {  // ENOBUFS
      HOPYARD_RETURN_IF_ERROR(recount());
      continue;
    }
    HOPYARD_RETURN_IF_ERROR(datagram.status());
    wire::for_each_message(*datagram, [this](const nlmsghdr& header, wire::Bytes payload) {
      const auto watched = watched_.find(id_in(payload));
      if (header.nlmsg_type == RTM_DELNSID && watched != watched_.end()) watched->second = true;
    });
  }
}

absl::Status NamespaceWatch::recount() {
  HOPYARD_ASSIGN_OR_RETURN(const std::vector<int> alive, requests_.netns_ids());
  for (auto& [id, ended] : watched_) {
    if (std::find(alive.begin(), alive.end(), id) == alive.end()) ended = true;
  }
  return absl::OkStatus();
}

absl::Status NamespaceWatch::wait_all_gone(const base::Deadline& deadline) {
  while (true) {
    HOPYARD_RETURN_IF_ERROR(read_events());
    std::erase_if(watched_, [](const auto& entry) { return entry.second; });
    if (watched_.empty()) return absl::OkStatus();
    pollfd event{events_.get(), POLLIN, 0};
    const int ready = ::poll(&event, 1, deadline.poll_ms());
    if (ready < 0 && errno != EINTR) return base::errno_status("wait", "end of namespaces");
    if (ready != 0) continue;
    std::vector<int> alive;
    for (const auto& [id, ended] : watched_) alive.push_back(id);
    return absl::DeadlineExceededError(
        fmt::format("wait: end of namespaces: ids {} still alive", fmt::join(alive, ", ")));
  }
}

}  // namespace hopyard::netlink
