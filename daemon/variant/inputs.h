// SPDX-License-Identifier: Apache-2.0
// What goes into a build, and the key that stands for all of it. Builds nothing.
#pragma once

#include <string>
#include <vector>

namespace hopyard::variant {

// One thing that goes into a build: what it is, what identifies it, and a label for readers. Labels are file
// names and stay out of the hash: the same bytes under another name are the same input.
struct Input {
  std::string what;
  std::string label;
  std::string identity;

  std::string shown() const;
};

std::string key_of(const std::vector<Input>& inputs);

// The path's last part.
std::string file_name(const std::string& path);

}  // namespace hopyard::variant
