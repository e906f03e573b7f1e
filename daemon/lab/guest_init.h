// SPDX-License-Identifier: Apache-2.0
// The first process of a User-Mode Linux guest: what it mounts, which kernel modules it loads, how it ends.
// Knows nothing of what runs in the guest afterwards.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::lab {

// True in every process of a UML guest: its root is hostfs.
bool on_guest_root();
// True in its first one.
bool is_guest_init();

enum class Tmp {
  kPrivate,       // a tmpfs in which the folders that the machine has in its /tmp stay visible, read-only
  kOfTheMachine,  // as it is, read-only: spares a call or five for each file in it
};

// To be called once, first of all, where is_guest_init(): mounts proc, sysfs and devtmpfs, private tmpfs on
// /run and /dev/shm, and loads what paths need: veth, fq, netem and the congestion controls. A kernel that
// has them built in needs no modules. No link is brought up. Afterwards the environment is as the kernel gave
// it.
absl::Status become_guest_init(Tmp tmp);

// Loads the named modules and what they depend on from /usr/lib/uml/modules/<release>. Modules that are
// already there, built in included, are no error. NOT_FOUND if the kernel has none of that name.
absl::Status load_modules(const std::vector<std::string>& names);

// /dev/ttyS<line>, raw: bytes pass unchanged both ways.
absl::StatusOr<base::Fd> open_serial(int line);

// Waits until all that was written to `serial` has left the guest.
void drain_serial(const base::Fd& serial);

// Ends the guest. Whatever was not drained may be lost.
[[noreturn]] void power_off();

}  // namespace hopyard::lab
