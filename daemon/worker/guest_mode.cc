// SPDX-License-Identifier: Apache-2.0
// A worker as the first process of a guest: the first process only collects orphans, its child serves.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "fmt/format.h"
#include "lab/guest_init.h"
#include "trial/trial.h"
#include "worker/loop.h"
#include "worker/modes.h"

namespace hopyard::worker {
namespace {

// The kernel makes variables of the words of its command line it does not know.
void set_environment() {
  ::clearenv();
  ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  ::setenv("HOME", "/run", 1);
  ::setenv("HOPYARD_SCRATCH", "/run", 1);
  ::setenv("LC_ALL", "C.UTF-8", 1);
}

// Standard error is the console, which the daemon keeps for when something goes wrong.
void complain(std::string_view what) {
  fmt::print(stderr, "{}\n", what);
  ::tcdrain(STDERR_FILENO);
}

using Order = std::optional<absl::StatusOr<v1::ToWorker>>;

absl::StatusOr<v1::ToWorker> read_order(const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string bytes, base::read_file(path));
  return parse_order(bytes);
}

struct Task {
  const base::Fd& serial;
  const Order& order;
};

int do_task(void* argument) {
  const Task& task = *static_cast<const Task*>(argument);
  const Work work{trial::run_trial, trial::run_gate};
  const int line = task.serial.get();
  const absl::Status served = task.order ? serve_order(*task.order, line, make_hello(true), work)
                                         : serve(line, line, make_hello(true), work);
  if (!served.ok()) complain(std::string(served.message()));
  ::_exit(served.ok() ? 0 : 1);
}

// As fork(), but in this process's memory, which waits meanwhile as after vfork(): in a guest every page that
// a copy touches costs a turn through the machine's kernel.
absl::StatusOr<pid_t> start_worker(Task& task) {
  constexpr size_t kStackBytes = 8u << 20;
  void* const stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return base::errno_status("map", "worker's stack");
  const pid_t worker =
      ::clone(do_task, static_cast<char*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &task);
  if (worker < 0) return base::errno_status("clone", "worker");
  return worker;
}

void reap_until(pid_t worker) {
  int status = 0;
  for (pid_t ended = 0; ended != worker;) {
    ended = ::wait(&status);
    if (ended < 0 && errno == ECHILD) return;
  }
  if (WIFSIGNALED(status)) {
    complain(fmt::format("hopyard-worker: ended by signal {} ({})", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status))));
  }
}

absl::Status run(const std::string& order_path) {
  Order order;
  if (!order_path.empty()) order = read_order(order_path);  // before folders are covered
  HOPYARD_RETURN_IF_ERROR(lab::become_guest_init(lab::Tmp::kOfTheMachine));
  set_environment();
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd serial, lab::open_serial(0));
  Task task{serial, order};
  HOPYARD_ASSIGN_OR_RETURN(const pid_t worker, start_worker(task));
  reap_until(worker);
  lab::drain_serial(serial);
  return absl::OkStatus();
}

}  // namespace

int run_as_guest_init(const std::string& order) {
  if (!lab::is_guest_init()) {
    fmt::print(stderr, "hopyard-worker --guest-init: this is not the first process of a guest\n");
    return 1;
  }
  if (const absl::Status status = run(order); !status.ok()) complain(std::string(status.message()));
  lab::power_off();
}

}  // namespace hopyard::worker
