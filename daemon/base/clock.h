// SPDX-License-Identifier: Apache-2.0
// The clock every instant is read from, and deadlines on it.
#pragma once

#include <chrono>
#include <cstdint>

namespace hopyard::base {

// CLOCK_MONOTONIC in nanoseconds.
int64_t monotonic_ns();
// CLOCK_REALTIME in nanoseconds since 1970; for labels only, never for differences.
int64_t unix_ns();

// Returns once CLOCK_MONOTONIC has reached `at_ns`, whatever signals come; at once if it has passed.
void sleep_until(int64_t at_ns);

// A point on CLOCK_MONOTONIC by which something must be done.
class Deadline {
 public:
  explicit Deadline(std::chrono::nanoseconds from_now) : at_ns_(monotonic_ns() + from_now.count()) {}
  bool passed() const { return monotonic_ns() >= at_ns_; }
  std::chrono::nanoseconds left() const { return std::chrono::nanoseconds(at_ns_ - monotonic_ns()); }
  // For poll(2): milliseconds, rounded up, at least 0.
  int poll_ms() const;
  int64_t at_ns() const { return at_ns_; }

 private:
  int64_t at_ns_;
};

}  // namespace hopyard::base
