// SPDX-License-Identifier: Apache-2.0
// How many guests this machine has room for.
#pragma once

#include <cstdint>

namespace hopyard::run {

struct Room {
  uint32_t processors = 1;    // that this process may use
  uint64_t memory_bytes = 0;  // available without swapping, and within the control group's limit
};

Room room_here();

// What a guest may take of memory, with what serves it.
uint64_t guest_bytes();

// At least one: whether a lone guest fits is found by starting it. One for each processor, or their clocks
// would wait for each other; and all of a guest's memory counts, though it takes it only as it needs it.
uint32_t most_guests(const Room& room);

}  // namespace hopyard::run
