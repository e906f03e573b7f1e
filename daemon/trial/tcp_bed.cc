// SPDX-License-Identifier: Apache-2.0
// See tcp_bed.h.
#include "trial/tcp_bed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace hopyard::trial {

lab::RoutedSpec path_spec(const v1::TrialSpec& spec) {
  const v1::Path& path = spec.path();
  const v1::Tcp& tcp = spec.case_().tcp();
  lab::RoutedSpec routed;
  routed.rtt = std::chrono::nanoseconds(path.rtt_ns());
  routed.rate_bps = path.rate_bps();
  routed.loss = path.loss();
  if (path.has_limit_packets()) routed.limit_packets = path.limit_packets();
  routed.seed = spec.seed();
  if (tcp.has_congestion_control()) routed.congestion_control = tcp.congestion_control();
  if (tcp.has_notsent_lowat_bytes()) routed.notsent_lowat_bytes = tcp.notsent_lowat_bytes();
  return routed;
}

absl::StatusOr<uint16_t> local_port(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return base::errno_status("getsockname", "client socket");
  }
  return ntohs(address.sin_port);
}

}  // namespace hopyard::trial
