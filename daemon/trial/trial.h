// SPDX-License-Identifier: Apache-2.0
// One trial from plan to evidence, and the gate of a server build. Knows the lab, the server and the probe;
// nothing of pipes, campaigns or storage.
#pragma once

#include <functional>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::trial {

// Told the name of each part of a trial as it begins (worker.proto's Step).
using Steps = std::function<void(const char* name)>;

// Runs one trial in the calling process, which must be single-threaded, root of its user namespace, and in
// network and mount namespaces of its own (lab/sandbox.h) or pid 1 of a guest. Always gives a verdict:
// whatever goes wrong is a `failed` or `invalid` trial with its reason and what was seen until then. Leaves
// nothing behind.
v1::TrialResult run_trial(const v1::TrialSpec& spec, const Steps& steps = {});

// Puts a server build to the proof before it may serve a trial: record list, a 10000-byte body, a slow reader
// with a small send buffer, 400 HTTP/2 and 400 HTTP/1.1 requests. Over Unix-domain sockets, the slow reader
// over the loopback of a namespace of its own: needs neither veth, fq nor netem.
v1::GateResult run_gate(const v1::GateJob& job);

}  // namespace hopyard::trial
