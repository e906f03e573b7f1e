// SPDX-License-Identifier: Apache-2.0
// What this machine can run, for those who ask; kernels built for it; and gates, run in a worker. Joins
// execute/, which boots kernels, and variant/, which builds them.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "execute/execution.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "variant/kernel_builder.h"

namespace hopyard::run {

// Thread-safe; keeps nothing, for kernels come and go while the daemon runs.
class Machine {
 public:
  using Sink = std::function<void(const v1::BuildEvent&)>;

  Machine(variant::BuilderOptions options = {},
          std::vector<std::string> catalogue_files = variant::Catalogue::default_files());

  // Probes; some 50 ms.
  absl::StatusOr<std::vector<v1::KernelStatus>> kernels() const;
  // As execute::choose_kernel, with the built kernels and those that could be built.
  absl::StatusOr<execute::KernelOption> choose_kernel(const std::string& wanted,
                                                      const execute::KernelNeeds& needs) const;
  absl::StatusOr<std::vector<std::string>> buildable_kernels() const;
  // Minutes, unless it is built. NOT_FOUND: no such kernel in the catalogue.
  absl::Status build_kernel(const std::string& name, const Sink& sink, std::stop_token stop) const;
  // Boots a guest; some seconds. `database`: whose disk is looked at.
  std::vector<v1::DoctorFinding> findings(const std::string& database) const;
  // Puts a build to the proof in a worker of its own. CANCELLED once `stop` is requested.
  absl::StatusOr<v1::GateResult> run_gate(const v1::GateJob& job, std::stop_token stop) const;

 private:
  absl::StatusOr<std::vector<execute::KernelOption>> catalogue_kernels() const;

  variant::KernelBuilder builder_;
  std::vector<std::string> catalogue_files_;
};

}  // namespace hopyard::run
