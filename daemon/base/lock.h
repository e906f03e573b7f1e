// SPDX-License-Identifier: Apache-2.0
// A lock file that at most one process holds. Knows nothing of what it guards.
#pragma once

#include <chrono>
#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::base {

// Held until destroyed or until the process ends, however it ends. The file stays.
class FileLock {
 public:
  // Makes the file if need be and writes `note` into it. UNAVAILABLE if another process still holds it after
  // `wait`; the message carries the holder's note. A wait uses SIGALRM: only in a single-threaded program.
  static absl::StatusOr<FileLock> take(const std::string& path, const std::string& note,
                                       std::chrono::milliseconds wait = std::chrono::milliseconds(0));

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace hopyard::base
