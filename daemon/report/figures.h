// SPDX-License-Identifier: Apache-2.0
// The tables of figures, with a place for each one's chart, and the samples that the charts show. Computes
// nothing: medians, intervals and p come from the views' figures.
#pragma once

#include "report/html.h"
#include "report/model.h"

namespace hopyard::report {

// The medians most asked for, a row for each path, response and case.
void write_summary(const Model& model, Output& out);
// Every milestone: its cells and its pairs.
void write_milestones(const Model& model, Output& out);
// `"cells":[…],"samples":[…]`: trials of each cell, and each milestone's values beside them (null: the trial
// has none).
void write_samples(const Model& model, Output& out);

// Whether a milestone is open when the page is.
bool seen_first(const Milestone& milestone);
// A trial's id as a link to its timeline.
std::string trial_link(const Model& model, std::string_view trial_id);
// A case's name with its colour.
std::string case_cell(const Model& model, std::string_view name);

}  // namespace hopyard::report
