// SPDX-License-Identifier: Apache-2.0
// What tests of execution compare: the state of the machine, and the processes below another.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace hopyard::execute {

// One process, also when its number is used again.
struct Process {
  pid_t pid;
  std::string start_time;
  std::string name;
};

// All processes below `pid`, whatever namespace they are in, parents first.
std::vector<Process> descendants(pid_t pid);
// Waits for `processes` to have ended (zombies have); names those that have not after a second, which is what
// whoever kills one of them, or their owner, may count on.
std::vector<std::string> still_running(const std::vector<Process>& processes);

// Name -> content of everything a session must not change: links, addresses, sysctls of the network, modules,
// mounts, named network namespaces; with `folders`, also the names in /tmp, /run and /dev/shm, which other
// programs change too.
using MachineState = std::map<std::string, std::string>;
MachineState machine_state(bool folders);
// The lines that only one of two states has; empty if they are the same.
std::vector<std::string> changes(const MachineState& before, const MachineState& after);

}  // namespace hopyard::execute
