// SPDX-License-Identifier: Apache-2.0
// Paired differences of one milestone, and its interactions: tables with a place for their charts. Computes
// nothing.
#pragma once

#include "report/html.h"
#include "report/model.h"

namespace hopyard::report {

// Nothing where the milestone has none. `place`: of the milestone in the model.
void write_differences(const Model& model, const Milestone& milestone, size_t place, Output& out);

}  // namespace hopyard::report
