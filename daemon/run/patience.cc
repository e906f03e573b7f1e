// SPDX-License-Identifier: Apache-2.0
// The arithmetic of deadlines, from rate, body sizes, pauses, stalls and loss.
#include "run/patience.h"

#include <algorithm>
#include <cmath>

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

constexpr double kSegmentBits = 1448 * 8;
constexpr double kUnimpairedBps = 100e6;  // any machine does more
constexpr double kFloorBps = 10e3;        // below it nothing is worth waiting for
constexpr double kRoundTrips = 20;        // connecting, handshakes, slow start

// What TCP gets at most: the path's rate, or what loss leaves a Reno-like sender (Mathis et al. 1997).
double expected_bps(const v1::Path& path) {
  double bps = path.has_rate_bps() ? static_cast<double>(path.rate_bps()) : kUnimpairedBps;
  if (path.loss() > 0 && path.rtt_ns() > 0)
    bps = std::min(bps,
                   1.22 * kSegmentBits / (static_cast<double>(path.rtt_ns()) / 1e9 * std::sqrt(path.loss())));
  return std::max(bps, kFloorBps);
}

double expected_seconds(const v1::TrialSpec& trial) {
  double expected_s = kRoundTrips * static_cast<double>(trial.path().rtt_ns()) / 1e9;
  for (const auto& request : trial.workload().requests()) {
    expected_s += static_cast<double>(request.body_bytes()) * 8 / expected_bps(trial.path());
    expected_s += static_cast<double>(request.after().pause_ns() + request.after().stall_ns()) / 1e9;
  }
  return expected_s;
}

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::chrono::nanoseconds request_patience_for(const v1::TrialSpec& trial) {
  return nanoseconds(3 * expected_seconds(trial)) + 20s;
}

std::chrono::nanoseconds patience_for(const v1::TrialSpec& trial) {
  // Beside the request: those before it, and some 20 s for a server slow to start and killed at its end.
  return std::max<std::chrono::nanoseconds>(60s, nanoseconds(5 * expected_seconds(trial)) + 40s);
}

}  // namespace hopyard::run
