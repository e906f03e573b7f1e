// SPDX-License-Identifier: Apache-2.0
// Puts a private tmpfs over a folder of the present mount namespace, for files that end with the namespace.
#pragma once

#include <string>

#include "base/status.h"

namespace hopyard::lab {

enum class Beneath {
  kHidden,   // the new folder is empty
  kVisible,  // folders and symbolic links that were there now appear in it (later ones do not)
};

// Mounts a tmpfs of mode 1777 on `folder`. The mount namespace must be the caller's own and private.
absl::Status cover_with_tmpfs(const std::string& folder, Beneath beneath);

}  // namespace hopyard::lab
