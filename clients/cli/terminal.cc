// SPDX-License-Identifier: Apache-2.0
// Asks the kernel what standard error is, and catches SIGINT.
#include "cli/terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>

namespace hopyard::cli {
namespace {

sigset_t interrupts() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

struct Watch {
  std::mutex mutex;
  std::function<void()> on_interrupt;
};

// Never destroyed: the thread that uses it ends with the program.
Watch& watch() {
  static Watch* const one = new Watch;
  return *one;
}

void end_by(int number) {
  ::signal(number, SIG_DFL);
  const sigset_t set = interrupts();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
}

}  // namespace

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

unsigned terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void take_interrupts() {
  const sigset_t set = interrupts();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set] {
    for (int number = 0;;) {
      if (::sigwait(&set, &number) != 0) continue;
      const std::lock_guard lock(watch().mutex);
      if (watch().on_interrupt)
        watch().on_interrupt();
      else
        end_by(number);
    }
  }).detach();
}

InterruptWatch::InterruptWatch(std::function<void()> on_interrupt) {
  const std::lock_guard lock(watch().mutex);
  watch().on_interrupt = std::move(on_interrupt);
}

InterruptWatch::~InterruptWatch() {
  const std::lock_guard lock(watch().mutex);
  watch().on_interrupt = nullptr;
}

void say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace hopyard::cli
