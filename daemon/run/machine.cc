// SPDX-License-Identifier: Apache-2.0
// Passes on to execute/ what kernels there are, and runs a gate in a worker.
#include "run/machine.h"

#include "fmt/format.h"
#include "run/patience.h"
#include "run/resources.h"
#include "run/workshop.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kGate = 400s;  // longer than a gate gives itself, so that it can say what was amiss

std::string state_of(const execute::KernelOption& kernel) {
  if (kernel.usable) return "ready";
  return kernel.unix_usable ? "unix paths only: " + kernel.why_not : kernel.why_not;
}

// Its virtual clock is counted on before it is built: that it is not says another reason.
execute::KernelOption option_of(const variant::Kernel& kernel,
                                const std::optional<variant::KernelBuild>& build) {
  execute::KernelOption option{.name = kernel.name,
                               .congestion_controls = kernel.controls,
                               .virtual_clock = true,
                               .boot_options = kernel.boot};
  if (!build) {
    option.why_not = fmt::format("not built: hopyard kernels build {}", kernel.name);
    return option;
  }
  option.usable = option.unix_usable = true;
  option.release = build->release;
  option.program = build->program;
  option.identity = {fmt::format("kernel-build {} sha256:{}", kernel.name, build->sha256),
                     fmt::format("kernel-program {} sha256:{}", build->release, build->program_sha256),
                     fmt::format("kernel-config {} sha256:{}", build->release, build->config_sha256)};
  option.identity.insert(option.identity.end(), build->inputs.begin(), build->inputs.end());
  return option;
}

absl::Status ended(execute::WorkerSession& session, const absl::Status& why) {
  const auto end = session.finish(base::Deadline(kWorkerEnd));
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

Machine::Machine(variant::BuilderOptions options, std::vector<std::string> catalogue_files)
    : builder_(std::move(options)), catalogue_files_(std::move(catalogue_files)) {}

absl::StatusOr<std::vector<execute::KernelOption>> Machine::catalogue_kernels() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  std::vector<execute::KernelOption> options;
  for (const auto& kernel : catalogue.kernels())
    options.push_back(option_of(kernel, builder_.cached(kernel)));
  return options;
}

absl::StatusOr<std::vector<v1::KernelStatus>> Machine::kernels() const {
  HOPYARD_ASSIGN_OR_RETURN(auto options, execute::list_kernels());
  HOPYARD_ASSIGN_OR_RETURN(const auto built, catalogue_kernels());
  options.insert(options.end(), built.begin(), built.end());
  std::vector<v1::KernelStatus> kernels;
  for (const auto& option : options) {
    v1::KernelStatus& kernel = kernels.emplace_back();
    kernel.set_name(option.name);
    kernel.set_release(option.release);
    kernel.set_state(state_of(option));
    kernel.set_virtual_clock(option.virtual_clock);
    kernel.set_program(option.program);
    for (const auto& line : option.identity) kernel.add_inputs(line);
    for (const auto& control : option.congestion_controls) kernel.add_congestion_controls(control);
  }
  return kernels;
}

absl::StatusOr<execute::KernelOption> Machine::choose_kernel(const std::string& wanted,
                                                             const execute::KernelNeeds& needs) const {
  HOPYARD_ASSIGN_OR_RETURN(const auto built, catalogue_kernels());
  return execute::choose_kernel(wanted, needs, built);
}

absl::StatusOr<std::vector<std::string>> Machine::buildable_kernels() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  std::vector<std::string> names;
  for (const auto& kernel : catalogue.kernels()) names.push_back(kernel.name);
  return names;
}

absl::Status Machine::build_kernel(const std::string& name, const Sink& sink, std::stop_token stop) const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  HOPYARD_ASSIGN_OR_RETURN(const variant::Kernel* kernel, catalogue.find_kernel(name));
  const auto tell = [&sink](const variant::Progress& progress) {
    if (sink) sink(event_of(progress));
  };
  return variant::KernelBuilder(builder_).build(*kernel, tell, stop).status();
}

std::vector<v1::DoctorFinding> Machine::findings(const std::string& database) const {
  std::vector<v1::DoctorFinding> findings =
      execute::doctor(catalogue_kernels().value_or(std::vector<execute::KernelOption>()));
  for (auto& finding : resource_findings(database)) findings.push_back(std::move(finding));
  return findings;
}

absl::StatusOr<v1::GateResult> Machine::run_gate(const v1::GateJob& job, std::stop_token stop) const {
  HOPYARD_ASSIGN_OR_RETURN(const auto kernel, execute::choose_kernel("auto", {}));
  HOPYARD_ASSIGN_OR_RETURN(const auto session,
                           execute::WorkerSession::start(kernel, base::Deadline(kWorkerStart)));
  const std::stop_callback cancel(stop, [&session] { (void)session->cancel(); });
  v1::ToWorker message;
  *message.mutable_gate() = job;
  HOPYARD_RETURN_IF_ERROR(session->send(message));
  auto result = await_gate(*session);
  if (stop.stop_requested()) return absl::CancelledError("cancelled");
  return result;
}

}  // namespace hopyard::run
