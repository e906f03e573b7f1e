// SPDX-License-Identifier: Apache-2.0
// A message to a guest as a file: the one way in that takes no time on the guest's clock and interrupts
// nothing.
#pragma once

#include <string>

#include "base/status.h"

namespace hopyard::execute {

class OrderFile {
 public:
  // In the user's runtime folder, readable by its owner alone.
  static absl::StatusOr<OrderFile> make(const std::string& bytes);
  OrderFile(OrderFile&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  OrderFile& operator=(OrderFile&&) = delete;
  ~OrderFile();  // removes it

  const std::string& path() const { return path_; }  // absolute

 private:
  explicit OrderFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace hopyard::execute
