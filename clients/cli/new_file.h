// SPDX-License-Identifier: Apache-2.0
// A file that is there whole or not at all, and never in place of another; or standard output. Knows nothing
// of what is written.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::cli {

class NewFile {
 public:
  // Empty or "-": standard output. ALREADY_EXISTS if the file is there.
  static absl::StatusOr<NewFile> make(const std::string& name);
  NewFile(NewFile&&) = default;
  NewFile& operator=(NewFile&&) = delete;
  // Unless it was published, nothing is left.
  ~NewFile();

  absl::Status write(std::string_view bytes);
  // Gives the file its name. ALREADY_EXISTS if another has it by now.
  absl::Status publish();

 private:
  explicit NewFile(std::string name) : name_(std::move(name)) {}
  std::string name_;  // as the user gave it; empty: standard output
  std::string part_;  // what is written until it is whole
  base::Fd file_;     // none: standard output
};

}  // namespace hopyard::cli
