// SPDX-License-Identifier: Apache-2.0
// Runs this test program again, in a corner of the machine of its own.
#pragma once

#include <string>

namespace hopyard::execute {

enum class Confinement {
  kOwnFolders,    // its own /tmp, /run and /dev/shm, which nobody else changes
  kNoNamespaces,  // the same, and in a chroot without privileges, where the kernel refuses user namespaces
};

// True in the program run again.
bool is_confined();
// Runs the tests that `filter` names; their output and, in the last line, "exit N". Empty if this machine
// allows no namespaces to confine with.
std::string run_confined(Confinement confinement, const std::string& filter);

}  // namespace hopyard::execute
