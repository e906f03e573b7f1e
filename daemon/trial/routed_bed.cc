// SPDX-License-Identifier: Apache-2.0
// The `routed` path: three namespaces with fq and netem, watched over netlink.
#include <algorithm>
#include <optional>

#include "lab/path.h"
#include "trial/bed_checks.h"
#include "trial/beds.h"
#include "trial/evidence.h"
#include "trial/tcp_bed.h"

namespace hopyard::trial {
namespace {

// Room in the taps: three packets for every full segment of the bodies (the segment, its acknowledgement and
// as much again for what is sent twice), and some for handshakes and small writes; at most some 30 MB a link.
uint32_t tap_packets(const v1::Workload& workload) {
  constexpr uint64_t kAlways = 4096, kForASegment = 3, kMost = 150'000;
  uint64_t body_bytes = 0;
  for (const v1::Request& request : workload.requests()) body_bytes += request.body_bytes();
  return static_cast<uint32_t>(std::min(kMost, kAlways + kForASegment * (body_bytes / kMss.least_bytes)));
}

class RoutedBed final : public Bed {
 public:
  RoutedBed(lab::RoutedSpec spec, server::Listen listen, lab::RoutedPath path)
      : spec_(std::move(spec)), listen_(std::move(listen)), path_(std::move(path)) {}

  const server::Listen& listen() const override { return listen_; }
  const lab::NetNamespace* server_namespace() const override { return &path_->in(lab::Side::kServer); }
  absl::StatusOr<base::Fd> client_socket() const override { return path_->tcp_socket(lab::Side::kClient); }

  absl::Status snapshot(const std::string& at, int client_fd, v1::TrialResult& result) const override;
  absl::Status snapshot_server(const std::string& at, int client_fd, v1::TrialResult& result) const override {
    return snapshot_side(lab::Side::kServer, at, client_fd, result);
  }
  absl::Status snapshot_qdiscs(const std::string& at, v1::TrialResult& result) const override;
  absl::Status settle(const base::Deadline& deadline, v1::TrialResult& result) override;
  absl::Status observe(v1::TrialResult& result) const override;
  absl::Status tear_down(const base::Deadline& deadline, v1::TrialResult& result) override;
  void check(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
             CheckList& server) const override;

 private:
  absl::Status snapshot_side(lab::Side side, const std::string& at, int client_fd,
                             v1::TrialResult& result) const;
  lab::RoutedSpec spec_;
  server::Listen listen_;
  std::optional<lab::RoutedPath> path_;
  // As read back, for the checks: typed, where the evidence keeps text.
  mutable std::vector<lab::QdiscSnapshot> qdiscs_;
};

absl::Status RoutedBed::snapshot_side(lab::Side side, const std::string& at, int client_fd,
                                      v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(const uint16_t client_port, local_port(client_fd));
  const auto socket = path_->snapshot_connection(side, client_port, kPort);
  if (absl::IsNotFound(socket.status())) return absl::OkStatus();
  HOPYARD_RETURN_IF_ERROR(socket.status());
  *result.add_sockets() = to_evidence(at, *socket);
  return absl::OkStatus();
}

absl::Status RoutedBed::snapshot(const std::string& at, int client_fd, v1::TrialResult& result) const {
  HOPYARD_RETURN_IF_ERROR(snapshot_side(lab::Side::kClient, at, client_fd, result));
  HOPYARD_RETURN_IF_ERROR(snapshot_side(lab::Side::kServer, at, client_fd, result));
  return snapshot_qdiscs(at, result);
}

absl::Status RoutedBed::snapshot_qdiscs(const std::string& at, v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(qdiscs_, path_->snapshot_qdiscs());
  for (const auto& qdisc : qdiscs_) *result.add_qdiscs() = to_evidence(at, qdisc);
  return absl::OkStatus();
}

absl::Status RoutedBed::settle(const base::Deadline& deadline, v1::TrialResult& result) {
  HOPYARD_ASSIGN_OR_RETURN(const auto router, path_->router_traffic(deadline));
  for (const auto& traffic : router) *result.add_router() = to_evidence(traffic);
  return absl::OkStatus();
}

absl::Status RoutedBed::observe(v1::TrialResult& result) const {
  HOPYARD_ASSIGN_OR_RETURN(const lab::Observed observed, path_->observe());
  add_observed(observed, *result.mutable_environment());
  return absl::OkStatus();
}

absl::Status RoutedBed::tear_down(const base::Deadline& deadline, v1::TrialResult& result) {
  HOPYARD_ASSIGN_OR_RETURN(const bool gone, std::move(*path_).tear_down(deadline));
  path_.reset();
  result.mutable_environment()->set_namespaces_gone(gone);
  return absl::OkStatus();
}

void RoutedBed::check(const v1::TrialSpec& spec, const v1::TrialResult& result, CheckList& bed,
                      CheckList& server) const {
  check_links(result.environment(), bed);
  check_sysctls(spec.case_().tcp(), {"client", "server"}, result.environment(), bed);
  check_sockets(spec, result, kMss, bed, server);
  check_qdiscs(spec_, qdiscs_, result.environment(), bed);
  if (spec_.tap_packets > 0) check_drops(result, bed);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Bed>> make_routed_bed(const v1::TrialSpec& spec) {
  lab::RoutedSpec routed = path_spec(spec);
  // Where nothing is lost by lot there is nothing to list: a drop makes the trial invalid.
  if (spec.path().loss() > 0) routed.tap_packets = tap_packets(spec.workload());
  HOPYARD_ASSIGN_OR_RETURN(server::Listen listen, server::listen_ipv4(lab::kServerAddress, kPort));
  HOPYARD_ASSIGN_OR_RETURN(lab::RoutedPath path, lab::RoutedPath::make(routed));
  return std::make_unique<RoutedBed>(std::move(routed), std::move(listen), std::move(path));
}

}  // namespace hopyard::trial
