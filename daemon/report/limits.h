// SPDX-License-Identifier: Apache-2.0
// What a campaign's figures do not show, in words, each sentence from something about that campaign. Pure.
#pragma once

#include <string>
#include <vector>

#include "report/model.h"

namespace hopyard::report {

// Plain text, a paragraph each, the gravest first.
std::vector<std::string> limits_of(const Model& model);

}  // namespace hopyard::report
