// SPDX-License-Identifier: Apache-2.0
// Asks the kernel what standard error is, and catches SIGINT.
#include "cli/terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace hopyard::cli {
namespace {

sigset_t interrupts() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

unsigned terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void block_interrupts() {
  const sigset_t set = interrupts();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

InterruptWatch::InterruptWatch(std::function<void()> on_interrupt) {
  const sigset_t set = interrupts();
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC));
  if (auto pipe = base::make_pipe(); pipe.ok()) stop_ = *std::move(pipe);
  if (!signals_.valid() || !stop_.read.valid()) return;
  thread_ = std::thread([this, on_interrupt = std::move(on_interrupt)] {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}};
    while (::poll(fds, 2, -1) < 0) {
    }
    if (fds[0].revents != 0) on_interrupt();
  });
}

InterruptWatch::~InterruptWatch() {
  stop_.write.reset();
  if (thread_.joinable()) thread_.join();
}

}  // namespace hopyard::cli
