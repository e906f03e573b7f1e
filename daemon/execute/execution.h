// SPDX-License-Identifier: Apache-2.0
// Execution hosts: which kernels can run trials here, and one worker running on one of them. Knows nothing of
// campaigns, and of trials only that they are messages.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/frames.h"
#include "base/status.h"

namespace hopyard::v1 {
class DoctorFinding;
class FromWorker;
class Hello;
class ToWorker;
}  // namespace hopyard::v1

namespace hopyard::execute {

// One kernel as an execution host.
struct KernelOption {
  std::string name;     // "host", "debian-uml", a built kernel's
  std::string release;  // "6.1.176"; empty if not known
  bool usable = false;  // every kind of path
  std::string why_not;  // what is missing and how to get it; empty if usable
  // Unix-domain paths and gates, which need no veth, fq or netem.
  bool unix_usable = false;
  std::vector<std::string> congestion_controls;  // that a server may ask for; a guest's: after its boot
  bool virtual_clock = false;
  std::string program;                    // a guest's kernel, an absolute path; empty: the host's
  std::vector<std::string> boot_options;  // further words for a guest's command line
  std::vector<std::string> identity;      // what it was built from, with hashes, one a line; mostly empty
};

// What trials ask of a kernel.
struct KernelNeeds {
  std::vector<std::string> congestion_controls;
  bool routed = false;
  bool virtual_clock = false;
};

// The host's kernel and Debian's guest, in this order, whether usable or not. Really probes: the host by
// making what trials need in namespaces that are gone afterwards (about 50 ms), the guest by its files.
// Errors: the worker program is missing or does not answer; UNAVAILABLE: it was killed.
absl::StatusOr<std::vector<KernelOption>> list_kernels();

// The first of list_kernels() and then `built` that can serve: "auto" prefers the host's. INVALID_ARGUMENT
// for a name nobody has, FAILED_PRECONDITION with every kernel's reason if none can serve.
absl::StatusOr<KernelOption> choose_kernel(std::string_view wanted, const KernelNeeds& needs,
                                           const std::vector<KernelOption>& built = {});

struct SessionEnd {
  base::ChildExit exit;
  std::string log;  // the last lines of what the worker (and its guest's kernel) printed; mostly empty
};

// One worker, on either host. It and all it started are gone when the object is, when finish() has returned,
// or when this process has died, however: the worker's guard watches the pipe that this object holds open, so
// it does not matter which thread starts a session or ends meanwhile. One thread at a time, but for cancel().
class WorkerSession {
 public:
  // Returns once the worker has said Hello. Errors carry the end of its log. Once `stop` is requested the
  // wait for Hello ends at once.
  static absl::StatusOr<std::unique_ptr<WorkerSession>> start(const KernelOption& kernel,
                                                              base::Deadline deadline,
                                                              std::stop_token stop = {});
  // In a guest whose clock is virtual: it skips whatever time is waited, so the guest has its one message
  // before it boots and nothing is to be sent. All random numbers of the guest come from `seed`. The kernel
  // must have a virtual clock.
  static absl::StatusOr<std::unique_ptr<WorkerSession>> start_virtual(const KernelOption& kernel,
                                                                      const v1::ToWorker& message,
                                                                      uint64_t seed, base::Deadline deadline,
                                                                      std::stop_token stop = {});
  WorkerSession(const WorkerSession&) = delete;
  WorkerSession& operator=(const WorkerSession&) = delete;
  ~WorkerSession();

  const v1::Hello& hello() const { return *hello_; }
  // UNAVAILABLE if the worker has ended.
  absl::Status send(const v1::ToWorker& message);
  // DEADLINE_EXCEEDED; UNAVAILABLE if the worker has ended (finish() tells how); DATA_LOSS if what it sent is
  // not a message.
  absl::StatusOr<v1::FromWorker> receive(base::Deadline deadline);
  // Ends the worker and everything it started, now. Does not wait; a receive() under way gets UNAVAILABLE.
  // May be called from any thread, at any time, more than once.
  absl::Status cancel();
  // Waits for the worker's own end, which comes after JobDone or Fatal; ends it if the deadline passes. When
  // this returns nothing of it is left.
  absl::StatusOr<SessionEnd> finish(base::Deadline deadline);

 private:
  // What a worker's process is born with.
  struct Ends {
    int in;
    int out;
    int log;
  };
  WorkerSession(base::Child guard, base::Fd to_worker, base::Fd from_worker, base::Fd log);
  using Starter = std::function<absl::StatusOr<base::Child>(const std::string& worker, const Ends& ends)>;
  static absl::StatusOr<std::unique_ptr<WorkerSession>> start_with(const KernelOption& kernel,
                                                                   const Starter& starter,
                                                                   base::Deadline deadline,
                                                                   std::stop_token stop);
  absl::Status await_hello(base::Deadline deadline);
  absl::Status await_bytes(base::Deadline deadline) const;
  std::string log_tail() const;

  base::Child guard_;
  base::Fd to_worker_;
  base::Fd from_worker_;
  base::Fd log_;  // in memory
  base::FrameDecoder decoder_;
  std::unique_ptr<v1::Hello> hello_;
};

// Which hosts can run what here, what is missing and how to get it, in plain words; `built` are the kernels
// of the catalogue, built or not. Boots each guest to be sure; a few seconds.
std::vector<v1::DoctorFinding> doctor(const std::vector<KernelOption>& built);

}  // namespace hopyard::execute
