// SPDX-License-Identifier: Apache-2.0
// Turns errno values and causes into one-line statuses.
#include "base/status.h"

#include <cstring>

#include "fmt/format.h"

namespace hopyard::base {

absl::Status errno_status(std::string_view attempt, std::string_view object, int error) {
  return absl::ErrnoToStatus(error, fmt::format("{}: {}", attempt, object));
}

absl::Status annotate(const absl::Status& status, std::string_view attempt, std::string_view object) {
  if (status.ok()) return status;
  const auto cause = status.message();
  return absl::Status(status.code(), fmt::format("{}: {}: {}", attempt, object,
                                                 std::string_view(cause.data(), cause.size())));
}

}  // namespace hopyard::base
