// SPDX-License-Identifier: Apache-2.0
// One line an input.
#include "variant/inputs.h"

#include "base/digest.h"
#include "fmt/format.h"

namespace hopyard::variant {

std::string Input::shown() const {
  return label.empty() ? fmt::format("{} {}", what, identity)
                       : fmt::format("{} {} sha256:{}", what, label, identity);
}

std::string key_of(const std::vector<Input>& inputs) {
  std::string text;
  for (const auto& input : inputs) text += fmt::format("{} {}\n", input.what, input.identity);
  return base::sha256_hex(text);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace hopyard::variant
