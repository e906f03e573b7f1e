// SPDX-License-Identifier: Apache-2.0
// A campaign's life: submitted, queued, prepared, run, ended; resumed after a restart. Decides nothing about
// a trial's verdict and does not know how its figures are made.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"
#include "run/campaign_run.h"
#include "run/events.h"
#include "run/machine.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::run {

// Either problems, or a plan; with an id if it was submitted.
struct Planned {
  std::vector<v1::Problem> problems;
  v1::Plan plan;
  std::string campaign_id;
  uint32_t left = 0;  // extended: trials of earlier phases without an outcome
};

struct RunnerOptions {
  std::string tool_version;
  // Computes and stores what a finished campaign's cases say of each other; called before it counts as DONE.
  CampaignRun::Figures record_figures;
  // Derives the campaign again from what is stored; called last. What it finds goes into the state's reason.
  CampaignRun::Verify verify;
  // Campaigns that may wait; the next is refused.
  size_t longest_queue = 100;
  // Told every event of every campaign before its watchers are. On any thread; may be empty, as may the next.
  std::function<void(const std::string& campaign_id, const v1::CampaignEvent& event)> on_event;
  // Called, on any thread, whenever the runner has nothing left to do.
  std::function<void()> on_idle;
};

// One campaign runs at a time, others wait in order of submission. All functions are thread-safe.
class Runner {
 public:
  // Takes up what the store says was queued, in preparation or running. The others must outlive the runner.
  static absl::StatusOr<std::unique_ptr<Runner>> start(store::Store& store, Workshop& workshop,
                                                       const Machine& machine, RunnerOptions options);
  // Ends workers at once; what has no outcome yet is taken up by the next runner on this store.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const std::string& tool_version() const { return options_.tool_version; }
  // Reads, checks and plans; stores nothing.
  absl::StatusOr<Planned> validate(const v1::CampaignText& text) const;
  // Stores and queues; nothing is stored where there are problems. RESOURCE_EXHAUSTED: too many wait
  // already. INVALID_ARGUMENT: more than 64 workers at once.
  absl::StatusOr<Planned> submit(const v1::SubmitRequest& request);
  // Ends a campaign that waits or runs, keeping what was measured; returns once it has ended.
  // FAILED_PRECONDITION: it has ended already.
  absl::Status cancel(std::string_view ref);
  // Queues an ended campaign's planned trials without an outcome. FAILED_PRECONDITION: nothing is left to
  // run, or it has not ended. RESOURCE_EXHAUSTED: too many wait already.
  absl::Status resume(std::string_view ref);
  // Plans a further phase of an ended campaign (done, cancelled, interrupted or aborted), stores and queues
  // it; the plan is the whole campaign's. Trials of earlier phases without an outcome run first.
  // FAILED_PRECONDITION: it has not ended. INVALID_ARGUMENT: more than 64 workers at once. Nothing is stored
  // where there are problems.
  absl::StatusOr<Planned> extend(const v1::ExtendRequest& request);
  // Events from now on; at its end already if the campaign has ended.
  absl::StatusOr<std::shared_ptr<Watcher>> watch(std::string_view ref);

  // Puts right what the store could not take yet: a full or locked one still says that the campaign runs.
  void amend(v1::CampaignStatus& status) const;

  bool idle() const;
  // Starts no further trial, and returns once those in flight have their outcome, or after `patience`. What
  // is left is taken up by the next runner on this store.
  void drain(std::chrono::milliseconds patience);
  // Ends workers at once and takes nothing more from the queue; ends a drain() under way.
  void stop_now();

 private:
  // Why the present campaign has to stop early.
  enum class Halt { kNone, kCancelled, kDraining, kStopping };
  Runner(store::Store& store, Workshop& workshop, const Machine& machine, RunnerOptions options);
  absl::Status take_up_unfinished();
  absl::StatusOr<std::string> store_planned(const v1::SubmitRequest& request, const v1::Plan& plan);
  absl::StatusOr<Planned> store_extended(const std::string& id, const v1::ExtendRequest& request);
  void queue(const std::string& id);  // under the lock
  void loop();
  std::optional<Ending> work_on(const std::string& id);
  v1::CampaignEvent settle(const std::string& id, const std::optional<Ending>& ending);
  void await_work(std::unique_lock<std::mutex>& lock);
  void settle_again(std::unique_lock<std::mutex>& lock);
  bool waits_or_runs(const std::string& id) const;             // under the lock
  absl::Status room_in_queue(std::string_view attempt) const;  // under the lock

  store::Store& store_;
  Workshop& workshop_;
  const Machine& machine_;
  const RunnerOptions options_;
  Events events_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  size_t arriving_ = 0;                      // that have a place in the queue, but are not stored yet
  std::string current_;                      // empty: none
  std::map<std::string, Ending> unsettled_;  // ended, but the store could not take it yet
  CampaignRun* present_ = nullptr;
  Halt halt_ = Halt::kNone;
  bool closing_ = false;   // takes nothing more from the queue
  std::stop_source stop_;  // of the present campaign
  std::thread thread_;
};

}  // namespace hopyard::run
