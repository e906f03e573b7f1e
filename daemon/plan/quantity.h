// SPDX-License-Identifier: Apache-2.0
// Numbers with units as people write them, to and from the base unit (ns, bit/s, bytes, a fraction of 1).
// Pure; knows no key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hopyard/v1/campaign.pb.h"

namespace hopyard::plan {

struct Quantity {
  std::string error;    // empty: good. "has no unit", "is not a number", …
  uint64_t whole = 0;   // ns, bit/s, bytes, or the plain number
  double fraction = 0;  // UNIT_PERCENT only
};

// "20ms", "1.5s", "16k", "0.1%", "20"; exact or refused: what is not a whole number of the base unit is an
// error, as is anything from 2^63 on.
Quantity parse_quantity(std::string_view text, v1::Unit unit);

// `value` in the base unit as a person would write it: 1e10 ns is "10s", 65536 bytes "64KiB", 0.5 "50%".
std::string format_quantity(double value, v1::Unit unit);

// The units' spellings: {"ns", "us", "ms", "s"}; empty for UNIT_NONE.
std::vector<std::string> unit_names(v1::Unit unit);

}  // namespace hopyard::plan
