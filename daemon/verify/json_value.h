// SPDX-License-Identifier: Apache-2.0
// Values of the flat JSON objects in which qdisc options and counters are kept: names without quotes inside,
// numbers and true or false.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hopyard::verify {

// The value's text as written; empty: no such name.
std::string json_text(std::string_view object, std::string_view name);
double json_number(std::string_view object, std::string_view name);      // 0: no such name
uint64_t json_unsigned(std::string_view object, std::string_view name);  // 0: no such name
// All names and their values' texts.
std::map<std::string, std::string> json_members(std::string_view object);

}  // namespace hopyard::verify
