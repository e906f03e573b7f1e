// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's clocks.
#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

namespace hopyard::base {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

int64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * kSecondNs + now.tv_nsec;
}

}  // namespace

int64_t monotonic_ns() { return read_clock(CLOCK_MONOTONIC); }
int64_t unix_ns() { return read_clock(CLOCK_REALTIME); }

void sleep_until(int64_t at_ns) {
  const timespec at{.tv_sec = at_ns / kSecondNs, .tv_nsec = at_ns % kSecondNs};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

int Deadline::poll_ms() const {
  const int64_t left_ms = (left().count() + 999'999) / 1'000'000;
  return static_cast<int>(std::clamp<int64_t>(left_ms, 0, 1'000'000'000));
}

}  // namespace hopyard::base
