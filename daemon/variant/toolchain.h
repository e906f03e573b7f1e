// SPDX-License-Identifier: Apache-2.0
// Which compiler, linker and C library a build would use now: part of every build's hash.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace hopyard::variant {

struct Toolchain {
  std::string cc;                     // absolute path
  std::string cxx;                    // absolute path
  std::vector<std::string> identity;  // "compiler gcc (Debian 12.2.0-14) 12.2.0, x86_64-linux-gnu", …
};

// Empty names: $CC and $CXX, else cc and c++. NOT_FOUND names a missing tool.
absl::StatusOr<Toolchain> find_toolchain(const std::string& cc, const std::string& cxx);

}  // namespace hopyard::variant
