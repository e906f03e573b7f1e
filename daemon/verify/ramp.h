// SPDX-License-Identifier: Apache-2.0
// Dynamic records: small ones first, then larger, then full; and from the beginning again after a pause.
#pragma once

#include <cstdint>
#include <optional>

#include "verify/checks.h"

namespace hopyard::verify {

struct Ramp {
  uint64_t low_bytes = 0, high_bytes = 0, full_bytes = 0;
  uint64_t buffer_bytes = 0;  // what the server's log calls full
  uint64_t threshold = 0;     // so many records of each of the first two sizes
  int64_t timeout_ns = 0;

  uint64_t most(uint64_t record) const {  // of a record, counted from 0 since the ramp's beginning
    return record < threshold ? low_bytes : record < 2 * threshold ? high_bytes : full_bytes;
  }
};

// Absent where the build has no dynamic records or the case did not ask for them.
std::optional<Ramp> ramp_of(const Subject& subject);

void derive_ramp_checks(const Subject& subject, const Ramp& ramp, DerivedChecks& checks);

}  // namespace hopyard::verify
