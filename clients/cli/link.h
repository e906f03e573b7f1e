// SPDX-License-Identifier: Apache-2.0
// The way to the daemon: the one that listens, or a private one started for the purpose. Included by commands
// only: the generated header is slow to compile.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/fd.h"
#include "base/status.h"
#include "cli/command.h"
#include "hopyard/v1/service.grpc.pb.h"

namespace hopyard::cli {

enum class WithoutDaemon {
  kFail,              // exit code 69
  kStart,             // a private one, which ends when we have ended and nothing runs
  kStartUnlessNamed,  // the same, but a socket named by the user must be served already
};

class Link {
 public:
  // UNAVAILABLE: no daemon, and none was to be started or it did not start; the message says how to get one.
  static absl::StatusOr<Link> open(const Options& options, WithoutDaemon without);

  Link(Link&&) = default;
  Link& operator=(Link&&) = default;
  // Lets a private daemon go; waits a moment for its end if nothing keeps it.
  ~Link();

  v1::Hopyard::Stub& stub() { return *stub_; }
  // A private daemon runs on by itself: do not wait for its end.
  void leave() { wait_ = false; }

 private:
  Link() = default;
  static absl::StatusOr<Link> open_elsewhere(const Options& options);
  absl::Status start_private(const Options& options);
  std::unique_ptr<v1::Hopyard::Stub> stub_;
  base::Fd lease_;  // standard input of a private daemon
  base::Fd pidfd_;  // of a private daemon
  bool wait_ = true;
};

// Prints what went wrong, campaign problems one a line as file:line:column. The exit code for it.
int report(const grpc::Status& status);
int report(const absl::Status& status);
// The one line that says how to reach this daemon again: "--db PATH", "--socket PATH" or nothing.
std::string same_daemon(const Options& options);

}  // namespace hopyard::cli
