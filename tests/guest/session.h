// SPDX-License-Identifier: Apache-2.0
// What passes between the two sides of a guest test over the guest's serial line, as frames: the machine
// sends arguments and environment; the guest sends output, then the exit code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hopyard::guest_test {

// The first byte of a frame from the guest.
// The guest speaks first: what reaches a serial line before it is open and raw is lost or changed.
inline constexpr char kReady = 'r';
inline constexpr char kOutput = 'o';    // the rest: bytes of standard output and error
inline constexpr char kExitCode = 'x';  // the rest: the exit code as decimal text

// A list of texts, none of which holds a NUL.
std::string join_texts(const std::vector<std::string>& texts);
std::vector<std::string> split_texts(std::string_view joined);

// On the machine: boots a guest with this program as its first process and copies its output. The exit code:
// the tests', or 77 if there is no UML kernel, or 1 with the console's last lines if the guest did not get to
// the end.
int run_on_host(int argc, char** argv);
// In the guest, as its first process; powers off at the end.
[[noreturn]] void run_in_guest();

}  // namespace hopyard::guest_test
