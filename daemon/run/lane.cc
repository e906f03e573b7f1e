// SPDX-License-Identifier: Apache-2.0
// Starts a worker, sends it jobs, takes its results, and replaces it when it dies or hangs.
#include "run/lane.h"

#include <algorithm>

#include "base/text.h"
#include "fmt/format.h"
#include "run/guest_seed.h"

namespace hopyard::run {
namespace {

constexpr size_t kLongestReason = 400;
constexpr int kMostBarren = 3;  // workers in a row that began no trial before we stop trying
constexpr int kMostLost = 5;    // that each took a trial with them: it is the machine then, not the trials

absl::Status cannot_go_on(const std::string& cause) { return absl::UnavailableError("worker: " + cause); }

std::string how_it_ended(execute::WorkerSession& session) {
  const auto end = session.finish(base::Deadline(kWorkerEnd));
  if (!end.ok()) return std::string(end.status().message());
  std::string text = end->log.empty() ? end->exit.describe() : end->exit.describe() + ": " + end->log;
  // A reason is one line of a table.
  while (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');
  return base::printable(base::cut_utf8(text, kLongestReason));
}

}  // namespace

absl::Status Lane::run(std::stop_token stop) {
  int barren = 0, lost = 0;
  while (true) {
    Job job{.trials = pool_.take()};
    if (job.trials.empty()) return absl::OkStatus();
    const absl::Status status = run_job(job, stop);
    barren = job.progressed || job.lost ? 0 : barren + 1;
    lost = (job.progressed ? 0 : lost) + (job.lost ? 1 : 0);
    pool_.put_back(std::move(job.trials));
    if (stop.stop_requested() || pool_.closed()) return absl::OkStatus();
    if (status.ok()) continue;
    if (!absl::IsUnavailable(status)) return status;
    if (barren >= kMostBarren)
      return absl::UnavailableError(
          fmt::format("{} in a row gave nothing; the last: {}", kMostBarren, std::string(status.message())));
    if (lost >= kMostLost && !pool_.empty())
      return absl::UnavailableError(
          fmt::format("{} trials in a row were lost with their workers; the last: {}", kMostLost,
                      std::string(status.message())));
    recorder_.log(std::string(status.message()) + "; going on with a new one");
  }
}

absl::Status Lane::run_job(Job& job, std::stop_token stop) {
  const auto& kernel = kernels_.at(job.trials.front().planned.kernel());
  v1::ToWorker message;
  message.mutable_job()->set_job_id(job.trials.front().trial_id);
  for (const auto& trial : job.trials) *message.mutable_job()->add_trials() = recorder_.spec_for(trial);
  auto session = start_worker(job, message, stop);
  if (!session.ok()) return cannot_go_on(std::string(session.status().message()));
  const std::stop_callback cancel(stop, [&session] { (void)(*session)->cancel(); });
  HOPYARD_RETURN_IF_ERROR(check_kernel((*session)->hello()));
  HOPYARD_RETURN_IF_ERROR(recorder_.on_hello(kernel.name, (*session)->hello()));
  if (!on_virtual_clock()) {
    if (const auto sent = (*session)->send(message); !sent.ok()) return on_silence(job, **session, sent);
  }
  return take_results(job, **session, stop);
}

absl::StatusOr<std::unique_ptr<execute::WorkerSession>> Lane::start_worker(const Job& job,
                                                                           const v1::ToWorker& message,
                                                                           std::stop_token stop) const {
  const store::PlannedRow& first = job.trials.front();
  const auto& kernel = kernels_.at(first.planned.kernel());
  const base::Deadline deadline(kWorkerStart);
  if (!on_virtual_clock()) return execute::WorkerSession::start(kernel, deadline, stop);
  return execute::WorkerSession::start_virtual(kernel, message, guest_seed(message.job().trials(0)), deadline,
                                               stop);
}

bool Lane::on_virtual_clock() const { return recorder_.campaign().clock() == kVirtualClock; }

absl::Status Lane::take_results(Job& job, execute::WorkerSession& session, std::stop_token stop) {
  while (!job.trials.empty()) {
    // Each message of a trial gets the trial's whole patience: there are two.
    const base::Deadline deadline(patience_(recorder_.spec_for(job.trials.front())));
    const auto message = session.receive(deadline);
    if (stop.stop_requested()) return absl::OkStatus();
    if (!message.ok()) return on_silence(job, session, message.status());
    // A trial that had begun when the pool was closed gets its outcome; none begins after that.
    if (pool_.closed() && !job.started) return absl::OkStatus();
    HOPYARD_RETURN_IF_ERROR(on_message(job, *message, session.hello()));
    if (pool_.closed() && !job.started) return absl::OkStatus();
  }
  return session.finish(base::Deadline(kWorkerEnd)).status();
}

absl::Status Lane::on_message(Job& job, const v1::FromWorker& message, const v1::Hello& hello) {
  const store::PlannedRow& first = job.trials.front();
  if (message.has_fatal()) return cannot_go_on(message.fatal().reason());
  if (message.has_started() && message.started().trial_id() == first.trial_id) {
    job.started = true;
    recorder_.on_started(first);
    return absl::OkStatus();
  }
  if (message.has_result() && message.result().trial_id() == first.trial_id) {
    HOPYARD_RETURN_IF_ERROR(recorder_.on_result(first, message.result(), hello));
    job.trials.pop_front();
    job.progressed = true;
    job.started = false;
    return absl::OkStatus();
  }
  return cannot_go_on(fmt::format("expected word of trial {}, got another message", first.trial_id));
}

// The worker hung, died or spoke nonsense. Only a trial that it had begun can have caused that.
absl::Status Lane::on_silence(Job& job, execute::WorkerSession& session, const absl::Status& why) {
  std::string reason;
  if (absl::IsDeadlineExceeded(why))
    reason = "hung: nothing heard in time";
  else if (absl::IsUnavailable(why))
    reason = "worker ended: " + how_it_ended(session);
  else
    reason = "worker: " + std::string(why.message());
  if (job.started) HOPYARD_RETURN_IF_ERROR(lose_first(job, reason, session.hello()));
  return absl::UnavailableError(reason);
}

absl::Status Lane::lose_first(Job& job, const std::string& reason, const v1::Hello& hello) {
  HOPYARD_RETURN_IF_ERROR(recorder_.on_loss(job.trials.front(), reason, hello));
  job.trials.pop_front();
  job.lost = true;
  job.started = false;
  return absl::OkStatus();
}

// What a guest's kernel has is known only once it runs.
absl::Status Lane::check_kernel(const v1::Hello& hello) const {
  const auto& has = hello.congestion_controls();
  for (const auto& name : needed_) {
    if (std::find(has.begin(), has.end(), name) == has.end())
      return absl::FailedPreconditionError(
          fmt::format("kernel {} has no congestion control {}", hello.kernel_release(), name));
  }
  return absl::OkStatus();
}

}  // namespace hopyard::run
