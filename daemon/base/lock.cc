// SPDX-License-Identifier: Apache-2.0
// flock(2): bound to the open file, so a crash releases it and nothing has to be cleaned up.
#include "base/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fmt/format.h"

namespace hopyard::base {
namespace {

// Interrupts a blocking flock every 100 ms so that it can look at its deadline; a single alarm could fire
// just before the call and be lost.
class Ticker {
 public:
  Ticker() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    set(100'000);
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  ~Ticker() {
    set(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  static void set(suseconds_t every) {
    const itimerval timer{{0, every}, {0, every}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  struct sigaction before_ {};
};

// 0, or the errno of the last attempt.
int lock_within(int fd, std::chrono::milliseconds wait) {
  if (wait.count() == 0) return ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  const Deadline deadline(wait);
  const Ticker ticker;
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
    if (deadline.passed()) return EWOULDBLOCK;
  }
  return 0;
}

}  // namespace

absl::StatusOr<FileLock> FileLock::take(const std::string& path, const std::string& note,
                                        std::chrono::milliseconds wait) {
  HOPYARD_ASSIGN_OR_RETURN(Fd fd, open_file(path, O_RDWR | O_CREAT, 0600));
  if (const int error = lock_within(fd.get(), wait); error == EWOULDBLOCK) {
    const auto holder = read_file(path, 4096);
    return absl::UnavailableError(fmt::format("lock: {}: held by {}", path,
                                              holder.ok() && !holder->empty() ? *holder : "another process"));
  } else if (error != 0) {
    return errno_status("lock", path, error);
  }
  if (::ftruncate(fd.get(), 0) != 0) return errno_status("write lock note", path);
  HOPYARD_RETURN_IF_ERROR(annotate(write_all(fd.get(), note), "write lock note", path));
  return FileLock(std::move(fd));
}

}  // namespace hopyard::base
