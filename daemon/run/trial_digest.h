// SPDX-License-Identifier: Apache-2.0
// What two trials have to share to be the same trial: everything that was measured, as lines in the order of
// time, and one hash over them. Pure; judges nothing.
#pragma once

#include <string>
#include <vector>

#include "hopyard/v1/result.pb.h"

namespace hopyard::run {

// Every stored time (ns since the connection was begun), record, frame, response, write, socket and qdisc
// figure, one instant or object a line: "12345678 client.records[3].received_ns". Left out is what belongs to
// the machine and not to the trial: names and paths, CPU time, memory, load, the checks' words.
std::vector<std::string> trial_events(const v1::TrialResult& result);

// SHA-256 of the lines; lower-case hex.
std::string trial_digest(const v1::TrialResult& result);

// The first line in which the two differ, as "line: one | other"; empty if they do not.
std::string first_difference(const v1::TrialResult& one, const v1::TrialResult& other);

}  // namespace hopyard::run
