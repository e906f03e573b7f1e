// SPDX-License-Identifier: Apache-2.0
// Durations from request_start_ns, by the names of v_cell's metrics.
#include "verify/samples.h"

#include <array>
#include <optional>

namespace hopyard::verify {
namespace {

struct Duration {
  const char* name;
  int64_t StoredResponse::*instant;
  uint64_t body_bytes;  // smaller bodies do not have it
  bool frames;          // HTTP/2 only
};

constexpr std::array<Duration, 7> kDurations = {
    {{"first_decrypted_ns", &StoredResponse::first_decrypted_ns, 0, false},
     {"first_body_ns", &StoredResponse::first_body_ns, 1, false},
     {"body_1024_ns", &StoredResponse::body_1024_ns, 1024, false},
     {"body_4096_ns", &StoredResponse::body_4096_ns, 4096, false},
     {"body_8192_ns", &StoredResponse::body_8192_ns, 8192, false},
     {"first_data_frame_ns", &StoredResponse::first_data_frame_ns, 0, true},
     {"complete_ns", &StoredResponse::complete_ns, 0, false}}};

constexpr char kToFirstDecrypted[] = "connect_to_first_decrypted_ns";
constexpr char kToComplete[] = "connect_to_complete_ns";

// The first response's, from the connection's start.
void add_from_connect(const Subject& subject, const std::string& role,
                      std::map<std::string, int64_t>& found) {
  const StoredResponse& response = subject.trial.responses[0];
  const int64_t start = subject.trial.client ? subject.trial.client->connect_start_ns : 0;
  if (start == 0) return;
  if (response.first_decrypted_ns != 0) found[role + kToFirstDecrypted] = response.first_decrypted_ns - start;
  if (response.complete_ns != 0) found[role + kToComplete] = response.complete_ns - start;
}

std::map<std::string, int64_t> durations_of(const Subject& subject) {
  std::map<std::string, int64_t> found;
  const auto& responses = subject.trial.responses;
  for (size_t i = 0; i < responses.size(); ++i) {
    const StoredResponse& response = responses[i];
    if (response.request_start_ns == 0) continue;
    const std::string role = responses.size() > 1 ? response.role + "." : "";
    for (const Duration& duration : kDurations) {
      if (response.*duration.instant != 0)
        found[role + duration.name] = response.*duration.instant - response.request_start_ns;
    }
    const int64_t first = responses[0].request_start_ns;
    if (i == 0) add_from_connect(subject, role, found);
    if (i == 0 || first == 0) continue;
    found[role + "start_from_first_ns"] = response.request_start_ns - first;
    if (response.complete_ns != 0) found[role + "complete_from_first_ns"] = response.complete_ns - first;
  }
  return found;
}

using StoredSamples = std::map<std::string, std::optional<int64_t>>;

// Every figure of the trial's cell, and what is stored of this trial.
absl::StatusOr<StoredSamples> stored_samples(store::Connection& connection, const StoredTrial& trial) {
  store::Statement select = connection.prepare(
      "SELECT m.name, s.value_ns FROM cell_metric c JOIN metric m USING (metric_no) LEFT JOIN sample s ON "
      "s.cell_no = c.cell_no AND s.metric_no = c.metric_no AND s.host_no = ?2 AND s.trial_no = ?3 WHERE "
      "c.cell_no = ?1");
  select.bind(trial.cell_no).bind(trial.host_no).bind(trial.number);
  StoredSamples found;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return found;
    found[select.text(0)] = select.is_null(1) ? std::nullopt : std::optional(select.integer(1));
  }
}

std::string text(const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "none"; }

}  // namespace

std::vector<std::string> metrics_of(const AskedWorkload& workload) {
  std::vector<std::string> names;
  for (size_t i = 0; i < workload.requests.size(); ++i) {
    const AskedRequest& request = workload.requests[i];
    const std::string role = workload.requests.size() > 1 ? request.name + "." : "";
    for (const Duration& duration : kDurations) {
      if (request.body_bytes >= duration.body_bytes && (!duration.frames || workload.protocol == "h2"))
        names.push_back(role + duration.name);
    }
    if (i > 0) names.insert(names.end(), {role + "start_from_first_ns", role + "complete_from_first_ns"});
  }
  return names;
}

std::optional<int64_t> Samples::Counted::at(const std::string& metric, int64_t block) const {
  const auto by_block = values.find(metric);
  if (by_block == values.end()) return std::nullopt;
  const auto value = by_block->second.find(block);
  return value == by_block->second.end() ? std::nullopt : std::optional(value->second);
}

absl::Status Samples::take(store::Connection& connection, const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  HOPYARD_ASSIGN_OR_RETURN(const StoredSamples stored, stored_samples(connection, trial));
  Cell& cell = cells_[trial.cell_no];
  cell = {trial.path, trial.workload, trial.case_name, trial.kernel_name, {}};
  hosts_[trial.host_no] = {trial.kernel_release, trial.clock, trial.execution};
  Counted& counted = counted_[{trial.cell_no, trial.host_no}];
  if (trial.verdict != "passed") ++counted.lost;
  const auto derived = trial.verdict == "passed" ? durations_of(subject) : std::map<std::string, int64_t>();
  for (const auto& [metric, value] : stored) {
    cell.metrics.push_back(metric);
    const auto found = derived.find(metric);
    const auto expected = found == derived.end() ? std::nullopt : std::optional(found->second);
    findings.same("sample", metric, "value_ns", text(expected), text(value), "the response's times");
    if (expected) counted.values[metric][trial.block] = *expected;
  }
  for (const std::string& metric : metrics_of(subject.workload)) {
    if (!stored.contains(metric))
      findings.add("cell_metric", fmt::format("cell_no {}", trial.cell_no), "metric_no", metric, "none",
                   "the workload shows it");
  }
  return absl::OkStatus();
}

}  // namespace hopyard::verify
