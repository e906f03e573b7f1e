// SPDX-License-Identifier: Apache-2.0
// The ramp of a server with dynamic records: how large each record of a connection may be, and whether a
// trial's evidence shows just that. Pure; knows the directives' defaults, not the patch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "trial/check_list.h"

namespace hopyard::trial {

// The first `threshold` records carry `low_bytes`, as many again `high_bytes`, all others `full_bytes`.
struct Ramp {
  uint32_t low_bytes = 0;
  uint32_t high_bytes = 0;
  uint32_t full_bytes = 0;
  uint64_t buffer_bytes = 0;  // nginx's, which it takes for a full record
  uint32_t threshold = 0;
  int64_t timeout_ns = 0;  // nothing written for so long: from the beginning

  // Of a record before which `records` were written since the ramp's beginning.
  uint32_t bound(uint64_t records) const;
};

// Absent where the build has no dynamic records or the case did not switch them on.
std::optional<Ramp> ramp_of(const v1::TrialSpec& spec);

// Every write is one record of the client's; each is within the ramp; nothing but a response's end, or what
// was flushed behind a write that blocked, is short of it (HTTP/1.1, where nothing else is flushed); every
// step of the ramp was logged, at its place; and it began anew after every pause that is as long as the
// timeout.
void check_ramp(const v1::TrialSpec& spec, const Ramp& ramp, const v1::ClientEvidence& client,
                const v1::ServerEvidence& server, CheckList& checks);

}  // namespace hopyard::trial
