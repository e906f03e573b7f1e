// SPDX-License-Identifier: Apache-2.0
// The methods of service.proto, each a few lines: read the request, ask a room, give back its answer.
// Included by rpc/ alone: the generated header is slow to compile.
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/service.grpc.pb.h"
#include "rpc/server.h"

namespace hopyard::rpc {

class Service final : public v1::Hopyard::Service {
 public:
  explicit Service(const Rooms& rooms) : rooms_(rooms) {}

  // Streams end at their next event or within a fraction of a second.
  void close() { closing_ = true; }

  grpc::Status Validate(grpc::ServerContext*, const v1::ValidateRequest*, v1::Plan*) override;
  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest*, v1::SubmitResponse*) override;
  grpc::Status Get(grpc::ServerContext*, const v1::CampaignRef*, v1::CampaignStatus*) override;
  grpc::Status List(grpc::ServerContext*, const v1::ListRequest*, v1::ListResponse*) override;
  grpc::Status Watch(grpc::ServerContext*, const v1::CampaignRef*,
                     grpc::ServerWriter<v1::CampaignEvent>*) override;
  grpc::Status Cancel(grpc::ServerContext*, const v1::CampaignRef*, v1::CampaignStatus*) override;
  grpc::Status Resume(grpc::ServerContext*, const v1::CampaignRef*, v1::CampaignStatus*) override;
  grpc::Status Extend(grpc::ServerContext*, const v1::ExtendRequest*, v1::ExtendResponse*) override;
  grpc::Status Summary(grpc::ServerContext*, const v1::CampaignRef*, v1::SummaryResponse*) override;
  grpc::Status Diagnostics(grpc::ServerContext*, const v1::CampaignRef*, v1::DiagnosticsResponse*) override;
  grpc::Status Compare(grpc::ServerContext*, const v1::CompareRequest*, v1::CompareResponse*) override;
  grpc::Status Trial(grpc::ServerContext*, const v1::TrialRequest*, v1::TrialResponse*) override;
  grpc::Status Verify(grpc::ServerContext*, const v1::CampaignRef*,
                      grpc::ServerWriter<v1::VerifyEvent>*) override;
  grpc::Status Replay(grpc::ServerContext*, const v1::TrialRequest*, v1::ReplayResponse*) override;
  grpc::Status Trials(grpc::ServerContext*, const v1::CampaignRef*, v1::TrialsResponse*) override;
  grpc::Status Export(grpc::ServerContext*, const v1::ExportRequest*,
                      grpc::ServerWriter<v1::ExportChunk>*) override;
  grpc::Status Report(grpc::ServerContext*, const v1::CampaignRef*,
                      grpc::ServerWriter<v1::ExportChunk>*) override;
  grpc::Status ListVariants(grpc::ServerContext*, const v1::ListVariantsRequest*,
                            v1::ListVariantsResponse*) override;
  grpc::Status BuildVariants(grpc::ServerContext*, const v1::BuildVariantsRequest*,
                             grpc::ServerWriter<v1::BuildEvent>*) override;
  grpc::Status BuildKernels(grpc::ServerContext*, const v1::BuildKernelsRequest*,
                            grpc::ServerWriter<v1::BuildEvent>*) override;
  grpc::Status ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest*,
                           v1::ListKernelsResponse*) override;
  grpc::Status Doctor(grpc::ServerContext*, const v1::DoctorRequest*, v1::DoctorResponse*) override;
  grpc::Status CheckDatabase(grpc::ServerContext*, const v1::CheckDatabaseRequest*,
                             v1::CheckDatabaseResponse*) override;
  grpc::Status Metrics(grpc::ServerContext*, const v1::MetricsRequest*, v1::MetricsResponse*) override;

 private:
  using EventSink = std::function<void(const v1::BuildEvent&)>;
  using Build = std::function<absl::Status(const std::string&, const EventSink&, std::stop_token)>;
  // One after another until one fails, which is told as an event too; stops when the client has gone.
  grpc::Status build_each(grpc::ServerContext& context, absl::StatusOr<std::vector<std::string>> names,
                          grpc::ServerWriter<v1::BuildEvent>& writer, const Build& build);
  // A sink that sends what it is given; both must outlive it.
  std::function<absl::Status(std::string_view)> chunks_to(const grpc::ServerContext& context,
                                                          grpc::ServerWriter<v1::ExportChunk>& writer);
  bool over(const grpc::ServerContext& context) const { return closing_ || context.IsCancelled(); }

  Rooms rooms_;
  std::atomic<bool> closing_ = false;
};

}  // namespace hopyard::rpc
