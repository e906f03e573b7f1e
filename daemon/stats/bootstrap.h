// SPDX-License-Identifier: Apache-2.0
// The percentile bootstrap of the Hodges-Lehmann estimate. Pure.
#pragma once

#include <optional>
#include <vector>

#include "stats/paired.h"

namespace hopyard::stats {

// The estimate over as many resamples, in order, cut by the same share at both ends. `differences` has at
// least one. Absent only if it was stopped.
std::optional<Interval> bootstrap(const std::vector<double>& differences, const BootstrapOptions& options);

}  // namespace hopyard::stats
