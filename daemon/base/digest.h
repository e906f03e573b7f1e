// SPDX-License-Identifier: Apache-2.0
// SHA-256 for the daemon's side (OpenSSL). The worker hashes with BoringSSL and must not link this.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace hopyard::base {

// Lower-case hex, 64 characters.
std::string sha256_hex(std::string_view bytes);
// Streams the file; errors name it.
absl::StatusOr<std::string> sha256_file_hex(const std::string& path);

}  // namespace hopyard::base
