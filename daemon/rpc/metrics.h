// SPDX-License-Identifier: Apache-2.0
// The daemon's counters in Prometheus' text format (version 0.0.4). Counts nothing itself.
#pragma once

#include <string>
#include <vector>

#include "hopyard/v1/service.pb.h"

namespace hopyard::rpc {

// This process and its files, as the kernel counts them.
struct ProcessFigures {
  uint64_t resident_bytes = 0;
  uint64_t open_fds = 0;
  double start_unix_s = 0;
  uint64_t database_bytes = 0;   // with its log
  uint64_t disk_free_bytes = 0;  // where the database lies, for this user
};

ProcessFigures process_figures(const std::string& database);
// Pure.
std::string metrics_text(const std::vector<v1::CampaignStatus>& campaigns, const ProcessFigures& process);

}  // namespace hopyard::rpc
