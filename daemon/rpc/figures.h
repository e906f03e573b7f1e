// SPDX-License-Identifier: Apache-2.0
// What a campaign's compared cases say: samples from the store, estimators from stats. Knows nothing of gRPC.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"
#include "report/report.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::rpc {

// The figures of case_b - case_a, and of the factorials that have both cases. Stored ones of a campaign that
// has ended; else computed from the samples so far.
absl::StatusOr<v1::CompareResponse> compare_cases(const store::Store& store, const std::string& campaign,
                                                  const std::string& case_a, const std::string& case_b);

// All that a report shows beside the store's own rows; pairs of cases in the order of the file.
absl::StatusOr<report::Figures> report_figures(const store::Store& store, const std::string& campaign);

// Cells, and the stored figures of declared comparisons once the campaign has ended.
absl::StatusOr<v1::SummaryResponse> summarise(const store::Store& store, const std::string& campaign);

// Computes and stores the figures of every pair of the campaign's cases, each in the order of the file, and
// of its factorials. CANCELLED, with nothing stored, once `stop` is requested.
absl::Status record_figures(store::Store& store, const std::string& campaign, std::stop_token stop);

}  // namespace hopyard::rpc
