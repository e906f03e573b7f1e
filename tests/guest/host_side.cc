// SPDX-License-Identifier: Apache-2.0
// Boots the guest, hands it its arguments, copies its output and takes its exit code, within a deadline.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "base/frames.h"
#include "execute/guest.h"
#include "fmt/format.h"
#include "guest/session.h"

extern char** environ;

namespace hopyard::guest_test {
namespace {

constexpr int kSkipped = 77;

struct Options {
  std::chrono::seconds deadline{120};
  uint32_t memory_mib = 512;
  std::vector<std::string> test_arguments;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--deadline-s=")) {
      options.deadline = std::chrono::seconds(std::atoi(argv[i] + 13));
    } else if (argument.starts_with("--memory-mib=")) {
      options.memory_mib = static_cast<uint32_t>(std::atoi(argv[i] + 13));
    } else {
      options.test_arguments.emplace_back(argument);
    }
  }
  return options;
}

// Arguments, an empty text, environment. Places for temporary files are the guest's own.
std::string first_frame(const Options& options) {
  std::vector<std::string> texts = options.test_arguments;
  texts.emplace_back();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("TMPDIR=") && !text.starts_with("TEST_TMPDIR=")) texts.emplace_back(text);
  }
  return join_texts(texts);
}

// Everything of one running guest. The console goes to a file in memory: nobody has to read it meanwhile.
struct Running {
  base::Child child;
  base::Fd to_guest;
  base::Fd from_guest;
  base::Fd console;
};

absl::StatusOr<Running> boot(const Options& options) {
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe down, base::make_pipe());
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe up, base::make_pipe());
  base::Fd console(::memfd_create("console", MFD_CLOEXEC));
  if (!console.valid()) return base::errno_status("memfd_create", "console");
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  execute::GuestSpec spec;
  spec.memory_mib = options.memory_mib;
  spec.init_path = self;
  spec.serial_in = down.read.get();
  spec.serial_out = up.write.get();
  spec.console_fd = console.get();
  spec.keeper = {self, "--keep-guest"};
  HOPYARD_ASSIGN_OR_RETURN(base::Child child, execute::start_guest(spec));
  return Running{std::move(child), std::move(down.write), std::move(up.read), std::move(console)};
}

absl::StatusOr<int> converse(const Options& options, Running& guest) {
  const base::Deadline deadline(options.deadline);
  base::FrameDecoder decoder;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const std::string frame,
                             base::read_frame(guest.from_guest.get(), decoder, deadline));
    if (frame.empty()) return absl::DataLossError("read frame: guest: empty");
    if (frame[0] == kExitCode) return std::atoi(frame.c_str() + 1);
    if (frame[0] == kReady) {
      HOPYARD_RETURN_IF_ERROR(base::write_frame(guest.to_guest.get(), first_frame(options)));
      continue;
    }
    HOPYARD_RETURN_IF_ERROR(base::write_all(STDOUT_FILENO, std::string_view(frame).substr(1)));
  }
}

void print_console(const base::Fd& console) {
  constexpr off_t kTail = 8192;
  const off_t size = ::lseek(console.get(), 0, SEEK_END);
  std::string text(static_cast<size_t>(std::min(size, kTail)), '\0');
  const ssize_t n = ::pread(console.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  if (n > 0) fmt::print(stderr, "---- the guest's console ----\n{}\n", text);
}

}  // namespace

int run_on_host(int argc, char** argv) {
  const Options options = parse(argc, argv);
  auto guest = boot(options);
  if (absl::IsNotFound(guest.status())) {
    fmt::print("SKIPPED: no guest can run here: {} (Debian: apt install user-mode-linux)\n",
               std::string(guest.status().message()));
    return kSkipped;
  }
  if (!guest.ok()) {
    fmt::print(stderr, "{}\n", std::string(guest.status().message()));
    return 1;
  }
  const auto code = converse(options, *guest);
  if (code.ok()) {
    const auto ended = guest->child.wait(std::chrono::seconds(10));
    guest->to_guest.reset();
    if (ended.ok()) return *code;
    fmt::print(stderr, "the guest did not power off: {}\n", std::string(ended.status().message()));
    return 1;
  }
  fmt::print(stderr, "the guest did not get to the end: {}\n", std::string(code.status().message()));
  guest->to_guest.reset();
  const auto ended = guest->child.wait(std::chrono::seconds(10));
  if (ended.ok()) fmt::print(stderr, "the guest's keeper: {}\n", ended->describe());
  print_console(guest->console);
  return 1;
}

}  // namespace hopyard::guest_test
