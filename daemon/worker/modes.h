// SPDX-License-Identifier: Apache-2.0
// The places a worker can run in, and the probe of the host's kernel. Each makes its place, then serves.
#pragma once

#include <string>

namespace hopyard::worker {

// Each returns the process's exit code: 0 done, 1 not (the reason went to the daemon or to standard error).

// On the host: in fresh namespaces, standard input to standard output.
int run_on_host();
// As a guest's first process, over /dev/ttyS0. Powers the guest off; returns only where it is not one.
// `order`: the file with the one message, as the machine sees it; empty: it comes over the line.
int run_as_guest_init(const std::string& order);
// Prints a HostProbe as text.
int run_probe();

}  // namespace hopyard::worker
