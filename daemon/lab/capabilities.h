// SPDX-License-Identifier: Apache-2.0
// What the running kernel can do for a lab, found by doing it. Knows no path.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace hopyard::lab {

struct Capability {
  std::string name;     // "veth", "fq", "netem", "tcp_diag"
  absl::Status status;  // not OK: what is missing and how to get it
};

// Makes a veth pair with fq and netem in the present network namespace and takes it away again; the caller
// must be in one of its own (lab/sandbox.h). Loads no kernel module: what is not loaded counts as missing,
// since asking for it would make the kernel load it for the whole machine.
std::vector<Capability> find_capabilities();

// The congestion controls that a network namespace other than the first may use.
std::vector<std::string> allowed_congestion_controls();

}  // namespace hopyard::lab
