// SPDX-License-Identifier: Apache-2.0
// A campaign's figures as the table that ends a run. Pure.
#pragma once

#include <string>

#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

// Where the times shown begin: at each response's own request, or, for the first response, where its client
// began to connect.
enum class TimesFrom { kRequest, kConnect };

// What ran where, how many trials counted, and one row for each path, workload, response and case.
std::string summary_text(const v1::SummaryResponse& summary, TimesFrom from = TimesFrom::kRequest);
// What may explain them: drops, retries, unsent bytes, and the medians of trials without drops.
std::string diagnostics_text(const v1::DiagnosticsResponse& diagnostics);

}  // namespace hopyard::cli
