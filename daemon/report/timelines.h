// SPDX-License-Identifier: Apache-2.0
// Single trials for the reader's choice: which ones a report carries, and what is shown of each. Bounded, so
// that a report of thousands of trials stays a file that a browser opens.
#pragma once

#include <string>
#include <vector>

#include "report/html.h"
#include "report/model.h"

namespace hopyard::report {

inline constexpr size_t kTimelineBytes = 2'500'000;  // of all of them; the first one is there in any case

struct Timeline {
  std::string trial_id;
  std::string group;  // "wan · h1-128k"
  std::string label;  // "C, median"
  std::string json;
};

struct Timelines {
  std::vector<Timeline> all;  // by group
  size_t wanted = 0;          // how many the rule asks for
};

// Of each cell the median trial by the completion of its last response, then the first lost one, the slowest
// and the fastest, until kTimelineBytes is reached.
absl::StatusOr<Timelines> choose_timelines(const Model& model, const store::Store& store,
                                           size_t limit_bytes = kTimelineBytes);

// The chooser, and the places the script fills.
void write_timelines(const Model& model, const Timelines& timelines, Output& out);
// `"timelines":[…]`.
void write_timeline_data(const Timelines& timelines, Output& out);

}  // namespace hopyard::report
