// SPDX-License-Identifier: Apache-2.0
// Stored checks against derived ones, and the verdict that follows from them.
#include <algorithm>
#include <array>

#include "verify/checks.h"

namespace hopyard::verify {
namespace {

constexpr char kCheckTable[] = "evidence_check";
constexpr std::array kOutcomes = {"not said", "holds", "broken", "unsupported"};

const char* word(int64_t outcome) {
  return outcome >= 0 && outcome < static_cast<int64_t>(kOutcomes.size())
             ? kOutcomes[static_cast<size_t>(outcome)]
             : "no outcome";
}

void compare(const StoredCheck& stored, const Derived& derived, Findings& findings) {
  const std::string row = seq(stored.seq) + " (" + stored.name + ")";
  findings.same(kCheckTable, row, "expected_text", derived.expected, stored.expected,
                "derived from what was asked");
  findings.same(kCheckTable, row, "seen", derived.seen, stored.seen, "derived from the evidence");
  findings.same(kCheckTable, row, "outcome", std::string_view(word(derived.outcome)),
                std::string_view(word(stored.outcome)), "derived from the evidence");
}

struct Broken {
  const StoredCheck* bed = nullptr;
  const StoredCheck* server = nullptr;
  const StoredCheck* unknown = nullptr;  // of a kind no rule here knows
};

void note(const StoredCheck*& first, const StoredCheck& check) {
  if (first == nullptr) first = &check;
}

// A step of the trial failed, and the worker or the daemon said so: nothing in the rows can contradict it.
struct Step {
  const char* name;
  bool may_be_the_server;
};
constexpr std::array<Step, 9> kSteps = {{{"path", false},
                                         {"path read-back", false},
                                         {"path tear-down", false},
                                         {"certificate", false},
                                         {"server start", true},
                                         {"client's bed", false},
                                         {"server's evidence", false},
                                         {"diagnostics", false},
                                         {"evidence refused", false}}};

bool said_by_a_step(const StoredTrial& trial) {
  const bool judged = trial.verdict == "invalid" || trial.verdict == "failed";
  if (!judged || trial.reason.empty()) return false;
  for (const Step& step : kSteps) {
    if (trial.reason.starts_with(std::string(step.name) + ": "))
      return trial.verdict == "invalid" || step.may_be_the_server;
  }
  return trial.checks.empty() && !trial.client;  // the worker was lost
}

std::string reason_of(const StoredCheck& check) {
  return fmt::format("{}: expected {}, saw {}", check.name, check.expected, check.seen);
}

void judge_verdict(const StoredTrial& trial, const Broken& broken, Findings& findings) {
  if (said_by_a_step(trial)) return;
  const StoredCheck* first = broken.bed != nullptr ? broken.bed : broken.server;
  std::string verdict = broken.bed != nullptr ? "invalid" : broken.server != nullptr ? "failed" : "passed";
  if (broken.unknown != nullptr) {
    if (trial.verdict != "passed" && trial.reason == reason_of(*broken.unknown)) return;
    if (first == nullptr) verdict = "failed or invalid";
  }
  findings.same("outcome", "", "verdict", verdict, trial.verdict, "derived from the trial's checks");
  if (broken.unknown != nullptr) return;
  findings.same("outcome", "", "reason", first != nullptr ? reason_of(*first) : "", trial.reason,
                "derived from the trial's checks");
}

}  // namespace

std::vector<Derived> DerivedChecks::take() {
  std::stable_partition(list_.begin(), list_.end(), [](const Derived& one) { return one.of_bed; });
  return std::move(list_);
}

uint64_t judge(const Subject& subject, Findings& findings, std::vector<std::string>& unknown) {
  const StoredTrial& trial = subject.trial;
  DerivedChecks checks;
  // A bare outcome (the worker was lost) has neither evidence nor checks.
  if (trial.environment) {
    derive_bed_checks(subject, checks);
    derive_server_checks(subject, checks);
  }
  std::vector<Derived> derived = checks.take();
  // A path that was never made is not judged.
  if (trial.checks.empty() && said_by_a_step(trial)) derived.clear();
  std::vector<bool> found(derived.size());
  Broken broken;
  uint64_t compared = 0;
  size_t next = 0;
  for (const StoredCheck& stored : trial.checks) {
    size_t at = 0;
    while (at < derived.size() && (found[at] || derived[at].name != stored.name)) ++at;
    if (at == derived.size()) {
      unknown.push_back(stored.name);
      if (stored.outcome == 2) note(broken.unknown, stored);
      continue;
    }
    if (at < next)
      findings.add(kCheckTable, seq(stored.seq), "seq", "after " + derived[next - 1].name, "before it",
                   "checks have an order");
    found[at] = true;
    next = at + 1;
    ++compared;
    compare(stored, derived[at], findings);
    if (stored.outcome == 2) note(derived[at].of_bed ? broken.bed : broken.server, stored);
  }
  for (size_t i = 0; i < derived.size(); ++i) {
    if (!found[i])
      findings.add(kCheckTable, "", "name_text", derived[i].name, "no such check",
                   "every trial of this kind has it");
  }
  judge_verdict(trial, broken, findings);
  return compared;
}

}  // namespace hopyard::verify
