// SPDX-License-Identifier: Apache-2.0
// Where one trial's client and server meet: a routed path, a loopback or a Unix-domain socket, behind one
// face. Makes it, watches it, checks it and takes it down; knows neither nginx nor TLS.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/status.h"
#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "lab/namespace.h"
#include "server/nginx.h"
#include "trial/check_list.h"

namespace hopyard::trial {

class Bed {
 public:
  // `scratch`: the trial's folder on memory. Errors say what could not be made or was read back otherwise.
  static absl::StatusOr<std::unique_ptr<Bed>> make(const v1::TrialSpec& spec, const std::string& scratch);
  virtual ~Bed() = default;

  virtual const server::Listen& listen() const = 0;
  virtual const lab::NetNamespace* server_namespace() const = 0;      // null: the caller's
  virtual std::chrono::nanoseconds read_pause() const { return {}; }  // the client's, before each read
  virtual uint32_t send_buffer_bytes() const { return 0; }     // the server's SO_SNDBUF; 0: the kernel's
  virtual absl::StatusOr<base::Fd> client_socket() const = 0;  // unconnected

  // Once the server is up: what would already have disturbed its start. Notes in `result` what the kernel
  // cannot do.
  virtual absl::Status impair(v1::TrialResult&) { return absl::OkStatus(); }

  // Each adds snapshots named `at` to `result`. They fork and open nothing. A socket that has gone is no
  // error: check() misses it. Both ends of the connection behind `client_fd`, and all qdiscs.
  virtual absl::Status snapshot(const std::string& at, int client_fd, v1::TrialResult& result) const = 0;
  // The server's socket alone, for use inside the client's run.
  virtual absl::Status snapshot_server(const std::string& at, int client_fd,
                                       v1::TrialResult& result) const = 0;
  virtual absl::Status snapshot_qdiscs(const std::string& at, v1::TrialResult& result) const = 0;
  // With client and server gone: what the bed itself has to tell of the trial, into `result`. May wait for
  // packets on their way, until the deadline.
  virtual absl::Status settle(const base::Deadline&, v1::TrialResult&) { return absl::OkStatus(); }
  // Reads the bed back into result.environment.
  virtual absl::Status observe(v1::TrialResult& result) const = 0;
  // Takes it down; all of its sockets must be closed and its processes gone. Sets
  // environment.namespaces_gone.
  virtual absl::Status tear_down(const base::Deadline& deadline, v1::TrialResult& result) = 0;
  // After tear_down: what must hold of the evidence the bed itself put into `result`; `server` gets what only
  // the server can have spoilt.
  virtual void check(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
                     CheckList& server) const = 0;
};

}  // namespace hopyard::trial
