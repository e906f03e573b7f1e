// SPDX-License-Identifier: Apache-2.0
// The one owner of a file descriptor. Everything is CLOEXEC from birth.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace hopyard::base {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// For the start of a program: opens /dev/null for each of the three standard descriptors that is closed, so
// that no file or socket gets its number and the words meant for it. Writing to a standard output that was
// closed stays an error.
void hold_standard_descriptors();

// open(2) with O_CLOEXEC added; errors name the path.
absl::StatusOr<Fd> open_file(const std::string& path, int flags, unsigned mode = 0);

struct Pipe {
  Fd read;
  Fd write;
};
absl::StatusOr<Pipe> make_pipe();

// Whole files; for small ones (configuration, /proc). read_file fails beyond `limit_bytes`.
absl::StatusOr<std::string> read_file(const std::string& path, size_t limit_bytes = 64u << 20);
// Creates or truncates; not atomic.
absl::Status write_file(const std::string& path, std::string_view content, unsigned mode = 0644);
// For /proc and /sys: the file must exist.
absl::Status write_existing(const std::string& path, std::string_view content);

// Writes all of `bytes`; EINTR retried. The fd must be blocking.
absl::Status write_all(int fd, std::string_view bytes);

}  // namespace hopyard::base
