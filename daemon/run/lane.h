// SPDX-License-Identifier: Apache-2.0
// One worker after another, each with a job from the pool, until the pool is empty. Judges no trial; knows
// when a worker has to be given up.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "execute/execution.h"
#include "run/patience.h"
#include "run/recorder.h"
#include "run/trial_pool.h"

namespace hopyard::run {

inline constexpr char kVirtualClock[] = "virtual";  // as campaigns say it

class Lane {
 public:
  // How long a trial may be silent before it counts as hung.
  using Patience = std::function<std::chrono::nanoseconds(const v1::TrialSpec&)>;

  // `kernels`: for each kernel a trial may name, the one chosen for it. `needed`: congestion controls a
  // kernel must have.
  Lane(TrialPool& pool, Recorder& recorder, const std::map<std::string, execute::KernelOption>& kernels,
       const std::vector<std::string>& needed, Patience patience = patience_for)
      : pool_(pool),
        recorder_(recorder),
        kernels_(kernels),
        needed_(needed),
        patience_(std::move(patience)) {}

  // Until nothing is left, the pool is closed or `stop` is requested; a trial under way is then dropped
  // without an outcome. Errors say why no worker can go on: several in a row gave nothing or took a trial
  // with them each, the store takes nothing more (RESOURCE_EXHAUSTED and the like), or FAILED_PRECONDITION:
  // the kernel lacks what the campaign needs.
  absl::Status run(std::stop_token stop);

 private:
  struct Job {
    std::deque<store::PlannedRow> trials;  // without an outcome yet; the first is the next
    bool progressed = false;               // the worker gave an outcome
    bool lost = false;                     // the last trial it had begun got one without it
    bool started = false;                  // the worker has begun the first trial
  };

  // Ok: the job is done, or given up early because nothing more is wanted. UNAVAILABLE: this worker cannot go
  // on, the next may. Other errors: none can.
  absl::Status run_job(Job& job, std::stop_token stop);
  absl::StatusOr<std::unique_ptr<execute::WorkerSession>> start_worker(const Job& job,
                                                                       const v1::ToWorker& message,
                                                                       std::stop_token stop) const;
  bool on_virtual_clock() const;
  absl::Status take_results(Job& job, execute::WorkerSession& session, std::stop_token stop);
  absl::Status on_message(Job& job, const v1::FromWorker& message, const v1::Hello& hello);
  absl::Status on_silence(Job& job, execute::WorkerSession& session, const absl::Status& why);
  absl::Status lose_first(Job& job, const std::string& reason, const v1::Hello& hello);
  absl::Status check_kernel(const v1::Hello& hello) const;

  TrialPool& pool_;
  Recorder& recorder_;
  const std::map<std::string, execute::KernelOption>& kernels_;
  const std::vector<std::string>& needed_;
  const Patience patience_;
};

}  // namespace hopyard::run
