// SPDX-License-Identifier: Apache-2.0
// What a campaign's compared cases say: samples from the store, estimators from stats.
#pragma once

#include <stop_token>
#include <string>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::run {

// The figures of case_b - case_a, and of the factorials that have both cases. Stored ones of a campaign that
// has ended; else computed from the samples so far.
absl::StatusOr<v1::CompareResponse> compare_cases(const store::Store& store, const std::string& campaign,
                                                  const std::string& case_a, const std::string& case_b);

// Cells, and the stored figures of declared comparisons once the campaign has ended.
absl::StatusOr<v1::SummaryResponse> summarise(const store::Store& store, const std::string& campaign);

// Computes and stores the figures of every pair of the campaign's cases, each in the order of the file, and
// of its factorials. CANCELLED, with nothing stored, once `stop` is requested.
absl::Status record_figures(store::Store& store, const std::string& campaign, std::stop_token stop);

}  // namespace hopyard::run
