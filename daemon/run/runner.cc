// SPDX-License-Identifier: Apache-2.0
// The queue and the one long-lived thread that works through it.
#include "run/runner.h"

#include <algorithm>

#include "base/clock.h"
#include "fmt/format.h"
#include "plan/reader.h"
#include "plan/schedule.h"
#include "run/ids.h"
#include "run/lane.h"
#include "run/room.h"

namespace hopyard::run {
namespace {

constexpr std::chrono::seconds kSettleAgain{1};
constexpr uint32_t kMostJobs = 64;

bool has_ended(v1::CampaignState state) {
  return state == v1::DONE || state == v1::CANCELLED || state == v1::INTERRUPTED || state == v1::ABORTED;
}

std::vector<std::string> changes_of(const v1::CampaignText& text) {
  std::vector<std::string> changes(text.set().begin(), text.set().end());
  if (text.has_repetitions()) changes.push_back(fmt::format("--repetitions {}", text.repetitions()));
  if (text.has_seed()) changes.push_back(fmt::format("--seed {}", text.seed()));
  if (text.has_kernel()) changes.push_back("--kernel " + text.kernel());
  if (text.has_clock()) changes.push_back("--clock " + text.clock());
  return changes;
}

absl::Status few_enough(std::string_view attempt, uint32_t jobs) {
  if (jobs <= kMostJobs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("{}: {} workers at once: at most {}", attempt, jobs, kMostJobs));
}

// What a guest on the virtual clock measures does not depend on what runs beside it.
uint32_t jobs_for(const v1::SubmitRequest& request, const v1::Campaign& campaign) {
  if (request.jobs() != 0) return request.jobs();
  return campaign.clock() == kVirtualClock ? std::min(room_here().processors, kMostJobs) : 1;
}

store::CampaignRow row_for(const v1::SubmitRequest& request, const v1::Campaign& campaign) {
  store::CampaignRow row;
  row.file = request.campaign().file();
  row.text = request.campaign().yaml();
  row.text_sha256 = plan::campaign_hash(request.campaign());
  row.overrides = changes_of(request.campaign());
  row.campaign = campaign;
  row.jobs = jobs_for(request, campaign);
  row.submitted_unix_ns = base::unix_ns();
  return row;
}

std::vector<store::PlannedRow> planned_rows(const std::string& id, const v1::Plan& plan) {
  std::vector<store::PlannedRow> rows;
  for (const auto& planned : plan.schedule()) rows.push_back({trial_id(id, planned.index()), planned});
  return rows;
}

// The trials of `plan` behind those that are stored, which it must repeat as they are: what ran, ran as
// planned.
absl::StatusOr<std::vector<store::PlannedRow>> added_rows(const std::string& id, const v1::Plan& plan,
                                                          const std::vector<store::PlannedRow>& stored) {
  std::vector<store::PlannedRow> rows = planned_rows(id, plan);
  const auto same = [](const store::PlannedRow& a, const store::PlannedRow& b) {
    return a.trial_id == b.trial_id && a.planned.SerializeAsString() == b.planned.SerializeAsString();
  };
  if (rows.size() <= stored.size() || !std::equal(stored.begin(), stored.end(), rows.begin(), same)) {
    return absl::InternalError(
        fmt::format("extend: {}: its stored schedule is not what its campaign gives now", id));
  }
  rows.erase(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(stored.size()));
  return rows;
}

store::ExtensionRow row_for(const v1::ExtendRequest& request, const v1::Campaign& campaign) {
  const v1::ExtensionText& text = request.extension();
  return {.file = text.file(),
          .text = text.yaml(),
          .text_sha256 = plan::extension_hash(text),
          .options = plan::option_lines(text),
          .campaign = campaign,
          .jobs = request.jobs(),
          .added_unix_ns = base::unix_ns()};
}

}  // namespace

Runner::Runner(store::Store& store, Workshop& workshop, const Machine& machine, RunnerOptions options)
    : store_(store),
      workshop_(workshop),
      machine_(machine),
      options_(std::move(options)),
      events_(options_.on_event) {}

absl::StatusOr<std::unique_ptr<Runner>> Runner::start(store::Store& store, Workshop& workshop,
                                                      const Machine& machine, RunnerOptions options) {
  std::unique_ptr<Runner> runner(new Runner(store, workshop, machine, std::move(options)));
  HOPYARD_RETURN_IF_ERROR(runner->take_up_unfinished());
  runner->thread_ = std::thread([raw = runner.get()] { raw->loop(); });
  return runner;
}

Runner::~Runner() {
  stop_now();
  if (thread_.joinable()) thread_.join();
  events_.end_all();
}

void Runner::stop_now() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  if (halt_ != Halt::kCancelled) halt_ = Halt::kStopping;
  stop_.request_stop();
  changed_.notify_all();
}

absl::Status Runner::take_up_unfinished() {
  HOPYARD_ASSIGN_OR_RETURN(const auto campaigns, store_.list());
  for (auto one = campaigns.rbegin(); one != campaigns.rend(); ++one) {  // oldest first
    if (!has_ended(one->state())) queue_.push_back(one->campaign_id());
  }
  // One that ran already goes on before others begin.
  std::stable_partition(queue_.begin(), queue_.end(), [this](const std::string& id) {
    const auto status = store_.status(id);
    return status.ok() && status->state() != v1::QUEUED;
  });
  return absl::OkStatus();
}

