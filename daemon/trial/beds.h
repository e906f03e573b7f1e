// SPDX-License-Identifier: Apache-2.0
// The kinds of bed there are; only bed.cc chooses among them.
#pragma once

#include "trial/bed.h"

namespace hopyard::trial {

absl::StatusOr<std::unique_ptr<Bed>> make_routed_bed(const v1::TrialSpec& spec);
absl::StatusOr<std::unique_ptr<Bed>> make_loopback_bed(const v1::TrialSpec& spec);
absl::StatusOr<std::unique_ptr<Bed>> make_unix_bed(const std::string& scratch);
// For the gate: TCP over a loopback of its own, a small send buffer at the server and a small receive buffer
// at the client, so that the server's writes block again and again.
absl::StatusOr<std::unique_ptr<Bed>> make_slow_bed(std::chrono::nanoseconds read_pause);

}  // namespace hopyard::trial
