// SPDX-License-Identifier: Apache-2.0
// The daemon's Unix-domain socket: where it lies, who may connect. Knows nothing of gRPC.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/lock.h"
#include "base/status.h"

namespace hopyard::rpc {

struct ListenerOptions {
  std::string path;
  mode_t mode = 0600;
  mode_t folder_mode = 0700;  // of the socket's folder, if it has to be made
  uid_t allowed = ::geteuid();
};

// One daemon per socket path: a lock beside it says whether a socket found there is stale.
class Listener {
 public:
  // Gets each connection whose peer may talk to us; called on the listener's own thread.
  using Accepted = std::function<void(base::Fd)>;

  // UNAVAILABLE: another daemon serves this path. INVALID_ARGUMENT: longer than a socket address can be.
  // FAILED_PRECONDITION: something that is no socket lies there.
  static absl::StatusOr<std::unique_ptr<Listener>> bind(const ListenerOptions& options);

  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Accepts on a thread of its own until stop(). A peer of another user is closed at once: its uid is what
  // the kernel says (SO_PEERCRED), so a wider file mode opens nothing.
  void serve(Accepted accepted);
  // Ends accepting and removes the socket; the path stays locked.
  void stop();

 private:
  Listener(ListenerOptions options, base::FileLock lock, base::Fd socket, base::Pipe stop)
      : options_(std::move(options)),
        lock_(std::move(lock)),
        socket_(std::move(socket)),
        stop_(std::move(stop)) {}
  void accept_loop(const Accepted& accepted) const;
  bool allows(int connection) const;

  ListenerOptions options_;
  base::FileLock lock_;
  base::Fd socket_;
  base::Pipe stop_;
  std::thread thread_;
};

}  // namespace hopyard::rpc
