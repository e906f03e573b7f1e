// SPDX-License-Identifier: Apache-2.0
// Non-blocking sockets and poll(2).
#include "unit/lab/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace hopyard::testing_support {
namespace {

struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

Address server_address(int family, uint16_t port) {
  Address out;
  if (family == AF_INET6) {
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    ::inet_pton(AF_INET6, lab::kServerAddressV6, &v6->sin6_addr);
    out.size = sizeof *v6;
  } else {
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    ::inet_pton(AF_INET, lab::kServerAddress, &v4->sin_addr);
    out.size = sizeof *v4;
  }
  return out;
}

uint16_t port_of(const Address& address) {
  return ntohs(address.storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

absl::StatusOr<base::Fd> make_socket(const lab::NetNamespace& where, int family) {
  return where.run([&]() -> absl::StatusOr<base::Fd> {
    base::Fd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return base::errno_status("open", "socket");
    return fd;
  });
}

absl::Status wait_for(int fd, short events, const base::Deadline& deadline, const char* what) {
  pollfd waited = {fd, events, 0};
  const int ready = ::poll(&waited, 1, deadline.poll_ms());
  if (ready < 0 && errno != EINTR) return base::errno_status("poll", what);
  if (ready <= 0 && deadline.passed()) return absl::DeadlineExceededError(what);
  return absl::OkStatus();
}

// Moves what it can without waiting; bytes moved.
absl::StatusOr<size_t> send_some(int fd, const char* bytes, size_t size) {
  const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) return base::errno_status("send", "test bytes");
  return static_cast<size_t>(std::max<ssize_t>(sent, 0));
}

absl::StatusOr<size_t> receive_some(int fd, size_t limit) {
  static std::vector<char> buffer(1u << 18);
  const ssize_t got = ::recv(fd, buffer.data(), std::min(limit, buffer.size()), 0);
  if (got == 0) return absl::DataLossError("receive: test bytes: closed early");
  if (got < 0 && errno != EAGAIN) return base::errno_status("receive", "test bytes");
  return static_cast<size_t>(std::max<ssize_t>(got, 0));
}

absl::Status pump(int from, int to, uint64_t bytes) {
  const base::Deadline deadline(kPatience);
  static const std::vector<char> kContent(1u << 18, 'h');
  uint64_t sent = 0, received = 0;
  while (received < bytes) {
    pollfd waited[2] = {{to, POLLIN, 0}, {from, static_cast<short>(sent < bytes ? POLLOUT : 0), 0}};
    if (::poll(waited, 2, deadline.poll_ms()) <= 0 && deadline.passed()) {
      return absl::DeadlineExceededError("transfer: not ended in time");
    }
    if (sent < bytes) {
      HOPYARD_ASSIGN_OR_RETURN(
          const size_t more,
          send_some(from, kContent.data(), std::min<uint64_t>(bytes - sent, kContent.size())));
      sent += more;
    }
    HOPYARD_ASSIGN_OR_RETURN(const size_t more, receive_some(to, bytes - received));
    received += more;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Listener> listen_at_server(const lab::RoutedPath& path, int family) {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd fd, make_socket(path.in(lab::Side::kServer), family));
  Address address = server_address(family, 0);
  if (::bind(fd.get(), address.get(), address.size) != 0) return base::errno_status("bind", "listener");
  if (::listen(fd.get(), 8) != 0) return base::errno_status("listen", "listener");
  if (::getsockname(fd.get(), address.get(), &address.size) != 0)
    return base::errno_status("name", "listener");
  return Listener{std::move(fd), port_of(address)};
}

uint16_t local_port(int fd) {
  Address address;
  address.size = sizeof address.storage;
  ::getsockname(fd, address.get(), &address.size);
  return port_of(address);
}

absl::StatusOr<Connection> connect_across(const lab::RoutedPath& path, const Listener& listener, int family,
                                          std::chrono::nanoseconds patience) {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd client, family == AF_INET
                                                ? path.tcp_socket(lab::Side::kClient)
                                                : make_socket(path.in(lab::Side::kClient), family));
  const int on = 1;
  ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Address address = server_address(family, listener.port);
  const base::Deadline deadline(patience);
  const int64_t started = base::monotonic_ns();
  if (::connect(client.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return base::errno_status("connect", "server");
  }
  HOPYARD_RETURN_IF_ERROR(wait_for(client.get(), POLLOUT, deadline, "connect: server: no answer"));
  const int64_t connect_ns = base::monotonic_ns() - started;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(client.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return base::errno_status("connect", "server", error);
  HOPYARD_RETURN_IF_ERROR(wait_for(listener.fd.get(), POLLIN, deadline, "accept: client: no handshake"));
  base::Fd server(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!server.valid()) return base::errno_status("accept", "client");
  ::setsockopt(server.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Connection{std::move(client), std::move(server), connect_ns};
}

absl::StatusOr<int64_t> echo_ns(const Connection& connection, uint64_t bytes) {
  const int64_t started = base::monotonic_ns();
  HOPYARD_RETURN_IF_ERROR(pump(connection.client.get(), connection.server.get(), bytes));
  HOPYARD_RETURN_IF_ERROR(pump(connection.server.get(), connection.client.get(), bytes));
  return base::monotonic_ns() - started;
}

absl::StatusOr<int64_t> transfer_ns(const Connection& connection, uint64_t bytes) {
  const int64_t started = base::monotonic_ns();
  HOPYARD_RETURN_IF_ERROR(pump(connection.server.get(), connection.client.get(), bytes));
  return base::monotonic_ns() - started;
}

}  // namespace hopyard::testing_support
