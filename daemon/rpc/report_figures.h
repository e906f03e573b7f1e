// SPDX-License-Identifier: Apache-2.0
// What a report is given beside the store's own rows.
#pragma once

#include <string>

#include "base/status.h"
#include "report/report.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::rpc {

// Pairs of cases in the order of the file, interactions, phases and diagnostics.
absl::StatusOr<report::Figures> report_figures(const store::Store& store, const std::string& campaign);

}  // namespace hopyard::rpc
