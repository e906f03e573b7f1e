// SPDX-License-Identifier: Apache-2.0
// A trial's folder on the private /tmp, or in $HOPYARD_SCRATCH, removed with its owner.
#pragma once

#include <string>

#include "base/status.h"

namespace hopyard::trial {

class Scratch {
 public:
  static absl::StatusOr<Scratch> make();
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace hopyard::trial
