// SPDX-License-Identifier: Apache-2.0
// Processes set apart from the machine: fresh namespaces, a guard outside them and a reaper inside, so that
// whatever way one of them ends, nothing of the others stays. Knows nothing of links, jobs or guests.
#pragma once

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::lab {

// The host as an execution host. Enters fresh user (root inside is the invoking user), network, pid, mount,
// IPC and UTS namespaces and returns in a new process inside them; real root does without the user namespace
// where that is refused. Inside: no mount is shared with the machine, /proc is the new pid namespace's, /tmp
// and /run are private tmpfs (the folders that the machine has in /tmp stay visible), and the loopback link
// is down.
//
// The calling process becomes the guard and never returns from here. It ends with the inner process's exit
// status (128 + n for signal n) once that and all its children are gone, and it kills them all as soon as the
// other end of its standard input is closed. It may not have threads.
absl::Status enter_fresh_namespaces();

// For a program that needs no namespaces of its own but must leave nothing behind (a UML kernel): the same
// guard and reaper, with pid and mount namespaces where the machine allows them. Returns in the process to
// be replaced by that program.
struct Keep {
  bool namespaces = false;  // false: not allowed here; parent-death signals alone keep watch
  // An empty tmpfs that no path leads to, where `namespaces`; gone with its last holder.
  base::Fd private_dir;
};
absl::StatusOr<Keep> enter_keeper();

// OK where links may be made without touching the machine: no link but loopback is there, and the pid or user
// namespace is not the machine's first (or this is the first process of a guest, or a child of it).
// FAILED_PRECONDITION otherwise, with a sentence for a person. Makes nothing.
absl::Status refuse_initial_namespace();

}  // namespace hopyard::lab
