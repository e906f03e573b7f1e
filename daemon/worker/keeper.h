// SPDX-License-Identifier: Apache-2.0
// hopyard-worker --keep-guest: runs a UML kernel so that nothing of it stays, whoever is killed first.
#pragma once

#include <string>
#include <vector>

namespace hopyard::worker {

// Runs `command` (its first word is a path) with descriptor 3 this process's standard input, 4 its standard
// output, 0 nothing, 1 and 2 its standard error, and TMPDIR a private tmpfs where the machine allows one.
// Ends it once the other end of standard input is closed. Returns only to say, on standard error, that it
// could not be run; the value is the exit code.
int keep_guest(const std::vector<std::string>& command);

}  // namespace hopyard::worker
