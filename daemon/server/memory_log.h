// SPDX-License-Identifier: Apache-2.0
// Reads the log that nginx keeps in its own memory (`error_log memory:…`). Written to a file instead, each of
// its hundreds of lines would be a system call in the measured time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "base/status.h"

namespace hopyard::server {

// The log of process `pid`, `log_bytes` being the size its configuration asks for, as soon as it sleeps:
// nginx sleeps where it waits for events and nowhere else, so what it did is logged. After `patience` as it
// is then. Empty: it has ended, or keeps no such log. OUT_OF_RANGE: the log went round. Source: proc(5).
absl::StatusOr<std::string> read_memory_log(pid_t pid, size_t log_bytes, std::chrono::nanoseconds patience);

// The log in `memory`, which holds it whole or not at all; as above.
absl::StatusOr<std::string> find_memory_log(const std::string& memory, size_t log_bytes);

}  // namespace hopyard::server
