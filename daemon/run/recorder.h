// SPDX-License-Identifier: Apache-2.0
// What happens in a campaign, into the store and to those who watch: one planned trial, one outcome. Starts
// nothing.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/status.h"
#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "run/events.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::run {

// The worker's order for a planned trial, served by `build`.
v1::TrialSpec trial_order(const v1::Campaign& campaign, const store::PlannedRow& row,
                          const v1::ServerBuild& build);

// Thread-safe.
class Recorder {
 public:
  Recorder(store::Store& store, Events& events, store::CampaignRow campaign, std::string tool_version)
      : store_(store),
        events_(events),
        campaign_(std::move(campaign)),
        tool_version_(std::move(tool_version)) {}

  const v1::Campaign& campaign() const { return campaign_.campaign; }
  // Before any trial of a case with that variant.
  void add_variant(const std::string& name, ReadyVariant ready) { variants_[name] = std::move(ready); }
  // What the kernel that a plan calls `name` was built from; before any trial on it.
  void add_kernel(const std::string& name, std::vector<std::string> identity) {
    kernel_identities_[name] = std::move(identity);
  }

  // The worker's order for a planned trial.
  v1::TrialSpec spec_for(const store::PlannedRow& row) const;
  // A worker says where it runs; `kernel` is the name people use.
  absl::Status on_hello(const std::string& kernel, const v1::Hello& hello);
  void on_started(const store::PlannedRow& row);
  // The trial's outcome, as the worker gave it. An error means that the store could not take it.
  absl::Status on_result(const store::PlannedRow& row, const v1::TrialResult& result, const v1::Hello& hello);
  // The worker gave none: the trial failed, and this is why.
  absl::Status on_loss(const store::PlannedRow& row, const std::string& reason, const v1::Hello& hello);
  void log(const std::string& line);

 private:
  // An outcome without evidence.
  absl::Status record_bare(const store::PlannedRow& row, v1::Verdict verdict, const std::string& reason,
                           const v1::Hello& hello);
  void publish_outcome(const store::PlannedRow& row, const v1::TrialResult& result);
  v1::CampaignEvent event() const;
  store::Provenance provenance(const store::PlannedRow& row, const v1::Hello& hello) const;
  const std::string& variant_of(const store::PlannedRow& row) const;

  store::Store& store_;
  Events& events_;
  const store::CampaignRow campaign_;
  const std::string tool_version_;
  std::map<std::string, ReadyVariant> variants_;
  std::map<std::string, std::vector<std::string>> kernel_identities_;
  std::mutex mutex_;
  std::set<std::string> kernels_;  // that said hello
};

}  // namespace hopyard::run
