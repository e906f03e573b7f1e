// SPDX-License-Identifier: Apache-2.0
// File descriptors and whole small files.
#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include "fmt/format.h"

namespace hopyard::base {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

absl::StatusOr<Fd> open_file(const std::string& path, int flags, unsigned mode) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return errno_status("open", path);
  return Fd(fd);
}

void hold_standard_descriptors() {
  // open(2) takes the lowest number that is free.
  constexpr int kModes[] = {O_RDONLY, O_RDONLY, O_RDWR};
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", kModes[fd]);
  }
}

absl::StatusOr<Pipe> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return errno_status("pipe2", "a new pipe");
  return Pipe{Fd(fds[0]), Fd(fds[1])};
}

absl::StatusOr<std::string> read_file(const std::string& path, size_t limit_bytes) {
  HOPYARD_ASSIGN_OR_RETURN(Fd fd, open_file(path, O_RDONLY));
  std::string content;
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status("read", path);
    if (n == 0) return content;
    if (content.size() + static_cast<size_t>(n) > limit_bytes) {
      return absl::ResourceExhaustedError(fmt::format("read: {}: more than {} bytes", path, limit_bytes));
    }
    content.append(buffer, static_cast<size_t>(n));
  }
}

absl::Status write_file(const std::string& path, std::string_view content, unsigned mode) {
  HOPYARD_ASSIGN_OR_RETURN(Fd fd, open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  return annotate(write_all(fd.get(), content), "write", path);
}

absl::Status write_existing(const std::string& path, std::string_view content) {
  HOPYARD_ASSIGN_OR_RETURN(Fd fd, open_file(path, O_WRONLY));
  return annotate(write_all(fd.get(), content), "write", path);
}

absl::Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status("write", fmt::format("fd {}", fd));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

}  // namespace hopyard::base
