// SPDX-License-Identifier: Apache-2.0
// Boots User-Mode Linux guests as the present user, with the machine's files as a read-only root. Knows the
// kernel's command line, nothing of what the guest does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/status.h"

namespace hopyard::execute {

inline constexpr char kDebianUml[] = "/usr/bin/linux.uml";  // Debian's package user-mode-linux

struct GuestSpec {
  std::string kernel = kDebianUml;
  uint32_t memory_mib = 512;
  std::string init_path;  // the guest's first process, as the machine sees it: absolute, no '"'
  std::vector<std::string> init_args;
  // The guest's /dev/ttyS0: bytes from serial_in reach the guest, what it writes goes to serial_out. Both are
  // borrowed. The guest is killed once the other end of serial_in is closed.
  int serial_in = -1;
  int serial_out = -1;
  int console_fd = -1;  // kernel messages and the guest's standard output and error; -1: dropped
  // Command that keeps the guest: sets it apart from the machine, then runs the rest of its arguments with
  // descriptor 3 its own standard input, 4 its own standard output, 1 and 2 its own standard error.
  std::vector<std::string> keeper;
  std::vector<std::string> kernel_options;  // further words for the kernel's command line
};

// The command line that boots `spec`, without the keeper. INVALID_ARGUMENT if init_path cannot be written on
// one.
absl::StatusOr<std::vector<std::string>> uml_command(const GuestSpec& spec);

// Starts the keeper with the guest. NOT_FOUND if the kernel is not installed. The child ends when the guest
// has ended and nothing of it is left.
absl::StatusOr<base::Child> start_guest(const GuestSpec& spec);

}  // namespace hopyard::execute
