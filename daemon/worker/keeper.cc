// SPDX-License-Identifier: Apache-2.0
// Descriptors and environment of a kept guest.
#include "worker/keeper.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "fmt/format.h"
#include "lab/privileges.h"
#include "lab/sandbox.h"

namespace hopyard::worker {
namespace {

constexpr int kSerialIn = 3;
constexpr int kSerialOut = 4;
constexpr int kPrivateDir = 5;

absl::Status place(int source, int target) {
  return ::dup2(source, target) < 0 ? base::errno_status("dup2", "guest descriptors") : absl::OkStatus();
}

absl::Status place_descriptors(const lab::Keep& keep) {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd null, base::open_file("/dev/null", O_RDWR));
  // Copies above all targets first, so that no target is overwritten before it was read.
  const base::Fd in(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
  const base::Fd out(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
  const base::Fd empty(::fcntl(null.get(), F_DUPFD_CLOEXEC, 10));
  null.reset();
  if (keep.private_dir.valid()) {
    const base::Fd directory(::fcntl(keep.private_dir.get(), F_DUPFD_CLOEXEC, 10));
    HOPYARD_RETURN_IF_ERROR(place(directory.get(), kPrivateDir));
  }
  HOPYARD_RETURN_IF_ERROR(place(in.get(), kSerialIn));
  HOPYARD_RETURN_IF_ERROR(place(out.get(), kSerialOut));
  HOPYARD_RETURN_IF_ERROR(place(empty.get(), STDIN_FILENO));
  return place(STDERR_FILENO, STDOUT_FILENO);
}

absl::Status run(const std::vector<std::string>& command) {
  HOPYARD_RETURN_IF_ERROR(lab::give_up_privileges());
  HOPYARD_ASSIGN_OR_RETURN(lab::Keep keep, lab::enter_keeper());
  HOPYARD_RETURN_IF_ERROR(place_descriptors(keep));
  if (keep.private_dir.valid()) {
    keep.private_dir.release();  // its number may be one of the targets by now
    ::setenv("TMPDIR", fmt::format("/proc/self/fd/{}", kPrivateDir).c_str(), 1);
  }
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return base::errno_status("execute", command.front());
}

}  // namespace

int keep_guest(const std::vector<std::string>& command) {
  if (command.empty()) {
    fmt::print(stderr, "keep guest: no command given\n");
    return 2;
  }
  const absl::Status status = run(command);
  fmt::print(stderr, "keep guest: {}\n", std::string(status.message()));
  return 1;
}

}  // namespace hopyard::worker
