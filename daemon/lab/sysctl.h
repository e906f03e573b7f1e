// SPDX-License-Identifier: Apache-2.0
// Kernel settings of the network namespace the calling thread is in: an allow-list, each write read back.
// Knows nothing of paths; never reaches another namespace, since /proc/sys/net shows the caller's own.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hopyard::lab {

struct Sysctl {
  std::string_view name;  // "net.ipv4.tcp_ecn"
  std::string value;      // words separated by single blanks
};

// NOT_FOUND: this kernel, or this namespace, has no such setting.
absl::StatusOr<std::string> read_sysctl(std::string_view name);

// Writes, unless the value is there already, and reads back. INVALID_ARGUMENT: not on the allow-list of what
// may be changed. NOT_FOUND: no such setting. FAILED_PRECONDITION: refused, or another value was read back;
// the message names all three.
absl::Status write_sysctl(std::string_view name, std::string_view value);

// What is recorded of an endpoint, where the kernel shows it. In a fixed order.
std::span<const std::string_view> recorded_sysctls();

}  // namespace hopyard::lab
