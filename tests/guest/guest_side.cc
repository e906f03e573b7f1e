// SPDX-License-Identifier: Apache-2.0
// The guest's first process: sets the guest up, runs the tests in a child, collects orphans, sends output and
// exit code to the machine.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fd.h"
#include "base/frames.h"
#include "fmt/format.h"
#include "guest/session.h"
#include "lab/guest_init.h"

namespace hopyard::guest_test {
namespace {

using base::Fd;

absl::Status send(const Fd& serial, char kind, std::string_view bytes) {
  return base::write_frame(serial.get(), std::string(1, kind).append(bytes));
}

// Takes arguments and environment from the first frame, runs the tests, ends the process.
[[noreturn]] void run_tests(std::string_view first_frame, const Fd& output) {
  ::dup2(output.get(), STDOUT_FILENO);
  ::dup2(output.get(), STDERR_FILENO);
  const std::vector<std::string> texts = split_texts(first_frame);
  const auto gap = std::find(texts.begin(), texts.end(), "");
  ::clearenv();
  for (auto text = gap == texts.end() ? gap : gap + 1; text != texts.end(); ++text) {
    const size_t equals = text->find('=');
    ::setenv(text->substr(0, equals).c_str(), text->c_str() + equals + 1, 1);
  }
  std::vector<std::string> words(texts.begin(), gap);
  words.insert(words.begin(), "guest_test");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  testing::InitGoogleTest(&argc, argv.data());
  std::exit(RUN_ALL_TESTS());
}

// Passes on what can be read now; false at the end of output.
absl::StatusOr<bool> pass_output(const Fd& output, const Fd& serial) {
  char buffer[16384];
  const ssize_t n = ::read(output.get(), buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return true;
  if (n <= 0) return false;
  HOPYARD_RETURN_IF_ERROR(send(serial, kOutput, {buffer, static_cast<size_t>(n)}));
  return true;
}

bool readable(const Fd& fd) {
  pollfd ready{fd.get(), POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

// Reaps whatever has ended; true once the tests are among it.
bool reap(pid_t tests, int& status) {
  bool tests_ended = false;
  int ended_status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &ended_status, WNOHANG)) > 0;) {
    if (pid != tests) continue;
    status = ended_status;
    tests_ended = true;
  }
  return tests_ended;
}

// Copies output until the tests have ended and nothing of it is left in the pipe, whoever else holds that.
absl::StatusOr<int> attend(pid_t tests, const Fd& output, const Fd& children, const Fd& serial) {
  int status = 0;
  bool tests_ended = false;
  bool output_open = true;
  while (!tests_ended || (output_open && readable(output))) {
    pollfd events[2] = {{output_open ? output.get() : -1, POLLIN, 0}, {children.get(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0) continue;
    if (events[0].revents != 0) {
      HOPYARD_ASSIGN_OR_RETURN(output_open, pass_output(output, serial));
    }
    if (events[1].revents != 0) {
      signalfd_siginfo taken;
      (void)!::read(children.get(), &taken, sizeof taken);
      if (reap(tests, status)) tests_ended = true;
    }
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  HOPYARD_RETURN_IF_ERROR(send(serial, kOutput,
                               fmt::format("the tests were ended by signal {} ({})\n", WTERMSIG(status),
                                           ::strsignal(WTERMSIG(status)))));
  return 128 + WTERMSIG(status);
}

absl::StatusOr<int> run_all(const Fd& serial) {
  HOPYARD_RETURN_IF_ERROR(send(serial, kReady, ""));
  base::FrameDecoder decoder;
  HOPYARD_ASSIGN_OR_RETURN(const std::string first,
                           base::read_frame(serial.get(), decoder, base::Deadline(std::chrono::seconds(30))));
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe output, base::make_pipe());
  sigset_t child_ended, before;
  ::sigemptyset(&child_ended);
  ::sigaddset(&child_ended, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child_ended, &before);
  const Fd children(::signalfd(-1, &child_ended, SFD_CLOEXEC));
  const pid_t tests = ::fork();
  if (tests < 0) return base::errno_status("fork", "tests");
  if (tests == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    run_tests(first, output.write);
  }
  output.write.reset();
  return attend(tests, output.read, children, serial);
}

absl::Status run(Fd& serial) {
  HOPYARD_RETURN_IF_ERROR(lab::become_guest_init(lab::Tmp::kPrivate));
  HOPYARD_ASSIGN_OR_RETURN(serial, lab::open_serial(0));
  HOPYARD_ASSIGN_OR_RETURN(const int code, run_all(serial));
  return send(serial, kExitCode, std::to_string(code));
}

}  // namespace

void run_in_guest() {
  Fd serial;
  // Without the serial line only the console is left to complain to.
  if (const absl::Status status = run(serial); !status.ok()) {
    fmt::print("guest test: {}\n", std::string(status.message()));
    std::fflush(stdout);
    ::tcdrain(STDOUT_FILENO);
  }
  if (serial.valid()) lab::drain_serial(serial);
  lab::power_off();
}

}  // namespace hopyard::guest_test
