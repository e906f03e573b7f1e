// SPDX-License-Identifier: Apache-2.0
// Three processes made of one: a guard outside, a reaper, and the process that goes on with the work. Knows
// nothing of why, nor of the namespaces it is called in.
#pragma once

#include "base/status.h"

namespace hopyard::lab {

// Returns in the process that goes on. The caller becomes the guard, its child the reaper; neither returns.
// - The guard kills all the others once the other end of its standard input is closed, or at SIGTERM. It
// waits
//   for them, and ends with the exit status of the one that went on (128 + n for signal n).
// - The reaper collects orphans, and kills every process left when the one that went on has ended.
// - If the guard or the reaper is killed, so are the others, by parent-death signals.
// `pid_namespace`: unshare(CLONE_NEWPID) was called, so the reaper is the namespace's first process and the
// kernel ends the rest with it.
absl::Status go_on_guarded(bool pid_namespace);

}  // namespace hopyard::lab
