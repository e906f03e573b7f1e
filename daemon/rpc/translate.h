// SPDX-License-Identifier: Apache-2.0
// absl::Status and campaign problems as gRPC statuses. Knows no room but its own.
#pragma once

#include <grpcpp/support/status.h>

#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::rpc {

// The same code and message, cut where it is longer than a client takes; both libraries share the code's
// numbers.
grpc::Status to_grpc(const absl::Status& status);

// INVALID_ARGUMENT with the problems as a v1::Problems in the details, and the first one in the message.
grpc::Status to_grpc(const std::vector<v1::Problem>& problems);

}  // namespace hopyard::rpc
