// SPDX-License-Identifier: Apache-2.0
// What this machine can run, for those who ask; and gates, run in a worker. A thin layer over execute/.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::run {

// Thread-safe; keeps nothing, for kernels come and go while the daemon runs.
class Machine {
 public:
  // Probes; some 50 ms.
  absl::StatusOr<std::vector<v1::KernelStatus>> kernels() const;
  absl::StatusOr<std::vector<std::string>> kernel_names() const;
  // Boots a guest; some seconds.
  std::vector<v1::DoctorFinding> findings() const;
  // Puts a build to the proof in a worker of its own. CANCELLED once `stop` is requested.
  absl::StatusOr<v1::GateResult> run_gate(const v1::GateJob& job, std::stop_token stop) const;
};

}  // namespace hopyard::run
