// SPDX-License-Identifier: Apache-2.0
// See json_value.h.
#include "verify/json_value.h"

#include <cstdlib>

namespace hopyard::verify {

std::map<std::string, std::string> json_members(std::string_view object) {
  std::map<std::string, std::string> members;
  size_t at = 0;
  while ((at = object.find('"', at)) != std::string_view::npos) {
    const size_t name_end = object.find('"', at + 1);
    const size_t colon = object.find(':', name_end);
    if (name_end == std::string_view::npos || colon == std::string_view::npos) break;
    const size_t end = object.find_first_of(",}", colon);
    if (end == std::string_view::npos) break;
    members[std::string(object.substr(at + 1, name_end - at - 1))] =
        std::string(object.substr(colon + 1, end - colon - 1));
    at = end;
  }
  return members;
}

std::string json_text(std::string_view object, std::string_view name) {
  const auto members = json_members(object);
  const auto found = members.find(std::string(name));
  return found == members.end() ? "" : found->second;
}

double json_number(std::string_view object, std::string_view name) {
  return std::strtod(json_text(object, name).c_str(), nullptr);
}

uint64_t json_unsigned(std::string_view object, std::string_view name) {
  return std::strtoull(json_text(object, name).c_str(), nullptr, 10);
}

}  // namespace hopyard::verify
