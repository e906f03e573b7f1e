// SPDX-License-Identifier: Apache-2.0
// Turns written addresses into socket addresses. Opens no socket.
#include "base/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace hopyard::base {

absl::StatusOr<Endpoint> ipv4_endpoint(std::string_view address, uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  const std::string text(address);
  if (::inet_pton(AF_INET, text.c_str(), &in.sin_addr) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("read address: ", text, ": not a dotted-quad IPv4 address"));
  }
  Endpoint endpoint{.length = sizeof in};
  std::memcpy(&endpoint.address, &in, sizeof in);
  return endpoint;
}

absl::StatusOr<Endpoint> unix_endpoint(std::string_view path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::string text(path);
  if (path.empty() || path.size() >= sizeof un.sun_path) {
    return absl::InvalidArgumentError(absl::StrCat("read address: '", text, "': a socket path has 1 to ",
                                                   sizeof un.sun_path - 1, " bytes"));
  }
  std::memcpy(un.sun_path, path.data(), path.size());
  Endpoint endpoint{.length = sizeof un};
  std::memcpy(&endpoint.address, &un, sizeof un);
  return endpoint;
}

}  // namespace hopyard::base
