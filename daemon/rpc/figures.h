// SPDX-License-Identifier: Apache-2.0
// What a campaign's pairs of cases say: samples from the store, estimators from stats. Knows nothing of gRPC.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::rpc {

// The stored figures of case_b - case_a; computed from the samples so far if none are stored yet.
absl::StatusOr<std::vector<v1::PairFigure>> pair_figures(const store::Store& store,
                                                         const std::string& campaign,
                                                         const std::string& case_a,
                                                         const std::string& case_b);

// Computes and stores the figures of every pair of the campaign's cases, each in the order of the file.
absl::Status record_figures(store::Store& store, const std::string& campaign);

}  // namespace hopyard::rpc
