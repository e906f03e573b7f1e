// SPDX-License-Identifier: Apache-2.0
// Codes, details and texts of the statuses.
#include "rpc/translate.h"

#include <string>

#include "fmt/format.h"

namespace hopyard::rpc {

grpc::Status to_grpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

grpc::Status to_grpc(const std::vector<v1::Problem>& problems) {
  v1::Problems details;
  for (const auto& problem : problems) *details.add_problems() = problem;
  const v1::Problem& first = problems.front();
  const std::string message =
      fmt::format("{}:{}:{}: {}{}", first.file(), first.line(), first.column(), first.message(),
                  problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "");
  return {grpc::StatusCode::INVALID_ARGUMENT, message, details.SerializeAsString()};
}

}  // namespace hopyard::rpc
