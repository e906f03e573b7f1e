// SPDX-License-Identifier: Apache-2.0
// Plain TCP across a path, for tests: a listener at the server, a connection from the client. Everything
// waits by poll with a deadline.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/fd.h"
#include "base/status.h"
#include "lab/path.h"

namespace hopyard::testing_support {

inline constexpr std::chrono::seconds kPatience(20);

struct Listener {
  base::Fd fd;
  uint16_t port;  // chosen by the kernel
};

// `family`: AF_INET or AF_INET6, at the server's address of the path.
absl::StatusOr<Listener> listen_at_server(const lab::RoutedPath& path, int family = 2);

struct Connection {
  base::Fd client;
  base::Fd server;
  int64_t connect_ns;  // connect(2) until the client's socket was writable
};

// The port of the socket's own end.
uint16_t local_port(int fd);

// DEADLINE_EXCEEDED if the handshake does not end in `patience`.
absl::StatusOr<Connection> connect_across(const lab::RoutedPath& path, const Listener& listener,
                                          int family = 2, std::chrono::nanoseconds patience = kPatience);

// Sends `bytes` from the client to the server and back; the time of it.
absl::StatusOr<int64_t> echo_ns(const Connection& connection, uint64_t bytes);

// Sends `bytes` from the server to the client; the time from the first write to the last byte read.
absl::StatusOr<int64_t> transfer_ns(const Connection& connection, uint64_t bytes);

}  // namespace hopyard::testing_support
