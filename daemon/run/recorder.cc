// SPDX-License-Identifier: Apache-2.0
// Every outcome is stored first and told afterwards.
#include "run/recorder.h"

#include "absl/strings/str_join.h"
#include "base/text.h"
#include "fmt/format.h"
#include "plan/schedule.h"
#include "run/patience.h"

namespace hopyard::run {
namespace {

constexpr char kHost[] = "host";
constexpr char kGuest[] = "guest";

const char* execution_of(const v1::Hello& hello) { return hello.guest() ? kGuest : kHost; }

}  // namespace

v1::TrialSpec trial_order(const v1::Campaign& campaign, const store::PlannedRow& row,
                          const v1::ServerBuild& build) {
  v1::TrialSpec spec = plan::trial_spec(campaign, row.planned);
  spec.set_trial_id(row.trial_id);
  *spec.mutable_build() = build;
  spec.set_request_timeout_ns(static_cast<uint64_t>(request_patience_for(spec).count()));
  return spec;
}

v1::TrialSpec Recorder::spec_for(const store::PlannedRow& row) const {
  return trial_order(campaign_.campaign, row, variants_.at(variant_of(row)).build);
}

absl::Status Recorder::on_hello(const std::string& kernel, const v1::Hello& hello) {
  std::string all;
  {
    const std::lock_guard lock(mutex_);
    if (!kernels_.insert(fmt::format("{} {}", kernel, hello.kernel_release())).second)
      return absl::OkStatus();
    all = absl::StrJoin(kernels_, ", ");
  }
  log(fmt::format("running on {} {} ({})", kernel, hello.kernel_release(), execution_of(hello)));
  return store_.set_execution(campaign_.id, execution_of(hello), all);
}

void Recorder::on_started(const store::PlannedRow& row) {
  v1::CampaignEvent started = event();
  *started.mutable_started() = row.planned;
  events_.publish(campaign_.id, started);
}

absl::Status Recorder::on_result(const store::PlannedRow& row, const v1::TrialResult& result,
                                 const v1::Hello& hello) {
  const absl::Status stored = store_.record_trial(campaign_.id, result, provenance(row, hello));
  if (stored.ok()) {
    publish_outcome(row, result);
    return absl::OkStatus();
  }
  if (!absl::IsInvalidArgument(stored)) return stored;
  // Evidence that cannot be kept proves nothing; that it came is an outcome all the same.
  const std::string reason = fmt::format("evidence refused: {}", std::string(stored.message()));
  return record_bare(row, v1::INVALID, reason, hello);
}

absl::Status Recorder::on_loss(const store::PlannedRow& row, const std::string& reason,
                               const v1::Hello& hello) {
  return record_bare(row, v1::FAILED, reason, hello);
}

absl::Status Recorder::record_bare(const store::PlannedRow& row, v1::Verdict verdict,
                                   const std::string& reason, const v1::Hello& hello) {
  v1::TrialResult result;
  result.set_trial_id(row.trial_id);
  result.set_verdict(verdict);
  result.set_reason(base::printable(reason));
  HOPYARD_RETURN_IF_ERROR(store_.record_trial(campaign_.id, result, provenance(row, hello)));
  publish_outcome(row, result);
  return absl::OkStatus();
}

void Recorder::publish_outcome(const store::PlannedRow& row, const v1::TrialResult& result) {
  v1::CampaignEvent finished = event();
  v1::TrialOutcome& outcome = *finished.mutable_finished();
  *outcome.mutable_trial() = row.planned;
  outcome.set_trial_id(row.trial_id);
  outcome.set_verdict(result.verdict());
  outcome.set_reason(result.reason());
  outcome.set_wall_ns(result.finished_ns() - result.started_ns());
  events_.publish(campaign_.id, finished);
}

void Recorder::log(const std::string& line) {
  v1::CampaignEvent said = event();
  said.set_log(base::printable(line));
  events_.publish(campaign_.id, said);
}

v1::CampaignEvent Recorder::event() const {
  v1::CampaignEvent event;
  if (auto status = store_.status(campaign_.id); status.ok()) *event.mutable_status() = *std::move(status);
  return event;
}

store::Provenance Recorder::provenance(const store::PlannedRow& row, const v1::Hello& hello) const {
  const ReadyVariant& variant = variants_.at(variant_of(row));
  std::vector<std::string> inputs = variant.inputs;
  if (const auto kernel = kernel_identities_.find(row.planned.kernel()); kernel != kernel_identities_.end())
    inputs.insert(inputs.end(), kernel->second.begin(), kernel->second.end());
  return {.execution = execution_of(hello),
          .kernel_release = hello.kernel_release(),
          .tool_version = tool_version_,
          .build = variant.build,
          .inputs = std::move(inputs),
          .binary_sha256 = variant.binary_sha256};
}

const std::string& Recorder::variant_of(const store::PlannedRow& row) const {
  for (const auto& one : campaign_.campaign.cases()) {
    if (one.name() == row.planned.case_name()) return one.variant();
  }
  return row.planned.case_name();  // a plan names only its campaign's cases
}

}  // namespace hopyard::run
