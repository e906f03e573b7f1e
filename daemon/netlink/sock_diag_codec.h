// SPDX-License-Identifier: Apache-2.0
// sock_diag requests and answers as bytes. Pure: no socket. Private to the room.
#pragma once

#include <linux/inet_diag.h>

#include "netlink/sock_diag.h"
#include "netlink/wire.h"

namespace hopyard::netlink {

// "192.0.2.1:443", "[2001:db8::1]:443" -> family, address and port as the kernel wants them.
struct Endpoint {
  uint8_t family = 0;
  uint32_t address[4] = {};  // network order
  uint16_t port = 0;         // network order

  bool operator==(const Endpoint&) const = default;
};
absl::StatusOr<Endpoint> parse_endpoint(std::string_view text);
std::string endpoint_text(uint8_t family, const uint32_t (&address)[4], uint16_t port);

// Asks for every extension that there is.
inet_diag_req_v2 diag_request(uint8_t family);

// The payload of a SOCK_DIAG_BY_FAMILY answer; nothing if it is too short to be one. Attributes that are cut
// or too short are left out, a tcp_info cut short gives the members that are there.
std::optional<SocketInfo> decode_socket(wire::Bytes payload);

}  // namespace hopyard::netlink
