// SPDX-License-Identifier: Apache-2.0
// Errors as absl::Status: "attempt: object: cause". Knows no kernel object.
#pragma once

#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hopyard::base {

// An absl::Status from `error` (an errno value) that reads "attempt: object: strerror".
[[nodiscard]] absl::Status errno_status(std::string_view attempt, std::string_view object, int error = errno);

// `status` with "attempt: object: " in front of its message; OK stays OK.
[[nodiscard]] absl::Status annotate(const absl::Status& status, std::string_view attempt,
                                    std::string_view object);

}  // namespace hopyard::base

#define HOPYARD_RETURN_IF_ERROR(expression)                                                         \
  do {                                                                                              \
    if (absl::Status hopyard_status_ = (expression); !hopyard_status_.ok()) return hopyard_status_; \
  } while (false)

#define HOPYARD_CONCAT_INNER_(a, b) a##b
#define HOPYARD_CONCAT_(a, b) HOPYARD_CONCAT_INNER_(a, b)

// HOPYARD_ASSIGN_OR_RETURN(auto value, function_returning_statusor());
#define HOPYARD_ASSIGN_OR_RETURN(declaration, expression) \
  HOPYARD_ASSIGN_OR_RETURN_IMPL_(HOPYARD_CONCAT_(hopyard_result_, __LINE__), declaration, expression)
#define HOPYARD_ASSIGN_OR_RETURN_IMPL_(result, declaration, expression) \
  auto result = (expression);                                           \
  if (!result.ok()) return result.status();                             \
  declaration = std::move(result).value()
