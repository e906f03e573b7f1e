// SPDX-License-Identifier: Apache-2.0
// When each request of a workload may be written. Pure: is told the time, and reads progress off the meters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "probe/meter.h"

namespace hopyard::v1 {
class Workload;
}

namespace hopyard::probe {

class Schedule {
 public:
  // INVALID_ARGUMENT for a workload that cannot be performed: no requests, `after` naming no earlier request,
  // a body trigger on HTTP/1.1 or beyond the awaited body.
  static absl::StatusOr<Schedule> make(const v1::Workload& workload);

  // Notes which awaited events have happened, `now_ns` being the instant of the last decryption.
  void observe(std::span<const ResponseMeter> meters, int64_t now_ns);
  // The next request to write at `now_ns`, in order; it counts as written from here on.
  std::optional<size_t> take_due(std::span<const ResponseMeter> meters, int64_t now_ns);
  // When the next pause ends, if one is running.
  std::optional<int64_t> next_timer_ns(std::span<const ResponseMeter> meters) const;
  // Request `index` has an `after`.
  bool is_later(size_t index) const { return steps_[index].awaited.has_value(); }
  // How long the client does nothing else before it writes `index`.
  int64_t stall_ns(size_t index) const { return steps_[index].stall_ns; }
  // Body bytes decrypted of the response that `index` awaits by bytes; 0 if it awaits none so.
  uint64_t awaited_bytes(size_t index, std::span<const ResponseMeter> meters) const;

 private:
  struct Step {
    std::optional<size_t> awaited;         // index of the request in `after`
    std::optional<uint64_t> awaited_body;  // bytes of it; absent: all of it
    int64_t pause_ns = 0;
    int64_t stall_ns = 0;
    std::optional<int64_t> due_ns;  // known once the awaited event happened
    bool taken = false;
  };
  // HTTP/1.1 has one exchange at a time.
  bool must_wait_for_others(size_t index, std::span<const ResponseMeter> meters) const;

  bool sequential_ = false;
  std::vector<Step> steps_;
};

}  // namespace hopyard::probe
