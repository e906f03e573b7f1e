// SPDX-License-Identifier: Apache-2.0
// Joins the builder, which knows no gate's meaning, and the worker, which knows no build's inputs.
#include "run/workshop.h"

#include <utility>

#include "base/text.h"
#include "fmt/format.h"

namespace hopyard::run {
namespace {

v1::BuildEvent event_of(const std::string& variant, const std::string& step, const std::string& message) {
  v1::BuildEvent event;
  event.set_variant(variant);
  event.set_step(step);
  event.set_message(base::printable(message));
  return event;
}

ReadyVariant ready_from(const variant::Build& build) {
  ReadyVariant ready{.inputs = build.inputs, .binary_sha256 = build.binary_sha256};
  ready.build.set_variant(build.variant);
  ready.build.set_sha256(build.sha256);
  ready.build.set_nginx_path(build.nginx_path);
  v1::RecordPolicy& records = *ready.build.mutable_records();
  records.set_fragment_bytes(build.records.fragment_bytes);
  records.set_early_fragment_bytes(build.records.early_fragment_bytes);
  records.set_early_budget_bytes(build.records.early_budget_bytes);
  records.set_transitions(build.records.transitions);
  records.set_settings(build.records.settings);
  records.set_dynamic(build.records.dynamic);
  return ready;
}

void describe_build(const variant::Builder& builder, const variant::Build& build, v1::VariantStatus& status) {
  status.set_nginx_path(build.nginx_path);
  for (const auto& input : build.inputs) status.add_inputs(input);
  const auto gate = builder.gate(build);
  v1::GateResult result;
  if (!gate || !result.ParseFromString(gate->bytes)) {
    status.set_state("built, not gated");
    return;
  }
  *status.mutable_gate() = result.checks();
  status.set_state(gate->passed ? "ready" : "gate failed: " + first_broken(result));
}

}  // namespace

v1::BuildEvent event_of(const variant::Progress& progress) {
  v1::BuildEvent event = event_of(progress.variant, progress.step, progress.message);
  event.set_done(progress.done);
  event.set_total(progress.total);
  return event;
}

std::string first_broken(const v1::GateResult& result) {
  for (const auto& check : result.checks()) {
    if (check.outcome() != v1::HOLDS && check.outcome() != v1::UNSUPPORTED)
      return fmt::format("{}: expected {}, saw {}", check.name(), check.expected(), check.seen());
  }
  return result.checks().empty() ? "gate: expected checks, saw none" : "";
}

Workshop::Workshop(variant::BuilderOptions options, std::vector<std::string> catalogue_files, Gate gate)
    : builder_(std::move(options)), catalogue_files_(std::move(catalogue_files)), gate_(std::move(gate)) {}

absl::StatusOr<std::vector<std::string>> Workshop::names() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  std::vector<std::string> names;
  for (const auto& variant : catalogue.variants()) names.push_back(variant.name);
  return names;
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> Workshop::directives() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  std::map<std::string, std::vector<std::string>> directives;
  for (const auto& variant : catalogue.variants()) directives[variant.name] = variant.directives;
  return directives;
}

absl::StatusOr<std::vector<v1::VariantStatus>> Workshop::list() const {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  std::vector<v1::VariantStatus> list;
  for (const auto& variant : catalogue.variants()) {
    v1::VariantStatus& status = list.emplace_back();
    status.set_name(variant.name);
    status.set_note(variant.note);
    const auto hash = builder_.content_hash(variant);
    if (hash.ok()) status.set_sha256(*hash);
    if (const auto build = builder_.cached(variant))
      describe_build(builder_, *build, status);
    else
      status.set_state(hash.ok() ? "not built" : "cannot be built: " + std::string(hash.status().message()));
  }
  return list;
}

absl::StatusOr<ReadyVariant> Workshop::make_ready(const std::string& name, const Sink& sink,
                                                  std::stop_token stop) {
  HOPYARD_ASSIGN_OR_RETURN(const auto catalogue, variant::Catalogue::load(catalogue_files_));
  HOPYARD_ASSIGN_OR_RETURN(const variant::Variant* variant, catalogue.find(name));
  const auto progress = [&sink](const variant::Progress& step) {
    // The builder's "ready" comes before the gate; ours after it.
    if (sink && step.step != "ready") sink(event_of(step));
  };
  HOPYARD_ASSIGN_OR_RETURN(const variant::Build build, builder_.build(*variant, progress, stop));
  ReadyVariant ready = ready_from(build);
  HOPYARD_RETURN_IF_ERROR(pass_gate(build, ready, sink, stop));
  if (sink) sink(event_of(name, "ready", "build " + build.sha256.substr(0, 16)));
  return ready;
}

absl::Status Workshop::pass_gate(const variant::Build& build, const ReadyVariant& ready, const Sink& sink,
                                 std::stop_token stop) {
  const std::lock_guard lock(gating_);
  if (const auto known = builder_.gate(build); known && known->passed) return absl::OkStatus();
  if (sink) sink(event_of(build.variant, "gate", "putting the build to the proof"));
  v1::GateJob job;
  *job.mutable_build() = ready.build;
  auto result = gate_(job, stop);
  if (!result.ok()) return base::annotate(result.status(), "gate", build.variant);
  const std::string broken = first_broken(*result);
  HOPYARD_RETURN_IF_ERROR(builder_.record_gate(build, result->SerializeAsString(), broken.empty()));
  if (broken.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("gate: {}: {}", build.variant, broken));
}

}  // namespace hopyard::run
