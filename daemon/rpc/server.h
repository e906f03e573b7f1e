// SPDX-License-Identifier: Apache-2.0
// The gRPC server on the daemon's socket: the Hopyard service, health and reflection. Translation only;
// decides nothing.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "rpc/listener.h"

namespace hopyard::run {
class Machine;
class Runner;
class Workshop;
}  // namespace hopyard::run
namespace hopyard::store {
class Store;
}

namespace hopyard::rpc {

// What the service speaks for. All must outlive the server.
struct Rooms {
  store::Store& store;
  run::Runner& runner;
  run::Workshop& workshop;
  const run::Machine& machine;
};

class Server {
 public:
  // Errors as Listener::bind. `on_quiet` is called, on any thread, whenever the last call in flight has
  // ended.
  static absl::StatusOr<std::unique_ptr<Server>> start(const ListenerOptions& listener, const Rooms& rooms);
  // Ends calls in flight.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Clients that are connected now. Counted when asked: nothing tells us when gRPC closes one.
  size_t connections();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hopyard::rpc
