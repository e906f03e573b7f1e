// SPDX-License-Identifier: Apache-2.0
// Turns `after` into due times.
#include "probe/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hopyard/v1/campaign.pb.h"

namespace hopyard::probe {
namespace {

absl::Status refuse(const v1::Request& request, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("read workload: request ", request.name(), ": ", std::string(why)));
}

std::optional<size_t> find_earlier(const v1::Workload& workload, int before, const std::string& name) {
  for (int i = 0; i < before; ++i) {
    if (workload.requests(i).name() == name) return static_cast<size_t>(i);
  }
  return std::nullopt;
}

absl::Status check_after(const v1::Workload& workload, const v1::Request& request,
                         std::optional<size_t> awaited) {
  if (!awaited) return refuse(request, absl::StrCat("no earlier request '", request.after().request(), "'"));
  if (!request.after().has_body_bytes()) return absl::OkStatus();
  if (workload.protocol() == "h1") return refuse(request, "HTTP/1.1 can only follow a complete response");
  if (request.after().body_bytes() > workload.requests(static_cast<int>(*awaited)).body_bytes()) {
    return refuse(request, "waits for more bytes than the awaited body has");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Schedule> Schedule::make(const v1::Workload& workload) {
  if (workload.requests().empty()) {
    return absl::InvalidArgumentError(absl::StrCat("read workload: ", workload.name(), ": has no requests"));
  }
  Schedule schedule;
  schedule.sequential_ = workload.protocol() == "h1";
  for (int i = 0; i < workload.requests_size(); ++i) {
    const v1::Request& request = workload.requests(i);
    Step step;
    if (request.has_after()) {
      step.awaited = find_earlier(workload, i, request.after().request());
      HOPYARD_RETURN_IF_ERROR(check_after(workload, request, step.awaited));
      if (request.after().has_body_bytes()) step.awaited_body = request.after().body_bytes();
      step.pause_ns = request.after().pause_ns();
      step.stall_ns = request.after().stall_ns();
    } else {
      step.due_ns = 0;
    }
    schedule.steps_.push_back(step);
  }
  return schedule;
}

void Schedule::observe(std::span<const ResponseMeter> meters, int64_t now_ns) {
  for (Step& step : steps_) {
    if (step.due_ns) continue;
    const ResponseMeter& awaited = meters[*step.awaited];
    if (step.awaited_body && awaited.body_bytes() >= *step.awaited_body) {
      step.due_ns = now_ns + step.pause_ns;
    } else if (!step.awaited_body && awaited.complete()) {
      step.due_ns = awaited.complete_ns() + step.pause_ns;
    }
  }
}

bool Schedule::must_wait_for_others(size_t index, std::span<const ResponseMeter> meters) const {
  return sequential_ && !std::all_of(meters.begin(), meters.begin() + static_cast<ptrdiff_t>(index),
                                     [](const ResponseMeter& meter) { return meter.complete(); });
}

std::optional<size_t> Schedule::take_due(std::span<const ResponseMeter> meters, int64_t now_ns) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (step.taken || !step.due_ns || *step.due_ns > now_ns || must_wait_for_others(i, meters)) continue;
    step.taken = true;
    return i;
  }
  return std::nullopt;
}

std::optional<int64_t> Schedule::next_timer_ns(std::span<const ResponseMeter> meters) const {
  std::optional<int64_t> next;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (step.taken || !step.due_ns || must_wait_for_others(i, meters)) continue;
    next = std::min(next.value_or(*step.due_ns), *step.due_ns);
  }
  return next;
}

uint64_t Schedule::awaited_bytes(size_t index, std::span<const ResponseMeter> meters) const {
  const Step& step = steps_[index];
  return step.awaited_body ? meters[*step.awaited].body_bytes() : 0;
}

}  // namespace hopyard::probe
