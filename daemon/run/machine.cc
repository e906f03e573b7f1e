// SPDX-License-Identifier: Apache-2.0
// Passes on to execute/ what kernels there are, and runs a gate in a worker.
#include "run/machine.h"

#include "execute/execution.h"
#include "fmt/format.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kStart = 60s;  // a guest boots in about a second; a busy machine takes its time
constexpr auto kGate = 180s;  // 800 requests and some slow reading
constexpr auto kEnd = 10s;

std::string state_of(const execute::KernelOption& kernel) {
  if (kernel.usable) return "ready";
  return kernel.unix_usable ? "unix paths only: " + kernel.why_not : kernel.why_not;
}

absl::Status ended(execute::WorkerSession& session, const absl::Status& why) {
  const auto end = session.finish(base::Deadline(kEnd));
  if (!end.ok()) return why;
  return absl::UnavailableError(fmt::format("{}: {}{}{}", std::string(why.message()), end->exit.describe(),
                                            end->log.empty() ? "" : "\n", end->log));
}

absl::StatusOr<v1::GateResult> await_gate(execute::WorkerSession& session) {
  const base::Deadline deadline(kGate);
  while (true) {
    auto message = session.receive(deadline);
    if (!message.ok())
      return absl::IsUnavailable(message.status()) ? ended(session, message.status()) : message.status();
    if (message->has_gate()) return std::move(*message->mutable_gate());
    if (message->has_fatal()) return absl::UnavailableError("worker: " + message->fatal().reason());
  }
}

}  // namespace

absl::StatusOr<std::vector<v1::KernelStatus>> Machine::kernels() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto options, execute::list_kernels());
  std::vector<v1::KernelStatus> kernels;
  for (const auto& option : options) {
    v1::KernelStatus& kernel = kernels.emplace_back();
    kernel.set_name(option.name);
    kernel.set_release(option.release);
    kernel.set_state(state_of(option));
    kernel.set_virtual_clock(option.virtual_clock);
  }
  return kernels;
}

absl::StatusOr<std::vector<std::string>> Machine::kernel_names() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto options, execute::list_kernels());
  std::vector<std::string> names;
  for (const auto& option : options) names.push_back(option.name);
  return names;
}

std::vector<v1::DoctorFinding> Machine::findings() const { return execute::doctor(); }

absl::StatusOr<v1::GateResult> Machine::run_gate(const v1::GateJob& job, std::stop_token stop) const {
  HOPYARD_ASSIGN_OR_RETURN(const auto kernel, execute::choose_kernel("auto", {}, /*needs_routed=*/false));
  HOPYARD_ASSIGN_OR_RETURN(const auto session, execute::WorkerSession::start(kernel, base::Deadline(kStart)));
  const std::stop_callback cancel(stop, [&session] { (void)session->cancel(); });
  v1::ToWorker message;
  *message.mutable_gate() = job;
  HOPYARD_RETURN_IF_ERROR(session->send(message));
  auto result = await_gate(*session);
  if (stop.stop_requested()) return absl::CancelledError("cancelled");
  return result;
}

}  // namespace hopyard::run
