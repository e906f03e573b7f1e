// SPDX-License-Identifier: Apache-2.0
// The gRPC server on the daemon's socket: the Hopyard service, health and reflection. Translation only;
// decides nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

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

// TCP, beside the Unix-domain socket, for clients whose certificate the authority signed, and for no others.
struct TlsOptions {
  std::string address;           // "host:port"; port 0: any
  std::string certificate_file;  // the server's, PEM, with the chain behind it
  std::string key_file;          // PEM
  std::string client_ca_file;    // who signs clients, PEM
};

class Server {
 public:
  // Errors as Listener::bind. With `tls` also: UNAVAILABLE if the address cannot be listened on, what reading
  // a file said, INVALID_ARGUMENT for one that holds nothing of its kind.
  static absl::StatusOr<std::unique_ptr<Server>> start(const ListenerOptions& listener, const Rooms& rooms,
                                                       const std::optional<TlsOptions>& tls = {});
  // Ends calls in flight.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where TCP clients are served; 0: nowhere.
  int tls_port() const;
  // Clients that are connected now over the Unix-domain socket. Counted when asked: nothing tells us when
  // gRPC closes one.
  size_t connections();

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hopyard::rpc
