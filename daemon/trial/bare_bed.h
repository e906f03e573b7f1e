// SPDX-License-Identifier: Apache-2.0
// What beds without impairment share: nothing to snapshot, to read back or to check.
#pragma once

#include "trial/bed.h"

namespace hopyard::trial {

class BareBed : public Bed {
 public:
  explicit BareBed(server::Listen listen) : listen_(std::move(listen)) {}

  const server::Listen& listen() const override { return listen_; }
  const lab::NetNamespace* server_namespace() const override { return nullptr; }
  absl::Status snapshot(const std::string&, int, v1::TrialResult&) const override { return absl::OkStatus(); }
  absl::Status snapshot_server(const std::string&, int, v1::TrialResult&) const override {
    return absl::OkStatus();
  }
  absl::Status snapshot_qdiscs(const std::string&, v1::TrialResult&) const override {
    return absl::OkStatus();
  }
  absl::Status observe(v1::TrialResult&) const override { return absl::OkStatus(); }
  absl::Status tear_down(const base::Deadline&, v1::TrialResult& result) override {
    result.mutable_environment()->set_namespaces_gone(
        true);  // of those whose end must be proven, it made none
    return absl::OkStatus();
  }
  void check(const v1::TrialSpec&, const v1::TrialResult&, CheckList&, CheckList&) const override {}

 private:
  server::Listen listen_;
};

}  // namespace hopyard::trial
