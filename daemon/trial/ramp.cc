// SPDX-License-Identifier: Apache-2.0
// Walks the server's writes from one beginning of the ramp to the next, beside the client's records.
#include "trial/ramp.h"

#include <algorithm>
#include <vector>

#include "trial/record_list.h"

namespace hopyard::trial {
namespace {

// As in patches/nginx-1.26.3/0003-dynamic-records.patch.
constexpr uint64_t kSizeLo = 1369;
constexpr uint64_t kSizeHi = 4229;
constexpr uint32_t kThreshold = 40;
constexpr int64_t kTimeoutNs = 1'000'000'000;

// nginx hands the send chain at most so much at a time (sendfile_max_chunk's default): a record may end
// there.
constexpr uint64_t kChunkBytes = 2u << 20;

// What was written from one beginning of the ramp to the next.
struct Climb {
  std::vector<uint32_t> sizes;  // of records, as written
  std::string steps;            // as logged: "1369@0, 4229@40, 16384@80"
};

std::string step_text(uint64_t bytes, uint64_t at) { return fmt::format("{}@{}", bytes, at); }

void add_step(std::string& steps, const std::string& step) {
  if (!steps.empty()) steps += ", ";
  steps += step;
}

// A step to the low size, unless it is the one to a high size that a small buffer makes the same.
bool begins_anew(const Ramp& ramp, const v1::FragmentEvent& event, const Climb& climb) {
  if (event.restored() || event.fragment_bytes() != ramp.low_bytes || climb.steps.empty()) return false;
  return ramp.high_bytes != ramp.low_bytes || climb.sizes.size() != ramp.threshold;
}

std::vector<Climb> climbs_of(const Ramp& ramp, const v1::ServerEvidence& server) {
  std::vector<Climb> climbs(1);
  int next = 0;
  const auto take_events = [&](uint32_t seq) {
    for (; next < server.fragments_size() && server.fragments(next).before_write() <= seq; ++next) {
      const v1::FragmentEvent& event = server.fragments(next);
      if (begins_anew(ramp, event, climbs.back())) climbs.emplace_back();
      add_step(climbs.back().steps, step_text(event.fragment_bytes(), climbs.back().sizes.size()));
    }
  };
  for (const v1::SslWrite& write : server.writes()) {
    take_events(write.seq());
    // A full write of a large buffer is several records.
    for (int64_t left = write.returned(); left > 0; left -= ramp.full_bytes) {
      climbs.back().sizes.push_back(static_cast<uint32_t>(std::min<int64_t>(left, ramp.full_bytes)));
    }
  }
  take_events(UINT32_MAX);
  return climbs;
}

std::string expected_steps(const Ramp& ramp, uint64_t records) {
  std::string steps;
  if (records > 0) add_step(steps, step_text(ramp.low_bytes, 0));
  if (records > ramp.threshold) add_step(steps, step_text(ramp.high_bytes, ramp.threshold));
  if (records > 2ull * ramp.threshold) add_step(steps, step_text(ramp.buffer_bytes, 2ull * ramp.threshold));
  return steps;
}

// A pause counts from the awaited response's last byte, which the server wrote before.
size_t long_pauses(const Ramp& ramp, const v1::Workload& workload) {
  return static_cast<size_t>(
      std::count_if(workload.requests().begin(), workload.requests().end(), [&](const v1::Request& request) {
        return !request.after().has_body_bytes() && request.after().pause_ns() >= ramp.timeout_ns;
      }));
}

void check_steps(const Ramp& ramp, const std::vector<Climb>& climbs, CheckList& checks) {
  for (const Climb& climb : climbs) {
    const std::string expected = expected_steps(ramp, climb.sizes.size());
    if (climb.steps == expected && &climb != &climbs.back()) continue;
    return checks.equal("ramp steps", expected, climb.steps);
  }
}

}  // namespace

uint32_t Ramp::bound(uint64_t records) const {
  if (records < threshold) return low_bytes;
  return records < 2ull * threshold ? high_bytes : full_bytes;
}

std::optional<Ramp> ramp_of(const v1::TrialSpec& spec) {
  const v1::Server& server = spec.case_().server();
  if (!spec.build().records().dynamic() || !server.ssl_dyn_rec_enable()) return std::nullopt;
  const uint64_t low = server.has_ssl_dyn_rec_size_lo_bytes() ? server.ssl_dyn_rec_size_lo_bytes() : kSizeLo;
  const uint64_t high = server.has_ssl_dyn_rec_size_hi_bytes() ? server.ssl_dyn_rec_size_hi_bytes() : kSizeHi;
  Ramp ramp;
  ramp.full_bytes = record_bound_bytes(spec);
  ramp.buffer_bytes = buffer_bytes(spec);
  ramp.low_bytes = static_cast<uint32_t>(std::min<uint64_t>(low, ramp.full_bytes));
  ramp.high_bytes = static_cast<uint32_t>(std::min<uint64_t>(high, ramp.full_bytes));
  ramp.threshold = server.has_ssl_dyn_rec_threshold() ? server.ssl_dyn_rec_threshold() : kThreshold;
  ramp.timeout_ns = server.has_ssl_dyn_rec_timeout_ns() ? server.ssl_dyn_rec_timeout_ns() : kTimeoutNs;
  return ramp;
}

void check_ramp(const v1::TrialSpec& spec, const Ramp& ramp, const v1::ClientEvidence& client,
                const v1::ServerEvidence& server, CheckList& checks) {
  const std::vector<Climb> climbs = climbs_of(ramp, server);
  std::vector<uint32_t> written;
  uint64_t over = 0, under = 0;
  std::string first_over = "none";
  const std::vector<uint32_t> records = data_records(client);
  for (const Climb& climb : climbs) {
    for (size_t i = 0; i < climb.sizes.size(); ++i) {
      // Judged by what arrived; that it is what was written is a check of its own.
      const uint32_t size = written.size() < records.size() ? records[written.size()] : climb.sizes[i];
      if (size > ramp.bound(i) && over++ == 0) first_over = fmt::format("record {}: {}", i, size);
      under += size < ramp.bound(i);
      written.push_back(climb.sizes[i]);
    }
  }
  checks.equal("records as written", describe_records(written), describe_records(records));
  checks.equal<std::string>("records over the ramp", "none", first_over);
  if (spec.workload().protocol() == "h1") {
    const uint64_t ends = static_cast<uint64_t>(client.responses_size()) + blocked_writes(server) +
                          client.decrypted_bytes() / kChunkBytes;
    checks.holds("records short of the ramp", fmt::format("at most {}", ends), fmt::format("{}", under),
                 under <= ends);
  }
  check_steps(ramp, climbs, checks);
  const size_t pauses = long_pauses(ramp, spec.workload());
  checks.holds("ramp begun anew", fmt::format("at least {} times", pauses),
               fmt::format("{}", climbs.size() - 1), climbs.size() - 1 >= pauses);
}

}  // namespace hopyard::trial
