// SPDX-License-Identifier: Apache-2.0
// A release alone would not tell two builds apart.
#include "run/tool_version.h"

#include "base/digest.h"
#include "execute/worker_program.h"
#include "fmt/format.h"

namespace hopyard::run {

std::string tool_version(const std::string& release) {
  constexpr size_t kDigits = 16;
  const auto program = execute::worker_program();
  const auto hash = program.ok() ? base::sha256_file_hex(*program) : program.status();
  return fmt::format("hopyard {}, worker {}", release, hash.ok() ? hash->substr(0, kDigits) : "unknown");
}

}  // namespace hopyard::run
