// SPDX-License-Identifier: Apache-2.0
// The guard's and the reaper's loops.
#include "lab/guard.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::lab {
namespace {

using base::errno_status;
using base::Fd;

int as_exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

// Ends the reaper and all below it. A pid namespace's first process takes the rest along; else the reaper has
// to be asked, since the kernel would leave its grandchildren.
void end_reaper(pid_t reaper, bool pid_namespace) { ::kill(reaper, pid_namespace ? SIGKILL : SIGTERM); }

// Kills every child, and theirs as they become orphans and so children, until none is left. For where no pid
// namespace does it; /proc is that of the caller's then.
void kill_descendants() {
  while (true) {
    std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
    for (pid_t child; children >> child;) ::kill(child, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

[[noreturn]] void run_guard(pid_t reaper, bool pid_namespace, const Fd& terminate) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, reaper, 0)));
  // Standard input only for POLLHUP, which needs no asking.
  pollfd watched[3] = {{pidfd.get(), POLLIN, 0}, {STDIN_FILENO, 0, 0}, {terminate.get(), POLLIN, 0}};
  while (true) {
    if (::poll(watched, 3, -1) < 0) continue;
    if (watched[0].revents != 0) break;
    end_reaper(reaper, pid_namespace);
    watched[1].fd = watched[2].fd = -1;
  }
  int status = 0;
  while (::waitpid(reaper, &status, 0) < 0 && errno == EINTR) {
  }
  if (!pid_namespace) kill_descendants();  // orphans of a reaper that was killed
  ::_exit(as_exit_code(status));
}

[[noreturn]] void run_reaper(pid_t worker, bool pid_namespace) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  ::sigaddset(&awaited, SIGCHLD);
  ::sigaddset(&awaited, SIGTERM);
  int code = 128 + SIGTERM;
  for (bool ended = false; !ended;) {
    if (::sigwaitinfo(&awaited, nullptr) == SIGTERM) break;
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != worker) continue;
      code = as_exit_code(status);
      ended = true;
    }
  }
  if (!pid_namespace) kill_descendants();
  ::_exit(code);
}

// Asks for `number` at the parent's end; false if the parent has ended already. `parent_lives` reads as
// closed then: getppid() says nothing across pid namespaces.
bool follow_parent(int number, const Fd& parent_lives) {
  ::prctl(PR_SET_PDEATHSIG, number);
  pollfd closed{parent_lives.get(), 0, 0};
  return ::poll(&closed, 1, 0) == 0;
}

// In the reaper: starts the process that goes on, and returns there.
absl::Status fork_worker(bool pid_namespace) {
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe reaper_lives, base::make_pipe());
  const pid_t worker = ::fork();
  if (worker < 0) return errno_status("fork", "the guarded process");
  if (worker > 0) run_reaper(worker, pid_namespace);
  reaper_lives.write.reset();
  // Without a namespace that ends with its reaper, a guest that is asked to end ends its helpers, too; nobody
  // else could.
  if (!follow_parent(pid_namespace ? SIGKILL : SIGTERM, reaper_lives.read)) ::_exit(1);
  return absl::OkStatus();
}

}  // namespace

absl::Status go_on_guarded(bool pid_namespace) {
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe guard_lives, base::make_pipe());
  // Taken by descriptor and by sigwaitinfo; blocked before the forks, so that none is lost.
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGCHLD);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  sigset_t terminate;
  ::sigemptyset(&terminate);
  ::sigaddset(&terminate, SIGTERM);
  const Fd terminate_fd(::signalfd(-1, &terminate, SFD_CLOEXEC));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // not inherited: each of the two for itself
  const pid_t reaper = ::fork();
  if (reaper < 0) return errno_status("fork", "the reaper");
  if (reaper > 0) run_guard(reaper, pid_namespace, terminate_fd);
  guard_lives.write.reset();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!follow_parent(pid_namespace ? SIGKILL : SIGTERM, guard_lives.read)) ::_exit(1);
  HOPYARD_RETURN_IF_ERROR(fork_worker(pid_namespace));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return absl::OkStatus();
}

}  // namespace hopyard::lab