absl::StatusOr<Planned> Runner::validate(const v1::CampaignText& text) const {
  plan::Known known;
  HOPYARD_ASSIGN_OR_RETURN(known.variants, workshop_.names());
  HOPYARD_ASSIGN_OR_RETURN(known.directives, workshop_.directives());
  HOPYARD_ASSIGN_OR_RETURN(const auto kernels, machine_.kernels());
  for (const auto& kernel : kernels) {
    known.kernels.push_back(kernel.name());
    if (kernel.virtual_clock()) known.virtual_kernels.push_back(kernel.name());
  }
  plan::ReadResult read = plan::read_campaign(text, known);
  Planned planned;
  planned.problems = std::move(read.problems);
  if (planned.problems.empty()) planned.plan = plan::make_plan(read.campaign);
  return planned;
}

absl::StatusOr<Planned> Runner::submit(const v1::SubmitRequest& request) {
  HOPYARD_RETURN_IF_ERROR(few_enough("submit", request.jobs()));
  HOPYARD_ASSIGN_OR_RETURN(Planned planned, validate(request.campaign()));
  if (!planned.problems.empty()) return planned;
  std::unique_lock lock(mutex_);
  HOPYARD_RETURN_IF_ERROR(room_in_queue("submit"));
  ++arriving_;
  lock.unlock();
  auto stored = store_planned(request, planned.plan);
  lock.lock();
  --arriving_;
  HOPYARD_ASSIGN_OR_RETURN(planned.campaign_id, std::move(stored));
  queue(planned.campaign_id);
  return planned;
}

absl::StatusOr<std::string> Runner::store_planned(const v1::SubmitRequest& request, const v1::Plan& plan) {
  constexpr int kAttempts = 8;  // ids are random within a second
  store::CampaignRow row = row_for(request, plan.campaign());
  absl::Status stored;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    row.id = new_campaign_id(plan.campaign().name(), row.submitted_unix_ns);
    stored = store_.add_campaign(row, planned_rows(row.id, plan));
    if (!absl::IsAlreadyExists(stored)) break;
  }
  if (!stored.ok()) return stored;
  return row.id;
}

absl::StatusOr<Planned> Runner::extend(const v1::ExtendRequest& request) {
  HOPYARD_RETURN_IF_ERROR(few_enough("extend", request.jobs()));
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, store_.resolve(request.campaign_id()));
  const std::lock_guard lock(mutex_);
  // Its schedule is in the hands of its lanes until it ends.
  if (waits_or_runs(id))
    return absl::FailedPreconditionError(
        fmt::format("extend: {}: it has not ended; wait for its end or cancel it", id));
  HOPYARD_RETURN_IF_ERROR(room_in_queue("extend"));
  HOPYARD_ASSIGN_OR_RETURN(Planned planned, store_extended(id, request));
  if (planned.problems.empty()) queue(id);
  return planned;
}

absl::StatusOr<Planned> Runner::store_extended(const std::string& id, const v1::ExtendRequest& request) {
  HOPYARD_ASSIGN_OR_RETURN(const auto row, store_.campaign(id));
  plan::ReadResult read = plan::read_extension(row.campaign, request.extension());
  Planned planned{.problems = std::move(read.problems), .campaign_id = id};
  if (!planned.problems.empty()) return planned;
  planned.plan = plan::make_plan(read.campaign);
  HOPYARD_ASSIGN_OR_RETURN(const auto stored, store_.planned(id));
  HOPYARD_ASSIGN_OR_RETURN(const auto left, store_.without_outcome(id));
  planned.left = static_cast<uint32_t>(left.size());
  HOPYARD_ASSIGN_OR_RETURN(const auto added, added_rows(id, planned.plan, stored));
  HOPYARD_RETURN_IF_ERROR(store_.extend_campaign(id, row_for(request, read.campaign), added));
  return planned;
}

void Runner::queue(const std::string& id) {
  unsettled_.erase(id);
  queue_.push_back(id);
  changed_.notify_all();
}

absl::Status Runner::cancel(std::string_view ref) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, store_.resolve(ref));
  std::unique_lock lock(mutex_);
  if (current_ == id) {
    halt_ = Halt::kCancelled;
    stop_.request_stop();
    changed_.wait(lock, [&] { return current_ != id; });
    return absl::OkStatus();
  }
  const auto waiting = std::find(queue_.begin(), queue_.end(), id);
  if (waiting == queue_.end())
    return absl::FailedPreconditionError(fmt::format("cancel: {}: it has ended already", id));
  queue_.erase(waiting);
  const v1::CampaignEvent last = settle(id, Ending{v1::CANCELLED, "cancelled before it ran"});
  events_.publish(id, last);
  events_.end(id);
  return absl::OkStatus();
}

