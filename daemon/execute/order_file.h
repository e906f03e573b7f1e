// SPDX-License-Identifier: Apache-2.0
// A message to a guest as a file: the one way in that takes no time on the guest's clock and interrupts
// nothing.
#pragma once

#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::execute {

class OrderFile {
 public:
  // In the user's runtime folder, readable by its owner alone.
  static absl::StatusOr<OrderFile> make(const std::string& bytes);
  OrderFile(OrderFile&& other) noexcept : path_(std::move(other.path_)), held_(std::move(other.held_)) {
    other.path_.clear();
  }
  OrderFile& operator=(OrderFile&&) = delete;
  ~OrderFile();  // removes it

  const std::string& path() const { return path_; }  // absolute

 private:
  OrderFile(std::string path, base::Fd held) : path_(std::move(path)), held_(std::move(held)) {}
  std::string path_;
  base::Fd held_;  // locked as long as somebody is there to remove the file
};

// Removes the files of those who were killed before they could. What others still hold stays.
void remove_stale_orders();

}  // namespace hopyard::execute
