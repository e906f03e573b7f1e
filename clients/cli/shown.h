// SPDX-License-Identifier: Apache-2.0
// Which figures of a response are worth a column where not all can be shown. Pure.
#pragma once

#include <string>
#include <utility>

namespace hopyard::cli {

struct Shown {
  const char* metric;
  const char* title;
};
inline constexpr Shown kShown[] = {{"first_decrypted_ns", "first decrypted"},
                                   {"first_body_ns", "first body"},
                                   {"body_8192_ns", "8 KiB body"},
                                   {"complete_ns", "complete"}};

// "later.complete_ns" -> {"later", "complete_ns"}; a lone response has no role.
inline std::pair<std::string, std::string> split_metric(const std::string& metric) {
  const size_t dot = metric.find('.');
  if (dot == std::string::npos) return {"", metric};
  return {metric.substr(0, dot), metric.substr(dot + 1)};
}

}  // namespace hopyard::cli
