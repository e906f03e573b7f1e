// SPDX-License-Identifier: Apache-2.0
// A datagram on an AF_UNIX socket.
#include "base/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd.h"

namespace hopyard::base {

void tell_service_manager(std::string_view words) {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof address.sun_path)
    return;
  std::memcpy(address.sun_path, path, std::strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  // A manager that does not listen any more is no reason to stop.
  (void)::sendto(fd.get(), words.data(), words.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

std::optional<std::chrono::microseconds> watchdog_patience() {
  const char* const usec = std::getenv("WATCHDOG_USEC");
  const char* const pid = std::getenv("WATCHDOG_PID");
  if (usec == nullptr || (pid != nullptr && pid != std::to_string(::getpid()))) return std::nullopt;
  const long long value = std::atoll(usec);
  if (value <= 0) return std::nullopt;
  return std::chrono::microseconds(value);
}

}  // namespace hopyard::base
