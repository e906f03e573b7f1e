// SPDX-License-Identifier: Apache-2.0
// Asks the kernel for its TCP sockets: all that match, or one by its endpoints.
#include "netlink/sock_diag.h"

#include <arpa/inet.h>
#include <linux/sock_diag.h>

#include "fmt/format.h"
#include "netlink/sock_diag_codec.h"

namespace hopyard::netlink {

SockDiag::SockDiag(base::Fd fd) : fd_(std::move(fd)) {}

absl::StatusOr<SockDiag> SockDiag::open() {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd fd, wire::open_socket(NETLINK_SOCK_DIAG));
  return SockDiag(std::move(fd));
}

absl::StatusOr<std::vector<SocketInfo>> SockDiag::dump(const SocketFilter& filter) {
  std::vector<SocketInfo> sockets;
  for (const uint8_t family : {AF_INET, AF_INET6}) {
    if (!(family == AF_INET ? filter.ipv4 : filter.ipv6)) continue;
    inet_diag_req_v2 wanted = diag_request(family);
    wanted.idiag_states = filter.states;
    wanted.id.idiag_sport = htons(filter.local_port.value_or(0));
    wanted.id.idiag_dport = htons(filter.remote_port.value_or(0));
    wire::Request request(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
    *request.extra<inet_diag_req_v2>() = wanted;
    request.header()->nlmsg_seq = ++sequence_;
    HOPYARD_RETURN_IF_ERROR(base::annotate(wire::exchange(fd_.get(), request.bytes(), buffer_,
                                                          [&sockets](uint16_t, wire::Bytes payload) {
                                                            if (auto info = decode_socket(payload))
                                                              sockets.push_back(*std::move(info));
                                                          }),
                                           "list",
                                           family == AF_INET ? "IPv4 TCP sockets" : "IPv6 TCP sockets"));
  }
  return sockets;
}

absl::StatusOr<SocketInfo> SockDiag::find(std::string_view local, std::string_view remote) {
  HOPYARD_ASSIGN_OR_RETURN(const Endpoint here, parse_endpoint(local));
  HOPYARD_ASSIGN_OR_RETURN(const Endpoint there, parse_endpoint(remote));
  inet_diag_req_v2 wanted = diag_request(here.family);
  wanted.id.idiag_sport = here.port;
  wanted.id.idiag_dport = there.port;
  std::memcpy(wanted.id.idiag_src, here.address, sizeof here.address);
  std::memcpy(wanted.id.idiag_dst, there.address, sizeof there.address);
  wire::Request request(SOCK_DIAG_BY_FAMILY, NLM_F_ACK);
  *request.extra<inet_diag_req_v2>() = wanted;
  request.header()->nlmsg_seq = ++sequence_;
  std::optional<SocketInfo> found;
  const absl::Status status =
      wire::exchange(fd_.get(), request.bytes(), buffer_,
                     [&found](uint16_t, wire::Bytes payload) { found = decode_socket(payload); });
  const std::string object = fmt::format("{} to {}", local, remote);
  HOPYARD_RETURN_IF_ERROR(base::annotate(status, "find socket", object));
  // With no such connection the kernel answers with the listener that would have taken it.
  if (!found || found->remote != endpoint_text(there.family, there.address, there.port)) {
    return absl::NotFoundError(fmt::format("find socket: {}: none such", object));
  }
  return *std::move(found);
}

}  // namespace hopyard::netlink
