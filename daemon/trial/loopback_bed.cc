// SPDX-License-Identifier: Apache-2.0
// The `loopback` path: one namespace with netem on its lo, watched over netlink.
#include <optional>

#include "lab/loopback_path.h"
#include "trial/bed_checks.h"
#include "trial/beds.h"
#include "trial/evidence.h"
#include "trial/tcp_bed.h"

namespace hopyard::trial {
namespace {

class LoopbackBed final : public Bed {
 public:
  LoopbackBed(lab::RoutedSpec spec, server::Listen listen, lab::LoopbackPath path)
      : spec_(std::move(spec)), listen_(std::move(listen)), path_(std::move(path)) {}

  const server::Listen& listen() const override { return listen_; }
  const lab::NetNamespace* server_namespace() const override { return &path_->in(); }
  absl::StatusOr<base::Fd> client_socket() const override { return path_->tcp_socket(); }

  absl::Status impair(v1::TrialResult& result) override;
  absl::Status snapshot(const std::string& at, int client_fd, v1::TrialResult& result) const override;
  absl::Status snapshot_server(const std::string& at, int client_fd, v1::TrialResult& result) const override {
    return snapshot_end(lab::Side::kServer, at, client_fd, result);
  }
  absl::Status snapshot_qdiscs(const std::string& at, v1::TrialResult& result) const override;
  absl::Status observe(v1::TrialResult& result) const override;
  absl::Status tear_down(const base::Deadline& deadline, v1::TrialResult& result) override;
  void check(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
             CheckList& server) const override;

 private:
  absl::Status snapshot_end(lab::Side end, const std::string& at, int client_fd,
                            v1::TrialResult& result) const;
  lab::RoutedSpec spec_;
  server::Listen listen_;
  std::optional<lab::LoopbackPath> path_;
  // As read back, for the checks: typed, where the evidence keeps text.
  mutable std::optional<lab::QdiscSnapshot> qdisc_;
};

absl::Status LoopbackBed::impair(v1::TrialResult& result) {
  HOPYARD_ASSIGN_OR_RETURN(const auto unsupported, path_->impair());
  for (const std::string& note : unsupported) result.mutable_environment()->add_unsupported(note);
  return absl::OkStatus();
}

absl::Status LoopbackBed::snapshot_end(lab::Side end, const std::string& at, int client_fd,
                                       v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(const uint16_t client_port, local_port(client_fd));
  const auto socket = path_->snapshot_connection(end, client_port, kPort);
  if (absl::IsNotFound(socket.status())) return absl::OkStatus();
  HOPYARD_RETURN_IF_ERROR(socket.status());
  *result.add_sockets() = to_evidence(at, *socket);
  return absl::OkStatus();
}

absl::Status LoopbackBed::snapshot(const std::string& at, int client_fd, v1::TrialResult& result) const {
  HOPYARD_RETURN_IF_ERROR(snapshot_end(lab::Side::kClient, at, client_fd, result));
  HOPYARD_RETURN_IF_ERROR(snapshot_end(lab::Side::kServer, at, client_fd, result));
  return snapshot_qdiscs(at, result);
}

absl::Status LoopbackBed::snapshot_qdiscs(const std::string& at, v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(qdisc_, path_->snapshot_qdisc());
  *result.add_qdiscs() = to_evidence(at, *qdisc_);
  return absl::OkStatus();
}

absl::Status LoopbackBed::observe(v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(const lab::Observed observed, path_->observe());
  add_observed(observed, *result.mutable_environment());
  return absl::OkStatus();
}

absl::Status LoopbackBed::tear_down(const base::Deadline& deadline, v1::TrialResult& result) {
  HOPYARD_ASSIGN_OR_RETURN(const bool gone, std::move(*path_).tear_down(deadline));
  path_.reset();
  result.mutable_environment()->set_namespaces_gone(gone);
  return absl::OkStatus();
}

void LoopbackBed::check(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
                        CheckList& server) const {
  check_loopback_link(result.environment(), bed);
  check_sysctls(spec.case_().tcp(), {"loopback"}, result.environment(), bed);
  check_sockets(spec, result, kLoopbackMss, bed, server);
  check_loopback_qdisc(spec_, qdisc_, result.environment(), bed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Bed>> make_loopback_bed(const v1::TrialSpec& spec) {
  lab::RoutedSpec asked = path_spec(spec);
  HOPYARD_ASSIGN_OR_RETURN(server::Listen listen, server::listen_ipv4(lab::kLoopbackAddress, kPort));
  HOPYARD_ASSIGN_OR_RETURN(lab::LoopbackPath path, lab::LoopbackPath::make(asked));
  return std::make_unique<LoopbackBed>(std::move(asked), std::move(listen), std::move(path));
}

}  // namespace hopyard::trial
