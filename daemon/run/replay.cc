// SPDX-License-Identifier: Apache-2.0
// The stored plan of a trial into an order, a guest of its own, two digests.
#include "run/replay.h"

#include "fmt/format.h"
#include "run/guest_seed.h"
#include "run/lane.h"
#include "run/patience.h"
#include "run/recorder.h"
#include "run/trial_digest.h"

namespace hopyard::run {
namespace {

absl::Status refuse(const std::string& trial_id, const std::string& why) {
  return absl::FailedPreconditionError(fmt::format("replay: {}: {}", trial_id, why));
}

const v1::Case* case_of(const v1::Campaign& campaign, const std::string& name) {
  for (const auto& one : campaign.cases()) {
    if (one.name() == name) return &one;
  }
  return nullptr;
}

absl::StatusOr<v1::TrialResult> run_alone(const execute::KernelOption& kernel, const v1::TrialSpec& spec,
                                          std::stop_token stop) {
  v1::ToWorker order;
  *order.mutable_job()->add_trials() = spec;
  HOPYARD_ASSIGN_OR_RETURN(
      const auto session,
      execute::WorkerSession::start_virtual(kernel, order, guest_seed(spec), base::Deadline(kWorkerStart)));
  const std::stop_callback cancel(stop, [&session] { (void)session->cancel(); });
  const base::Deadline deadline(patience_for(spec));
  while (true) {
    auto message = session->receive(deadline);
    if (stop.stop_requested()) return absl::CancelledError("replay: stopped on request");
    if (!message.ok()) return message.status();
    if (message->has_fatal()) return absl::UnavailableError("worker: " + message->fatal().reason());
    if (message->has_result()) return std::move(*message->mutable_result());
  }
}

void compare(const std::string& what, const std::string& stored, const std::string& today,
             v1::ReplayResponse& response) {
  if (stored != today)
    response.add_differences(fmt::format("{} differs: stored {}, today {}", what, stored, today));
}

}  // namespace

void add_differences(const store::Provenance& stored, const store::Provenance& today,
                     v1::ReplayResponse& response) {
  compare("the server variant's definition", stored.build.sha256(), today.build.sha256(), response);
  compare("the server build", stored.binary_sha256, today.binary_sha256, response);
  // A built kernel's release ends with the first digits of its build's hash.
  compare("the guest kernel", stored.kernel_release, today.kernel_release, response);
  compare("Hopyard", stored.tool_version, today.tool_version, response);
}

absl::StatusOr<v1::ReplayResponse> replay_trial(const store::Store& store, Workshop& workshop,
                                                const Machine& machine, const std::string& tool_version,
                                                const std::string& trial_id, std::stop_token stop) {
  HOPYARD_ASSIGN_OR_RETURN(const v1::TrialResponse stored, store.trial(trial_id));
  if (stored.result().environment().clock() != kVirtualClock)
    return refuse(trial_id, "it ran on the real clock, where no trial is the same twice");
  HOPYARD_ASSIGN_OR_RETURN(const auto campaign, store.campaign(trial_id.substr(0, trial_id.rfind('.'))));
  const v1::Case* served = case_of(campaign.campaign, stored.planned().case_name());
  if (served == nullptr) return refuse(trial_id, "its campaign has no case of that name");
  HOPYARD_ASSIGN_OR_RETURN(const store::Provenance then, store.provenance(trial_id));
  HOPYARD_ASSIGN_OR_RETURN(const auto kernel,
                           machine.choose_kernel(stored.planned().kernel(), {.virtual_clock = true}));
  HOPYARD_ASSIGN_OR_RETURN(const ReadyVariant ready, workshop.make_ready(served->variant(), {}, stop));
  const v1::TrialSpec spec = trial_order(campaign.campaign, {trial_id, stored.planned()}, ready.build);
  v1::ReplayResponse response;
  HOPYARD_ASSIGN_OR_RETURN(*response.mutable_result(), run_alone(kernel, spec, stop));
  response.set_trial_id(trial_id);
  add_differences(then,
                  {.kernel_release = response.result().environment().kernel_release(),
                   .tool_version = tool_version,
                   .build = ready.build,
                   .binary_sha256 = ready.binary_sha256},
                  response);
  response.set_stored_digest(trial_digest(stored.result()));
  response.set_replayed_digest(trial_digest(response.result()));
  response.set_first_difference(first_difference(stored.result(), response.result()));
  return response;
}

}  // namespace hopyard::run
