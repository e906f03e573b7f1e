// SPDX-License-Identifier: Apache-2.0
// Pinned tarballs: found, fetched, and never handed out without their hash checked. Knows nothing of what is
// in them.
#pragma once

#include <stop_token>
#include <string>

#include "base/status.h"
#include "variant/catalogue.h"
#include "variant/progress.h"

namespace hopyard::variant {

class Sources {
 public:
  // Tarballs are kept in <cache_dir>/sources/<sha256>/<file>.
  explicit Sources(std::string cache_dir) : cache_dir_(std::move(cache_dir)) {}

  // The path of the tarball, fetched if need be, verified just now. DATA_LOSS names the file and both hashes;
  // NOT_FOUND names the tarball and why each place failed.
  absl::StatusOr<std::string> tarball(const Pin& pin, const std::string& variant, const ProgressSink& sink,
                                      const std::stop_token& stop) const;
  // DATA_LOSS if the tarball is at hand (the pin's path or the cache) and altered; OK if it is right or
  // absent.
  absl::Status check_at_hand(const Pin& pin) const;

 private:
  std::string cached_path(const Pin& pin) const;
  absl::StatusOr<std::string> at_hand(const Pin& pin) const;
  absl::Status fetch(const Pin& pin, const std::string& variant, const ProgressSink& sink,
                     const std::stop_token& stop) const;
  std::string cache_dir_;
};

// OK if the file has the pin's hash.
absl::Status verify_tarball(const Pin& pin, const std::string& path);

}  // namespace hopyard::variant
