// SPDX-License-Identifier: Apache-2.0
// One campaign from PREPARING to its end. Knows no queue, and not who stopped it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/status.h"
#include "execute/execution.h"
#include "run/lane.h"
#include "run/machine.h"
#include "run/recorder.h"
#include "run/trial_pool.h"
#include "run/workshop.h"

namespace hopyard::run {

struct Ending {
  v1::CampaignState state;
  std::string reason;
};

class CampaignRun {
 public:
  // Nothing: it was stopped or drained before its end; the state in the store is then PREPARING or RUNNING.
  // `record_figures` is called once every trial has an outcome. It returns soon once `stop` is requested.
  using Figures = std::function<absl::Status(const std::string& campaign_id, std::stop_token stop)>;
  // Called last: derives everything again, and keeps what came out. CANCELLED once `stopped` is true.
  using Verify = std::function<absl::StatusOr<v1::Verification>(const std::string& campaign_id,
                                                                const std::function<bool()>& stopped)>;

  CampaignRun(store::Store& store, Events& events, Workshop& workshop, const Machine& machine, std::string id,
              std::string tool_version, Figures record_figures, Verify verify)
      : store_(store),
        events_(events),
        workshop_(workshop),
        machine_(machine),
        id_(std::move(id)),
        tool_version_(std::move(tool_version)),
        record_figures_(std::move(record_figures)),
        verify_(std::move(verify)) {}

  // Blocks. Once `stop` is requested it ends within a second or two, dropping the trials in flight.
  std::optional<Ending> run(std::stop_token stop);
  // Lets the trials in flight end and starts no other; preparing ends at once. From any thread.
  void drain();

 private:
  struct Needs {
    std::set<std::string> variants;
    std::set<std::string> kernels;
    execute::KernelNeeds kernel;
  };
  Needs needs_of(const std::vector<store::PlannedRow>& trials) const;
  absl::Status set_state(v1::CampaignState state);
  absl::Status prepare(const Needs& needs, std::stop_token stop);
  absl::Status choose_kernels(const Needs& needs);
  std::optional<Ending> finish(std::stop_token stop);
  // FAILED_PRECONDITION if trials of this campaign were served by another build of the same variant.
  absl::Status check_same_build(const v1::ServerBuild& build) const;
  // As many as were asked for, or as guests have room here; says so if they are fewer.
  uint32_t workers_at_once();
  absl::Status run_lanes(const Needs& needs, std::stop_token stop);

  store::Store& store_;
  Events& events_;
  Workshop& workshop_;
  const Machine& machine_;
  const std::string id_;
  const std::string tool_version_;
  const Figures record_figures_;
  const Verify verify_;

  uint32_t jobs_ = 1;
  std::optional<Recorder> recorder_;
  std::map<std::string, execute::KernelOption> kernels_;
  std::stop_source stop_preparing_;
  std::mutex mutex_;  // guards what drain() touches
  std::optional<TrialPool> pool_;
  bool draining_ = false;
};

}  // namespace hopyard::run
