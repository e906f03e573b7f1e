// SPDX-License-Identifier: Apache-2.0
// What a campaign's report shows, read in one go: figures with their samples, and what the trials ran with.
// Counts rows; judges and draws nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace hopyard::store {

class Connection;

// A server build as the campaign's trials used it.
struct UsedBuild {
  std::string case_name;
  std::string variant;
  std::string sha256;         // the variant's content hash, hex
  std::string binary_sha256;  // of the nginx binary, hex
  std::string inputs;         // one a line
  uint32_t trials = 0;        // with an outcome
};

// Where trials ran, and by which Hopyard.
struct UsedHost {
  std::string execution;
  std::string kernel;          // release; empty: ended before it was known
  std::string kernel_version;  // as the kernel names its build; empty likewise
  std::string clock;
  std::string tool_version;
  uint32_t passed = 0;
  uint32_t failed = 0;
  uint32_t invalid = 0;
};

// One check's outcomes over all trials that made it.
struct CheckTally {
  std::string name;
  uint32_t holds = 0;
  uint32_t broken = 0;
  uint32_t unsupported = 0;
};

// Something asked of the kernel that it cannot do, and on how many trials.
struct UnsupportedTally {
  std::string what;
  uint32_t trials = 0;
};

// A trial that gives no times.
struct LostTrial {
  std::string trial_id;
  std::string path;
  std::string workload;
  std::string case_name;
  uint32_t block = 0;
  std::string verdict;
  std::string reason;
};

struct ReportRows {
  CampaignRow campaign;
  v1::CampaignStatus status;
  std::vector<v1::CellFigure> cells;
  std::vector<CellSamples> samples;
  std::vector<UsedBuild> builds;
  std::vector<UsedHost> hosts;
  std::vector<CheckTally> checks;
  std::vector<UnsupportedTally> unsupported;
  std::vector<LostTrial> lost;  // in order of execution
};

absl::StatusOr<ReportRows> read_report_rows(Connection& connection, std::string_view id);

}  // namespace hopyard::store
