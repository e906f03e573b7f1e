// SPDX-License-Identifier: Apache-2.0
// Reads /proc/meminfo, the control group's limit and the processors allowed.
#include "run/room.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "execute/guest.h"

namespace hopyard::run {
namespace {

constexpr uint64_t kKeeperBytes = 64u << 20;  // a guest's helpers, and the daemon's own share of its results

uint64_t available_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  uint64_t kib = 0;
  for (std::string key; meminfo >> key;) {
    if (key == "MemAvailable:" && meminfo >> kib) return kib * 1024;
  }
  return std::numeric_limits<uint64_t>::max();
}

uint64_t number_in(const std::string& path, uint64_t otherwise) {
  uint64_t value = 0;
  return std::ifstream(path) >> value ? value : otherwise;
}

// Version 2 only: where it is, version 1's limits are not.
uint64_t control_group_bytes() {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string folder = "/sys/fs/cgroup" + line.substr(3);
    const uint64_t most = number_in(folder + "/memory.max", kNone);  // "max" is no number
    const uint64_t used = number_in(folder + "/memory.current", 0);
    return most == kNone ? kNone : most - std::min(most, used);
  }
  return kNone;
}

}  // namespace

Room room_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int processors = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return {.processors = static_cast<uint32_t>(std::max(processors, 1)),
          .memory_bytes = std::min(available_bytes(), control_group_bytes())};
}

uint64_t guest_bytes() {
  return (static_cast<uint64_t>(execute::GuestSpec{}.memory_mib) << 20) + kKeeperBytes;
}

uint32_t most_guests(const Room& room) {
  const uint64_t fitting = room.memory_bytes / guest_bytes();
  return static_cast<uint32_t>(std::clamp<uint64_t>(fitting, 1, room.processors));
}

}  // namespace hopyard::run
