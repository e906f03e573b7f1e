// SPDX-License-Identifier: Apache-2.0
// How the programs that measure name themselves beside every trial.
#pragma once

#include <string>

namespace hopyard::run {

// "hopyard 0.1.0, worker 0123456789abcdef": the release, and the first digits of the SHA-256 of the worker
// beside this program, which is what measures; "worker unknown" if it cannot be read.
std::string tool_version(const std::string& release);

}  // namespace hopyard::run
