// SPDX-License-Identifier: Apache-2.0
// SHA-256 for the daemon's side (OpenSSL). The worker hashes with BoringSSL and must not link this.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace hopyard::base {

// Lower-case hex, 64 characters.
std::string sha256_hex(std::string_view bytes);
// Streams the file; errors name it.
absl::StatusOr<std::string> sha256_file_hex(const std::string& path);

// For many digests one after the other, in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::string_view bytes);
  // 32 bytes; the next digest begins.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace hopyard::base
