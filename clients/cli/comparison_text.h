// SPDX-License-Identifier: Apache-2.0
// Compared cases as tables: all figures of one pair, and the short form in which a summary has them. Pure.
#pragma once

#include <string>

#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

// One row for each path, workload and figure; then the interactions.
std::string compare_text(const v1::CompareResponse& response, const v1::CompareRequest& request);

// What a summary says of declared comparisons: one row for each path, workload, response and comparison.
// Empty if there are none.
std::string comparisons_text(const v1::SummaryResponse& summary);

}  // namespace hopyard::cli
