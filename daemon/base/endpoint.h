// SPDX-License-Identifier: Apache-2.0
// Where a server listens, as a socket address. Opens no socket.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace hopyard::base {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// INVALID_ARGUMENT if `address` is not dotted-quad IPv4.
absl::StatusOr<Endpoint> ipv4_endpoint(std::string_view address, uint16_t port);
// INVALID_ARGUMENT if `path` is empty or does not fit a sockaddr_un.
absl::StatusOr<Endpoint> unix_endpoint(std::string_view path);

}  // namespace hopyard::base
