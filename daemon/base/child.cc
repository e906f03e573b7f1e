// SPDX-License-Identifier: Apache-2.0
// fork-exec with only async-signal-safe calls between, so that threaded programs may use it too.
#include "base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "base/clock.h"
#include "fmt/format.h"

extern char** environ;

namespace hopyard::base {
namespace {

constexpr std::chrono::seconds kKillPatience{10};  // a killed process ends in milliseconds, unless it cannot

struct Prepared {
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<std::pair<int, int>> fds;  // {source, target}
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// In the child: moves every source out of the way of the targets first, then into place. Only dup and fcntl.
bool place_fds(std::vector<std::pair<int, int>>& fds) {
  int above = 3;
  for (const auto& [source, target] : fds) above = std::max(above, target + 1);
  for (auto& [source, target] : fds) {
    source = ::fcntl(source, F_DUPFD_CLOEXEC, above);
    if (source < 0) return false;
  }
  for (const auto& [source, target] : fds) {
    if (::dup2(source, target) < 0) return false;
  }
  return true;
}

[[noreturn]] void run_child(const ChildOptions& options, Prepared& prepared, int error_fd, pid_t parent) {
  const auto fail = [error_fd] {
    const int error = errno;
    (void)!::write(error_fd, &error, sizeof error);
    ::_exit(127);
  };
  if (options.parent_death_signal != 0) {
    if (::prctl(PR_SET_PDEATHSIG, options.parent_death_signal) != 0) fail();
    if (::getppid() != parent) ::_exit(127);  // the parent was gone before prctl
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);  // ignored signals stay ignored over exec
  if (options.new_process_group) ::setpgid(0, 0);
  if (!options.working_directory.empty() && ::chdir(options.working_directory.c_str()) != 0) fail();
  if (!place_fds(prepared.fds)) fail();
  ::execve(prepared.argv[0], prepared.argv.data(), options.environment ? prepared.envp.data() : environ);
  fail();
  ::_exit(127);
}

ChildExit to_exit(int status, const rusage& usage) {
  ChildExit exit;
  if (WIFEXITED(status)) exit.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  const auto ns = [](const timeval& t) {
    return (static_cast<int64_t>(t.tv_sec) * 1'000'000 + t.tv_usec) * 1000;
  };
  exit.user_cpu_ns = ns(usage.ru_utime);
  exit.system_cpu_ns = ns(usage.ru_stime);
  exit.max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return exit;
}

}  // namespace

std::string ChildExit::describe() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, strsignal(signal));
  return fmt::format("exit status {}", exit_code);
}

absl::StatusOr<Child> Child::start(const ChildOptions& options) {
  HOPYARD_ASSIGN_OR_RETURN(Fd null, open_file("/dev/null", O_RDWR));
  HOPYARD_ASSIGN_OR_RETURN(Pipe errors, make_pipe());
  Prepared prepared{pointers(options.argv), {}, options.pass_fds};
  if (options.environment) prepared.envp = pointers(*options.environment);
  const int standard[3] = {options.stdin_fd, options.stdout_fd, options.stderr_fd};
  for (int i = 0; i < 3; ++i) prepared.fds.emplace_back(standard[i] >= 0 ? standard[i] : null.get(), i);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return errno_status("fork", options.argv[0]);
  if (pid == 0) run_child(options, prepared, errors.write.get(), parent);
  errors.write.reset();
  Child child(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  int error = 0;
  ssize_t n;
  do {
    n = ::read(errors.read.get(), &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof error) return errno_status("execute", options.argv[0], error);
  if (!child.pidfd_.valid()) return errno_status("pidfd_open", options.argv[0]);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), pidfd_(std::move(other.pidfd_)), exit_(other.exit_) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    kill_and_reap();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    exit_ = other.exit_;
  }
  return *this;
}

Child::~Child() { kill_and_reap(); }

