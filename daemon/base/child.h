// SPDX-License-Identifier: Apache-2.0
// Child processes: started by fork and exec, held by pidfd, ended TERM -> deadline -> KILL, reaped with
// their usage.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::base {

struct ChildOptions {
  std::vector<std::string> argv;                        // argv[0] is the path to execute
  std::optional<std::vector<std::string>> environment;  // "NAME=value"; absent: inherited
  std::string working_directory;                        // empty: inherited
  int stdin_fd = -1;                                    // -1: /dev/null
  int stdout_fd = -1;                                   // -1: /dev/null
  int stderr_fd = -1;                                   // -1: /dev/null
  // Further descriptors: {the parent's fd, the number the child sees (>= 3)}.
  std::vector<std::pair<int, int>> pass_fds;
  // Signal the child gets when the *thread* that started it ends (PR_SET_PDEATHSIG); 0: none.
  int parent_death_signal = 9;
  bool new_process_group = false;
};

struct ChildExit {
  int exit_code = -1;  // -1 if ended by a signal
  int signal = 0;      // 0 if it exited
  int64_t user_cpu_ns = 0;
  int64_t system_cpu_ns = 0;
  uint64_t max_rss_bytes = 0;

  bool clean() const { return exit_code == 0; }
  std::string describe() const;  // "exit status 1", "signal 11 (Segmentation fault)"
};

class Child {
 public:
  static absl::StatusOr<Child> start(const ChildOptions& options);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  // An unreaped child is killed (KILL) and reaped; one that does not end within ten seconds is left behind.
  ~Child();

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once it has ended
  absl::Status signal(int number) const;
  // Waits up to `timeout`; DEADLINE_EXCEEDED if it still runs. Reaps; later calls return the same.
  absl::StatusOr<ChildExit> wait(std::chrono::nanoseconds timeout);
  // TERM (or `number`), repeated up to `grace`, then KILL; always reaps.
  absl::StatusOr<ChildExit> stop(std::chrono::nanoseconds grace, int number = 15);

 private:
  Child(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  void kill_and_reap() noexcept;
  pid_t pid_ = -1;
  Fd pidfd_;
  std::optional<ChildExit> exit_;
};

// From here on the descendants whose parents end become this process's children, where end_orphans() finds
// them.
void adopt_orphans();
// For a process that has no other children: kills and reaps all it has, and theirs. How many there were.
int end_orphans();

struct CommandOutput {
  ChildExit exit;
  std::string output;  // stdout and stderr, interleaved; the last `limit` bytes
};

// Runs to the end with a deadline (then KILL; DEADLINE_EXCEEDED). A non-zero exit is not an error here.
absl::StatusOr<CommandOutput> run_command(ChildOptions options, std::chrono::nanoseconds timeout,
                                          size_t limit_bytes = 1u << 20);

}  // namespace hopyard::base
