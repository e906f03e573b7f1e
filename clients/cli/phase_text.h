// SPDX-License-Identifier: Apache-2.0
// The phases of a campaign as people read them. Pure.
#pragma once

#include <google/protobuf/repeated_field.h>

#include <string>

#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

using Phases = google::protobuf::RepeatedPtrField<v1::Phase>;

// One row a phase: what is planned; empty where there is only the initial one.
std::string planned_phases(const Phases& phases);
// The same with what came of the trials.
std::string counted_phases(const Phases& phases);
// "initial + more": the names.
std::string phase_names(const Phases& phases);
// "block 2"; of an extension "more block 21".
std::string block_words(const v1::PlannedTrial& trial);

}  // namespace hopyard::cli
