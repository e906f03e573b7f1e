// SPDX-License-Identifier: Apache-2.0
// What the beds with TCP share.
#pragma once

#include "base/status.h"
#include "hopyard/v1/worker.pb.h"
#include "lab/path.h"

namespace hopyard::trial {

inline constexpr uint16_t kPort = 443;

// The path that a trial asks of the lab.
lab::RoutedSpec path_spec(const v1::TrialSpec& spec);
// Of a connected IPv4 socket.
absl::StatusOr<uint16_t> local_port(int fd);

}  // namespace hopyard::trial
