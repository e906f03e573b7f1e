// SPDX-License-Identifier: Apache-2.0
// The doctor's findings about disk, memory and limits. Knows no kernel and no build.
#pragma once

#include <string>
#include <vector>

#include "hopyard/v1/service.pb.h"

namespace hopyard::run {

// In plain words, each with what to do where it is too little. `database`: whose disk is looked at, beside
// the cache's.
std::vector<v1::DoctorFinding> resource_findings(const std::string& database);

}  // namespace hopyard::run
