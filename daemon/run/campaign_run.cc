// SPDX-License-Identifier: Apache-2.0
// Prepares variants and kernel, runs the lanes, ends with figures.
#include "run/campaign_run.h"

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "fmt/format.h"
#include "run/room.h"

namespace hopyard::run {
namespace {

// A job is a block, or several small ones: starting a guest costs a second or two, and no guest should live
// long enough for one trial's leavings to add up.
constexpr size_t kFewestInJob = 24;
constexpr size_t kMostInJob = 96;

// On the virtual clock every trial has a guest of its own: nothing of one trial reaches the next.
size_t job_size(const std::vector<store::PlannedRow>& trials, uint32_t jobs, const std::string& clock) {
  if (clock == kVirtualClock) return 1;
  size_t block = 0;
  for (const auto& row : trials) block = std::max<size_t>(block, row.planned.position() + 1);
  const size_t share = (trials.size() + jobs - 1) / jobs;  // every worker gets something
  return std::clamp<size_t>(std::min(std::clamp(block, kFewestInJob, kMostInJob), share), 1, kMostInJob);
}

template <typename Named>
const Named* named(const google::protobuf::RepeatedPtrField<Named>& list, const std::string& name) {
  for (const auto& one : list) {
    if (one.name() == name) return &one;
  }
  return nullptr;
}

std::string words(const v1::BuildEvent& event) {
  return fmt::format("variant {}: {}: {}", event.variant(), event.step(), event.message());
}

// Of the machine, not of what was asked: a probe or a gate was killed or was not done in time.
bool is_fault(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

Ending ending_of(v1::CampaignState state, const absl::Status& why) {
  return {state, base::printable(std::string(why.message()))};
}

}  // namespace

std::optional<Ending> CampaignRun::run(std::stop_token stop) {
  auto row = store_.campaign(id_);
  auto trials = store_.without_outcome(id_);
  if (!row.ok()) return ending_of(v1::INTERRUPTED, row.status());
  if (!trials.ok()) return ending_of(v1::INTERRUPTED, trials.status());
  jobs_ = std::max(row->jobs, 1u);
  recorder_.emplace(store_, events_, *std::move(row), tool_version_);
  const Needs needs = needs_of(*trials);
  {
    const std::lock_guard lock(mutex_);
    pool_.emplace(*trials, job_size(*trials, jobs_, recorder_->campaign().clock()));
    if (draining_) pool_->close();
  }
  if (const auto status = set_state(v1::PREPARING); !status.ok()) return ending_of(v1::INTERRUPTED, status);
  const std::stop_callback stop_too(stop, [this] { stop_preparing_.request_stop(); });
  const absl::Status prepared = prepare(needs, stop_preparing_.get_token());
  if (stop.stop_requested() || pool_->closed()) return std::nullopt;
  if (!prepared.ok()) return ending_of(is_fault(prepared) ? v1::INTERRUPTED : v1::ABORTED, prepared);
  if (const auto status = set_state(v1::RUNNING); !status.ok()) return ending_of(v1::INTERRUPTED, status);
  const absl::Status ran = run_lanes(needs, stop);
  if (stop.stop_requested()) return std::nullopt;
  if (!ran.ok()) return ending_of(absl::IsFailedPrecondition(ran) ? v1::ABORTED : v1::INTERRUPTED, ran);
  if (!pool_->empty()) return std::nullopt;  // drained
  return finish(stop);
}

// Every trial has its outcome. A campaign whose verification finds something is done all the same, and says
// so in its reason: what was measured stays, and a reader must look at what is wrong.
std::optional<Ending> CampaignRun::finish(std::stop_token stop) {
  const absl::Status figures = record_figures_ ? record_figures_(id_, stop) : absl::OkStatus();
  if (stop.stop_requested()) return std::nullopt;
  if (!figures.ok()) return ending_of(v1::INTERRUPTED, figures);
  if (!verify_) return Ending{v1::DONE, ""};
  recorder_->log("verifying");
  const auto verified = verify_(id_, [&] { return stop.stop_requested(); });
  if (stop.stop_requested()) return std::nullopt;
  if (!verified.ok()) return ending_of(v1::INTERRUPTED, verified.status());
  if (verified->findings() == 0) return Ending{v1::DONE, ""};
  return Ending{v1::DONE, fmt::format("VERIFICATION FAILED, {} findings: {}", verified->findings(),
                                      verified->first_finding())};
}

void CampaignRun::drain() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  stop_preparing_.request_stop();
  if (pool_) pool_->close();
}

CampaignRun::Needs CampaignRun::needs_of(const std::vector<store::PlannedRow>& trials) const {
  Needs needs;
  std::set<std::string> controls;
  const v1::Campaign& campaign = recorder_->campaign();
  for (const auto& row : trials) {
    needs.kernels.insert(row.planned.kernel());
    const auto* path = named(campaign.paths(), row.planned.path());
    const bool routed = path != nullptr && path->kind() != "unix";
    needs.kernel.routed |= routed;
    const auto* used = named(campaign.cases(), row.planned.case_name());
    if (used == nullptr) continue;
    needs.variants.insert(used->variant());
    if (routed && used->tcp().has_congestion_control()) controls.insert(used->tcp().congestion_control());
  }
  needs.kernel.congestion_controls.assign(controls.begin(), controls.end());
  needs.kernel.virtual_clock = campaign.clock() == kVirtualClock;
  return needs;
}

absl::Status CampaignRun::set_state(v1::CampaignState state) {
  HOPYARD_RETURN_IF_ERROR(store_.set_state(id_, state, ""));
  recorder_->log(state == v1::PREPARING ? "preparing" : "running");
  return absl::OkStatus();
}

absl::Status CampaignRun::prepare(const Needs& needs, std::stop_token stop) {
  HOPYARD_RETURN_IF_ERROR(choose_kernels(needs));
  const auto tell = [this](const v1::BuildEvent& event) { recorder_->log(words(event)); };
  for (const auto& name : needs.variants) {
    HOPYARD_ASSIGN_OR_RETURN(ReadyVariant ready, workshop_.make_ready(name, tell, stop));
    HOPYARD_RETURN_IF_ERROR(check_same_build(ready.build));
    recorder_->add_variant(name, std::move(ready));
  }
  return absl::OkStatus();
}

// What was measured with two builds under one name is no one cell's.
absl::Status CampaignRun::check_same_build(const v1::ServerBuild& build) const {
  HOPYARD_ASSIGN_OR_RETURN(const auto earlier, store_.builds(id_));
  for (const auto& [variant, sha256] : earlier) {
    if (variant != build.variant() || sha256 == build.sha256()) continue;
    return absl::FailedPreconditionError(fmt::format(
        "go on: variant {}: it is another build now ({}) than in the trials so far ({}); submit the "
        "campaign anew, or undo the change",
        variant, build.sha256().substr(0, 16), sha256.substr(0, 16)));
  }
  return absl::OkStatus();
}

absl::Status CampaignRun::choose_kernels(const Needs& needs) {
  for (const auto& wanted : needs.kernels) {
    HOPYARD_ASSIGN_OR_RETURN(auto kernel, machine_.choose_kernel(wanted, needs.kernel));
    recorder_->add_kernel(wanted, kernel.identity);
    kernels_.emplace(wanted, std::move(kernel));
  }
  return absl::OkStatus();
}

uint32_t CampaignRun::workers_at_once() {
  const bool guests = std::any_of(kernels_.begin(), kernels_.end(),
                                  [](const auto& kernel) { return !kernel.second.program.empty(); });
  const Room room = room_here();
  const uint32_t most = guests ? most_guests(room) : jobs_;
  if (most >= jobs_) return jobs_;
  recorder_->log(
      fmt::format("{} guests at once instead of {}: this machine has {} processors and {} MiB of memory "
                  "to spare",
                  most, jobs_, room.processors, room.memory_bytes >> 20));
  return most;
}

absl::Status CampaignRun::run_lanes(const Needs& needs, std::stop_token stop) {
  std::mutex mutex;
  absl::Status first;
  const auto work = [&] {
    Lane lane(*pool_, *recorder_, kernels_, needs.kernel.congestion_controls);
    const absl::Status status = lane.run(stop);
    const std::lock_guard lock(mutex);
    first.Update(status);
    if (!status.ok()) pool_->close();  // the others end after their present trial
  };
  std::vector<std::jthread> lanes;
  for (uint32_t left = workers_at_once(); left > 0; --left) lanes.emplace_back(work);
  lanes.clear();  // waits for all
  return first;
}

}  // namespace hopyard::run
