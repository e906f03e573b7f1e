// SPDX-License-Identifier: Apache-2.0
// mkdtemp and its end.
#include "trial/scratch.h"

#include <cstdlib>
#include <filesystem>

namespace hopyard::trial {

absl::StatusOr<Scratch> Scratch::make() {
  const char* const folder = std::getenv("HOPYARD_SCRATCH");
  std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/hopyard-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return base::errno_status("make folder", path);
  return Scratch(path);
}

Scratch::~Scratch() {
  std::error_code ignored;  // what cannot be removed goes with the private /tmp
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace hopyard::trial
