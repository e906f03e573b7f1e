// SPDX-License-Identifier: Apache-2.0
// Server variants made ready to serve: built, and gated once per build. Knows no campaign and no storage.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "variant/builder.h"

namespace hopyard::run {

// A build that passed its gate, with what is kept of it beside every trial.
struct ReadyVariant {
  v1::ServerBuild build;
  std::vector<std::string> inputs;
  std::string binary_sha256;
};

// Thread-safe. The catalogue's files are read anew for every call: a person edits them while the daemon runs.
class Workshop {
 public:
  using Sink = std::function<void(const v1::BuildEvent&)>;
  // Runs a gate in a worker. An error means that it could not be run, not that a check failed.
  using Gate = std::function<absl::StatusOr<v1::GateResult>(const v1::GateJob&, std::stop_token)>;

  Workshop(variant::BuilderOptions options, std::vector<std::string> catalogue_files, Gate gate);

  absl::StatusOr<std::vector<std::string>> names() const;
  // Settings that only some variants have, by the variant's name.
  absl::StatusOr<std::map<std::string, std::vector<std::string>>> directives() const;
  absl::StatusOr<std::vector<v1::VariantStatus>> list() const;
  // Builds and gates what is not yet. NOT_FOUND: no such variant. FAILED_PRECONDITION: a gate's check does
  // not hold; the message names it. CANCELLED once `stop` is requested. A gate that failed before is run
  // again.
  absl::StatusOr<ReadyVariant> make_ready(const std::string& name, const Sink& sink, std::stop_token stop);

 private:
  absl::Status pass_gate(const variant::Build& build, const ReadyVariant& ready, const Sink& sink,
                         std::stop_token stop);

  variant::Builder builder_;
  std::vector<std::string> catalogue_files_;
  Gate gate_;
  std::mutex gating_;  // one gate at a time
};

// A build's progress for those who watch.
v1::BuildEvent event_of(const variant::Progress& progress);

// "check: expected …, saw …" of the first check that does not hold; empty if all hold.
std::string first_broken(const v1::GateResult& result);

}  // namespace hopyard::run
