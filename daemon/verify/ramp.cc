// SPDX-License-Identifier: Apache-2.0
// The server's writes and logged steps, beside the records that came.
#include "verify/ramp.h"

#include <algorithm>

namespace hopyard::verify {
namespace {

constexpr uint64_t kNginxBufferBytes = 16384;
constexpr uint64_t kSendChainBytes =
    2u << 20;  // nginx gives its send chain no more at a time: a record may end there

// From one beginning of the ramp to the next.
struct Ascent {
  std::vector<uint64_t> written;  // sizes of records
  std::vector<std::string> steps;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// "40 x 1369, 4229": runs of equal sizes.
std::string runs(const std::vector<uint64_t>& sizes) {
  std::vector<std::string> parts;
  for (auto at = sizes.begin(); at != sizes.end();) {
    const auto end = std::find_if(at, sizes.end(), [&](uint64_t size) { return size != *at; });
    parts.push_back(end - at == 1 ? std::to_string(*at) : fmt::format("{} x {}", end - at, *at));
    at = end;
  }
  return parts.empty() ? "none" : joined(parts);
}

void take_step(const Ramp& ramp, const StoredFragment& event, std::vector<Ascent>& ascents) {
  const Ascent& now = ascents.back();
  // With equal sizes, the second step looks like a beginning: it is told by its place.
  const bool second = ramp.high_bytes == ramp.low_bytes && now.written.size() == ramp.threshold;
  const bool low = !event.restored && event.fragment_bytes == ramp.low_bytes;
  if (low && !now.steps.empty() && !second) ascents.emplace_back();
  Ascent& to = ascents.back();
  to.steps.push_back(fmt::format("{}@{}", event.fragment_bytes, to.written.size()));
}

std::vector<Ascent> ascents_of(const Ramp& ramp, const StoredTrial& trial) {
  std::vector<Ascent> ascents(1);
  auto event = trial.fragments.begin();
  for (const StoredWrite& write : trial.writes) {
    for (; event != trial.fragments.end() && event->before_write <= write.seq; ++event)
      take_step(ramp, *event, ascents);
    for (auto left = static_cast<uint64_t>(std::clamp<int64_t>(write.returned, 0, kMostBodyBytes));
         left > 0;) {
      ascents.back().written.push_back(std::min(left, ramp.full_bytes));
      left -= ascents.back().written.back();
    }
  }
  for (; event != trial.fragments.end(); ++event) take_step(ramp, *event, ascents);
  return ascents;
}

std::string steps_for(const Ramp& ramp, uint64_t records) {
  std::vector<std::string> steps;
  if (records > 0) steps.push_back(fmt::format("{}@0", ramp.low_bytes));
  if (records > ramp.threshold) steps.push_back(fmt::format("{}@{}", ramp.high_bytes, ramp.threshold));
  if (records > 2 * ramp.threshold)
    steps.push_back(fmt::format("{}@{}", ramp.buffer_bytes, 2 * ramp.threshold));
  return joined(steps);
}

void sizes(const Subject& subject, const Ramp& ramp, const std::vector<Ascent>& ascents,
           DerivedChecks& checks) {
  std::vector<uint64_t> came, written;
  for (const StoredRecord& record : subject.trial.records) {
    if (record.content == kData) came.push_back(record.plaintext_bytes);
  }
  uint64_t short_of = 0;
  std::string over = "none";
  for (const Ascent& ascent : ascents) {
    for (size_t i = 0; i < ascent.written.size(); ++i) {
      const uint64_t size = written.size() < came.size() ? came[written.size()] : ascent.written[i];
      if (size > ramp.most(i) && over == "none") over = fmt::format("record {}: {}", i, size);
      if (size < ramp.most(i)) ++short_of;
      written.push_back(ascent.written[i]);
    }
  }
  checks.equal("records as written", runs(written), runs(came));
  checks.equal("records over the ramp", "none", over);
  if (subject.workload.protocol != "h1") return;
  uint64_t ends = subject.trial.responses.size() + subject.trial.client->decrypted_bytes / kSendChainBytes;
  for (const StoredWrite& write : subject.trial.writes) ends += write.returned <= 0 ? 1 : 0;
  checks.holds("records short of the ramp", fmt::format("at most {}", ends), std::to_string(short_of),
               short_of <= ends);
}

}  // namespace

std::optional<Ramp> ramp_of(const Subject& subject) {
  const AskedCase& asked = subject.one_case;
  if (!subject.trial.build.dynamic || !asked.dyn_rec) return std::nullopt;
  const uint64_t full = std::max<uint64_t>(record_bound_bytes(subject), 1);
  return Ramp{std::min(asked.dyn_rec_low_bytes, full),
              std::min(asked.dyn_rec_high_bytes, full),
              full,
              asked.ssl_buffer_bytes.value_or(kNginxBufferBytes),
              asked.dyn_rec_threshold,
              asked.dyn_rec_timeout_ns};
}

void derive_ramp_checks(const Subject& subject, const Ramp& ramp, DerivedChecks& checks) {
  const std::vector<Ascent> ascents = ascents_of(ramp, subject.trial);
  sizes(subject, ramp, ascents, checks);
  // The first one with other steps than it should have; else the last.
  for (const Ascent& ascent : ascents) {
    const std::string expected = steps_for(ramp, ascent.written.size()), seen = joined(ascent.steps);
    if (expected == seen && &ascent != &ascents.back()) continue;
    checks.equal("ramp steps", expected, seen);
    break;
  }
  size_t pauses = 0;
  for (const AskedRequest& request : subject.workload.requests)
    pauses += request.later && !request.after_body_bytes && request.pause_ns >= ramp.timeout_ns ? 1 : 0;
  checks.holds("ramp begun anew", fmt::format("at least {} times", pauses),
               std::to_string(ascents.size() - 1), ascents.size() - 1 >= pauses);
}

}  // namespace hopyard::verify