// A process that waits inside the kernel, for a disk that does not answer, does not end by KILL either: it is
// left to whoever reaps for this process.
void Child::kill_and_reap() noexcept {
  if (pid_ < 0 || exit_) return;
  ::kill(pid_, SIGKILL);  // not yet reaped, so the pid is still its
  const Deadline deadline(kKillPatience);
  pollfd ended{pidfd_.get(), POLLIN, 0};
  while (pidfd_.valid() && ::poll(&ended, 1, deadline.poll_ms()) < 0 && errno == EINTR) {
  }
  while (::waitpid(pid_, nullptr, pidfd_.valid() ? WNOHANG : 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

absl::Status Child::signal(int number) const {
  if (pid_ < 0 || exit_) return absl::FailedPreconditionError("signal: child: already reaped");
  if (::kill(pid_, number) != 0) return errno_status("kill", fmt::format("pid {}", pid_));
  return absl::OkStatus();
}

absl::StatusOr<ChildExit> Child::wait(std::chrono::nanoseconds timeout) {
  if (exit_) return *exit_;
  const Deadline deadline(timeout);
  while (true) {
    pollfd ended{pidfd_.get(), POLLIN, 0};
    const int n = ::poll(&ended, 1, deadline.poll_ms());
    if (n < 0 && errno != EINTR) return errno_status("poll", fmt::format("pid {}", pid_));
    if (n > 0) break;
    if (deadline.passed())
      return absl::DeadlineExceededError(fmt::format("wait: pid {}: still running", pid_));
  }
  int status = 0;
  rusage usage{};
  while (::wait4(pid_, &status, 0, &usage) < 0) {
    if (errno != EINTR) return errno_status("wait4", fmt::format("pid {}", pid_));
  }
  exit_ = to_exit(status, usage);
  return *exit_;
}

absl::StatusOr<ChildExit> Child::stop(std::chrono::nanoseconds grace, int number) {
  if (exit_) return *exit_;
  // Asked again and again: a program that looks at a flag and then sleeps until the next event, as nginx
  // does, sleeps through a signal that comes between the two.
  constexpr std::chrono::milliseconds kAskAgain{50};
  for (const Deadline deadline(grace); !deadline.passed();) {
    HOPYARD_RETURN_IF_ERROR(signal(number));
    auto ended = wait(std::min<std::chrono::nanoseconds>(deadline.left(), kAskAgain));
    if (ended.ok() || !absl::IsDeadlineExceeded(ended.status())) return ended;
  }
  HOPYARD_RETURN_IF_ERROR(signal(SIGKILL));
  return wait(kKillPatience);
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

int end_orphans() {
  const std::string list = fmt::format("/proc/self/task/{}/children", ::gettid());
  const Deadline deadline(std::chrono::seconds(2));
  int ended = 0;
  // Again for those whose parents were among the killed.
  for (pid_t pid = 0; pid >= 0 && !deadline.passed();) {
    std::ifstream children(list);
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
    while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) ++ended;
  }
  return ended;
}

absl::StatusOr<CommandOutput> run_command(ChildOptions options, std::chrono::nanoseconds timeout,
                                          size_t limit_bytes) {
  HOPYARD_ASSIGN_OR_RETURN(Pipe pipe, make_pipe());
  options.stdout_fd = options.stderr_fd = pipe.write.get();
  HOPYARD_ASSIGN_OR_RETURN(Child child, Child::start(options));
  pipe.write.reset();
  const Deadline deadline(timeout);
  CommandOutput result;
  char buffer[65536];
  while (true) {
    pollfd ready{pipe.read.get(), POLLIN, 0};
    const int polled = ::poll(&ready, 1, deadline.poll_ms());
    if (deadline.passed()) {  // also while there is no end of output
      return absl::DeadlineExceededError(fmt::format("run: {}: not done in time", options.argv[0]));
    }
    if (polled < 0 && errno != EINTR) return errno_status("poll", options.argv[0]);
    if (polled <= 0) continue;
    const ssize_t n = ::read(pipe.read.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(buffer, static_cast<size_t>(n));
    if (result.output.size() > limit_bytes) result.output.erase(0, result.output.size() - limit_bytes);
  }
  HOPYARD_ASSIGN_OR_RETURN(result.exit, child.wait(std::max(deadline.left(), std::chrono::nanoseconds(0))));
  return result;
}

}  // namespace hopyard::base