absl::Status Runner::resume(std::string_view ref) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, store_.resolve(ref));
  const std::lock_guard lock(mutex_);
  if (waits_or_runs(id))
    return absl::FailedPreconditionError(fmt::format("resume: {}: it has not ended", id));
  HOPYARD_ASSIGN_OR_RETURN(const auto left, store_.without_outcome(id));
  if (left.empty())
    return absl::FailedPreconditionError(fmt::format("resume: {}: every trial has its outcome", id));
  HOPYARD_RETURN_IF_ERROR(room_in_queue("resume"));
  HOPYARD_RETURN_IF_ERROR(store_.set_state(id, v1::QUEUED, ""));
  queue(id);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Watcher>> Runner::watch(std::string_view ref) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, store_.resolve(ref));
  auto watcher = events_.watch(id);
  // Asked after the watcher was set up: an end between the two reaches it.
  const std::lock_guard lock(mutex_);
  if (!waits_or_runs(id)) events_.end(id);
  return watcher;
}

void Runner::amend(v1::CampaignStatus& status) const {
  const std::lock_guard lock(mutex_);
  const auto ended = unsettled_.find(status.campaign_id());
  if (ended == unsettled_.end()) return;
  status.set_state(ended->second.state);
  status.set_reason(ended->second.reason);
}

bool Runner::idle() const {
  const std::lock_guard lock(mutex_);
  return current_.empty() && queue_.empty();
}

void Runner::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  closing_ = true;
  if (halt_ == Halt::kNone) halt_ = Halt::kDraining;
  if (present_ != nullptr) present_->drain();
  changed_.wait_for(lock, patience, [this] { return current_.empty(); });
}

bool Runner::waits_or_runs(const std::string& id) const {
  return current_ == id || std::find(queue_.begin(), queue_.end(), id) != queue_.end();
}

absl::Status Runner::room_in_queue(std::string_view attempt) const {
  if (queue_.size() + arriving_ < options_.longest_queue) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      fmt::format("{}: queue: {} campaigns wait already; try again once one has ended, or cancel one",
                  attempt, queue_.size() + arriving_));
}

void Runner::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    await_work(lock);
    if (closing_) return;
    current_ = queue_.front();
    queue_.pop_front();
    halt_ = Halt::kNone;
    stop_ = std::stop_source();
    const std::string id = current_;
    lock.unlock();
    const std::optional<Ending> ending = work_on(id);
    lock.lock();
    // Under one lock, so that whoever sees that it ended can resume it.
    const v1::CampaignEvent last = settle(id, ending);
    current_.clear();
    const bool idle = queue_.empty();
    changed_.notify_all();
    // Before anybody can queue it again: a watcher of that must not be given this end.
    if (ending) events_.publish(id, last);
    events_.end(id);
    lock.unlock();
    if (idle && options_.on_idle) options_.on_idle();
    lock.lock();
  }
}

// Meanwhile the store is offered what it could not take: a lock is let go, a disk gets room again.
void Runner::await_work(std::unique_lock<std::mutex>& lock) {
  const auto wanted = [this] { return closing_ || !queue_.empty(); };
  while (!unsettled_.empty()) {
    if (changed_.wait_for(lock, kSettleAgain, wanted)) return;
    settle_again(lock);
  }
  changed_.wait(lock, wanted);
}

void Runner::settle_again(std::unique_lock<std::mutex>& lock) {
  const auto left = unsettled_;
  lock.unlock();  // the store may wait for seconds
  std::vector<std::string> settled;
  for (const auto& [id, ending] : left) {
    if (store_.set_state(id, ending.state, ending.reason).ok()) settled.push_back(id);
  }
  lock.lock();
  for (const auto& id : settled) unsettled_.erase(id);
}

// Nothing if the daemon ends: the state stays, and the next runner takes the campaign up again.
std::optional<Ending> Runner::work_on(const std::string& id) {
  CampaignRun run(store_, events_, workshop_, machine_, id, options_.tool_version, options_.record_figures,
                  options_.verify);
  std::stop_token stop;
  {
    const std::lock_guard lock(mutex_);
    present_ = &run;
    stop = stop_.get_token();
    if (halt_ == Halt::kDraining) run.drain();
  }
  std::optional<Ending> ending = run.run(stop);
  const std::lock_guard lock(mutex_);
  present_ = nullptr;
  if (!ending && halt_ == Halt::kCancelled) ending = Ending{v1::CANCELLED, "cancelled"};
  return ending;
}

// The campaign's last event, its state stored. A store that takes nothing more cannot keep the state either;
// watchers learn of it all the same, and it is offered again later. Under the lock.
v1::CampaignEvent Runner::settle(const std::string& id, const std::optional<Ending>& ending) {
  v1::CampaignEvent event;
  if (!ending) return event;
  const absl::Status stored = store_.set_state(id, ending->state, ending->reason);
  if (auto status = store_.status(id); status.ok()) *event.mutable_status() = *std::move(status);
  event.mutable_status()->set_state(ending->state);
  event.mutable_status()->set_reason(ending->reason);
  if (!stored.ok()) {
    unsettled_[id] = *ending;
    event.set_log(std::string(stored.message()));
  }
  return event;
}

}  // namespace hopyard::run
