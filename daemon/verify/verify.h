// SPDX-License-Identifier: Apache-2.0
// Derives a campaign again from what the database holds: seals, rows against each other, every check, every
// verdict, every figure. Knows the tables, the views and the rule of the served bodies; shares no code with
// the rooms that measured, judged or computed, and of `store` only the owner of SQLite's connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace hopyard::verify {

// One thing that does not follow from the rest.
struct Finding {
  std::string table;
  std::string trial_id;  // empty: not of one trial
  std::string row;       // "seq 17"; empty: the only one of its trial, or not to be told
  std::string column;    // empty: not to be told
  std::string expected;
  std::string seen;
  std::string why;  // the rule it breaks
};

// "tls_record of trial X, seq 17, wire_bytes: expected 4118, saw 4119 (why)".
std::string in_words(const Finding& finding);

struct Report {
  uint32_t trials = 0;    // with an outcome
  uint32_t unsealed = 0;  // of them, without seals
  uint64_t rows = 0;      // of evidence
  uint64_t checks = 0;    // stored checks that were derived again
  uint64_t figures = 0;   // numbers that were computed again
  uint64_t findings = 0;
  std::vector<Finding> told;       // the first of them
  std::vector<std::string> notes;  // what could not be derived
};

struct Options {
  // v_pair is complete already; otherwise it is looked at only where the campaign is done.
  bool pairs_are_made = false;
  std::function<void(uint32_t done, uint32_t total)> progress;  // of trials; may be empty
  std::function<void(const Finding&)> found;                    // may be empty
  std::function<bool()> stopped;                                // true: give up; may be empty
};

inline constexpr size_t kMostTold = 1000;

// `campaign_id` is a whole id. Reads one state of the database, over a connection of its own. Errors are of
// reading: what is wrong with the data is a finding. CANCELLED: stopped.
absl::StatusOr<Report> verify_campaign(const std::string& database, std::string_view campaign_id,
                                       const Options& options);

}  // namespace hopyard::verify
