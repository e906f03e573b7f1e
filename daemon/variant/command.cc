// SPDX-License-Identifier: Apache-2.0
// A child on a pipe, and an eventfd by which a stop request reaches the loop that reads it.
#include "variant/command.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace hopyard::variant {
namespace {

constexpr size_t kKeptLines = 15;
constexpr auto kLongestCommand = std::chrono::hours(1);
constexpr auto kStopGrace = std::chrono::seconds(5);

std::vector<std::string> environment(bool inherit) {
  std::vector<std::string> out = {"LC_ALL=C"};
  if (inherit) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (!text.starts_with("LC_ALL=") && !text.starts_with("MAKEFLAGS=")) out.emplace_back(text);
    }
    return out;
  }
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr)
      out.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

// Cuts a stream into lines; a carriage return ends one too (progress of interactive tools).
class Lines {
 public:
  explicit Lines(const LineSink& sink) : sink_(sink) {}

  void feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n' || c == '\r')
        end_line();
      else
        line_.push_back(c);
    }
  }
  void end_line() {
    if (line_.empty()) return;
    if (sink_) sink_(line_);
    kept_.push_back(std::exchange(line_, {}));
    if (kept_.size() > kKeptLines) kept_.pop_front();
  }
  std::string last() const { return fmt::format("{}", fmt::join(kept_, "\n")); }

 private:
  const LineSink& sink_;
  std::string line_;
  std::deque<std::string> kept_;
};

// Reads until end of stream. CANCELLED or DEADLINE_EXCEEDED end it early.
absl::Status pump(int output, int stopped, const base::Deadline& deadline, Lines& lines) {
  char buffer[65536];
  while (true) {
    pollfd ready[2] = {{output, POLLIN, 0}, {stopped, POLLIN, 0}};
    const int n = ::poll(ready, 2, deadline.poll_ms());
    if (n < 0 && errno != EINTR) return base::errno_status("poll", "output");
    if (deadline.passed()) return absl::DeadlineExceededError("not done in time");
    if (n <= 0) continue;
    if (ready[1].revents != 0) return absl::CancelledError("stopped on request");
    const ssize_t got = ::read(output, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    lines.feed({buffer, static_cast<size_t>(got)});
  }
  lines.end_line();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* value = std::getenv("PATH");
  std::string_view path = value != nullptr ? value : "/usr/bin:/bin";
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    const std::string candidate = fmt::format("{}/{}", path.substr(0, end), name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return absl::NotFoundError(fmt::format("find: {}: not in PATH", name));
}

absl::Status run(const Command& command, const std::stop_token& stop, const LineSink& on_line) {
  if (stop.stop_requested()) return absl::CancelledError(command.attempt + ": stopped on request");
  base::ChildOptions options{.argv = command.argv,
                             .environment = environment(command.inherit_environment),
                             .working_directory = command.working_directory};
  HOPYARD_ASSIGN_OR_RETURN(options.argv[0], find_program(command.argv[0]));
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe pipe, base::make_pipe());
  base::Fd stopped(::eventfd(0, EFD_CLOEXEC));
  if (!stopped.valid()) return base::errno_status("eventfd", command.attempt);
  options.stdout_fd = options.stderr_fd = pipe.write.get();
  HOPYARD_ASSIGN_OR_RETURN(base::Child child, base::Child::start(options));
  pipe.write.reset();
  const std::stop_callback tell(stop, [&stopped] { ::eventfd_write(stopped.get(), 1); });
  const base::Deadline deadline(kLongestCommand);
  Lines lines(on_line);
  if (absl::Status status = pump(pipe.read.get(), stopped.get(), deadline, lines); !status.ok()) {
    (void)child.stop(kStopGrace).status();  // the cause is what counts
    return base::annotate(status, command.attempt, command.argv[0]);
  }
  HOPYARD_ASSIGN_OR_RETURN(const base::ChildExit exit, child.wait(deadline.left()));
  if (exit.clean()) return absl::OkStatus();
  return absl::InternalError(
      fmt::format("{}: {}: {}\n{}", command.attempt, command.argv[0], exit.describe(), lines.last()));
}

absl::StatusOr<std::string> first_line(const std::vector<std::string>& argv) {
  std::string line;
  HOPYARD_RETURN_IF_ERROR(
      run({.attempt = "ask for its version", .argv = argv}, {}, [&line](std::string_view text) {
        if (line.empty()) line = text;
      }));
  if (line.empty()) return absl::InternalError(fmt::format("run: {}: says nothing", fmt::join(argv, " ")));
  return line;
}

}  // namespace hopyard::variant
