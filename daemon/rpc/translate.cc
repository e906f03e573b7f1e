// SPDX-License-Identifier: Apache-2.0
// Codes, details and texts of the statuses.
#include "rpc/translate.h"

#include <string>

#include "base/text.h"
#include "fmt/format.h"

namespace hopyard::rpc {
namespace {

// Clients take 8 KiB of a status in all, unless told otherwise, and nothing at all of a larger one.
constexpr size_t kMessageBytes = 3 << 10;
constexpr size_t kDetailsBytes = 3 << 10;  // a third more on the wire, in base 64

// As much of `message` as takes `limit_bytes` on the wire, where a byte that is no printable ASCII takes
// three.
std::string bounded(std::string_view message, size_t limit_bytes) {
  size_t size = 0, wire = 0;
  for (; size < message.size(); ++size) {
    const bool plain = message[size] >= ' ' && message[size] <= '~' && message[size] != '%';
    if ((wire += plain ? 1 : 3) > limit_bytes) break;
  }
  return std::string(base::cut_utf8(message, size));
}

}  // namespace

grpc::Status to_grpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()),
          bounded(std::string(status.message()), 2 * kMessageBytes)};
}

grpc::Status to_grpc(const std::vector<v1::Problem>& problems) {
  v1::Problems details;
  for (const auto& problem : problems) {
    *details.add_problems() = problem;
    if (details.ByteSizeLong() <= kDetailsBytes) continue;
    details.mutable_problems()->RemoveLast();
    break;
  }
  details.set_more(static_cast<uint32_t>(problems.size()) - static_cast<uint32_t>(details.problems_size()));
  const v1::Problem& first = problems.front();
  const std::string message =
      fmt::format("{}:{}:{}: {}{}", first.file(), first.line(), first.column(), first.message(),
                  problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : "");
  return {grpc::StatusCode::INVALID_ARGUMENT, bounded(message, kMessageBytes), details.SerializeAsString()};
}

}  // namespace hopyard::rpc
