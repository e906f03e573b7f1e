// SPDX-License-Identifier: Apache-2.0
// The verdict rule.
#include "trial/check_list.h"

namespace hopyard::trial {
namespace {

v1::Check make(std::string name, std::string expected, std::string seen, v1::Outcome outcome) {
  v1::Check check;
  check.set_name(std::move(name));
  check.set_expected(std::move(expected));
  check.set_seen(std::move(seen));
  check.set_outcome(outcome);
  return check;
}

const v1::Check* first_broken(const std::vector<CheckList>& lists, Blame blame) {
  for (const CheckList& list : lists) {
    if (list.blame() != blame) continue;
    for (const v1::Check& check : list.checks()) {
      if (check.outcome() == v1::BROKEN) return &check;
    }
  }
  return nullptr;
}

void give(v1::TrialResult& result, v1::Verdict verdict, const v1::Check& check) {
  result.set_verdict(verdict);
  result.set_reason(fmt::format("{}: expected {}, saw {}", check.name(), check.expected(), check.seen()));
}

}  // namespace

void CheckList::holds(std::string name, std::string expected, std::string seen, bool held) {
  checks_.push_back(
      make(std::move(name), std::move(expected), std::move(seen), held ? v1::HOLDS : v1::BROKEN));
}

void CheckList::unsupported(std::string name, std::string expected, std::string why) {
  checks_.push_back(make(std::move(name), std::move(expected), std::move(why), v1::UNSUPPORTED));
}

void judge(const std::vector<CheckList>& lists, v1::TrialResult& result) {
  for (const CheckList& list : lists) {
    for (const v1::Check& check : list.checks()) *result.add_checks() = check;
  }
  if (result.verdict() != v1::VERDICT_UNSPECIFIED) return;
  if (const v1::Check* broken = first_broken(lists, Blame::kBed)) {
    give(result, v1::INVALID, *broken);
  } else if (const v1::Check* failed = first_broken(lists, Blame::kServer)) {
    give(result, v1::FAILED, *failed);
  } else {
    result.set_verdict(v1::PASSED);
  }
}

}  // namespace hopyard::trial
