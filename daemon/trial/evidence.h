// SPDX-License-Identifier: Apache-2.0
// The lab's plain structures as evidence messages. Pure; judges nothing.
#pragma once

#include "hopyard/v1/result.pb.h"
#include "lab/path.h"

namespace hopyard::trial {

v1::SocketSnapshot to_evidence(const std::string& at, const lab::SocketSnapshot& snapshot);
v1::QdiscSnapshot to_evidence(const std::string& at, const lab::QdiscSnapshot& snapshot);
v1::RouterTraffic to_evidence(const lab::RouterTraffic& traffic);
void add_observed(const lab::Observed& observed, v1::Environment& environment);

}  // namespace hopyard::trial
