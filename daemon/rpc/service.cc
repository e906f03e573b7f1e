// SPDX-License-Identifier: Apache-2.0
// One method after another, in the order of service.proto.
#include "rpc/service.h"

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "fmt/format.h"
#include "report/report.h"
#include "rpc/metrics.h"
#include "rpc/report_figures.h"
#include "rpc/translate.h"
#include "rpc/verification.h"
#include "run/figures.h"
#include "run/full_status.h"
#include "run/machine.h"
#include "run/replay.h"
#include "run/runner.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::rpc {
namespace {

using namespace std::chrono_literals;

// How long a stream with nothing to say waits before it looks whether its client is still there.
constexpr auto kLook = 200ms;
constexpr size_t kChunkBytes = 256u << 10;

// `answer` into `out`, or its error.
template <typename T>
grpc::Status give(absl::StatusOr<T> answer, T& out) {
  if (answer.ok()) out = *std::move(answer);
  return to_grpc(answer.status());
}

template <typename T, typename Repeated>
grpc::Status give_all(absl::StatusOr<std::vector<T>> answer, Repeated* out) {
  if (answer.ok()) out->Assign(answer->begin(), answer->end());
  return to_grpc(answer.status());
}

// A file without a name, in the folder of the database: the disk that has room for one has room for its copy.
class ScratchFile {
 public:
  explicit ScratchFile(const std::string& beside) : folder_(beside + ".export-XXXXXX") {
    made_ = ::mkdtemp(folder_.data()) != nullptr;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(folder_, ignored);
  }
  absl::Status made() const { return made_ ? absl::OkStatus() : base::errno_status("make folder", folder_); }
  std::string path() const { return folder_ + "/copy.db"; }

 private:
  std::string folder_;
  bool made_ = false;
};

absl::Status send_file(const std::string& path, const store::Sink& sink) {
  std::ifstream file(path, std::ios::binary);
  std::string chunk(kChunkBytes, '\0');
  while (file) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    HOPYARD_RETURN_IF_ERROR(sink(std::string_view(chunk.data(), static_cast<size_t>(file.gcount()))));
  }
  return file.eof() ? absl::OkStatus() : base::errno_status("read", path);
}

// A database has all campaigns, but who names one that is not there should hear of it.
absl::Status send_copy(const store::Store& store, std::string_view ref, const store::Sink& sink) {
  HOPYARD_RETURN_IF_ERROR(store.resolve(ref).status());
  const ScratchFile scratch(store.path());
  HOPYARD_RETURN_IF_ERROR(scratch.made());
  HOPYARD_RETURN_IF_ERROR(store.export_copy(scratch.path()));
  return send_file(scratch.path(), sink);
}

}  // namespace

grpc::Status Service::Validate(grpc::ServerContext*, const v1::ValidateRequest* request, v1::Plan* response) {
  auto planned = rooms_.runner.validate(request->campaign());
  if (!planned.ok()) return to_grpc(planned.status());
  if (!planned->problems.empty()) return to_grpc(planned->problems);
  *response = std::move(planned->plan);
  return grpc::Status::OK;
}

grpc::Status Service::Submit(grpc::ServerContext*, const v1::SubmitRequest* request,
                             v1::SubmitResponse* response) {
  auto planned = rooms_.runner.submit(*request);
  if (!planned.ok()) return to_grpc(planned.status());
  if (!planned->problems.empty()) return to_grpc(planned->problems);
  response->set_campaign_id(planned->campaign_id);
  planned->plan.clear_schedule();
  *response->mutable_plan() = std::move(planned->plan);
  return grpc::Status::OK;
}

grpc::Status Service::Get(grpc::ServerContext*, const v1::CampaignRef* request,
                          v1::CampaignStatus* response) {
  auto status = give(run::full_status(rooms_.store, request->campaign_id()), *response);
  if (status.ok()) rooms_.runner.amend(*response);
  return status;
}

grpc::Status Service::List(grpc::ServerContext*, const v1::ListRequest*, v1::ListResponse* response) {
  auto status = give_all(run::full_statuses(rooms_.store), response->mutable_campaigns());
  for (auto& campaign : *response->mutable_campaigns()) rooms_.runner.amend(campaign);
  return status;
}

grpc::Status Service::Watch(grpc::ServerContext* context, const v1::CampaignRef* request,
                            grpc::ServerWriter<v1::CampaignEvent>* writer) {
  const auto watcher = rooms_.runner.watch(request->campaign_id());
  if (!watcher.ok()) return to_grpc(watcher.status());
  // Asked after the watcher was set up, so that nothing falls between.
  v1::CampaignEvent present;
  if (auto status = give(rooms_.store.status(request->campaign_id()), *present.mutable_status());
      !status.ok())
    return status;
  rooms_.runner.amend(*present.mutable_status());
  bool open = writer->Write(present);
  while (open && (*watcher)->ending() == run::Watcher::Ending::kOpen) {
    if (const auto event = (*watcher)->next(kLook)) open = writer->Write(*event);
    if (over(*context)) return {grpc::StatusCode::UNAVAILABLE, "watch: the daemon ends"};
  }
  if ((*watcher)->ending() == run::Watcher::Ending::kTooSlow)
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "watch: events were not read fast enough"};
  return grpc::Status::OK;
}

grpc::Status Service::Cancel(grpc::ServerContext*, const v1::CampaignRef* request,
                             v1::CampaignStatus* response) {
  if (const auto status = rooms_.runner.cancel(request->campaign_id()); !status.ok()) return to_grpc(status);
  return give(rooms_.store.status(request->campaign_id()), *response);
}

grpc::Status Service::Resume(grpc::ServerContext*, const v1::CampaignRef* request,
                             v1::CampaignStatus* response) {
  if (const auto status = rooms_.runner.resume(request->campaign_id()); !status.ok()) return to_grpc(status);
  return give(rooms_.store.status(request->campaign_id()), *response);
}

grpc::Status Service::Extend(grpc::ServerContext*, const v1::ExtendRequest* request,
                             v1::ExtendResponse* response) {
  auto planned = rooms_.runner.extend(*request);
  if (!planned.ok()) return to_grpc(planned.status());
  if (!planned->problems.empty()) return to_grpc(planned->problems);
  response->set_campaign_id(planned->campaign_id);
  response->set_left(planned->left);
  planned->plan.clear_schedule();
  *response->mutable_plan() = std::move(planned->plan);
  return grpc::Status::OK;
}

grpc::Status Service::Summary(grpc::ServerContext*, const v1::CampaignRef* request,
                              v1::SummaryResponse* response) {
  auto status = give(run::summarise(rooms_.store, request->campaign_id()), *response);
  if (status.ok()) rooms_.runner.amend(*response->mutable_status());
  return status;
}

grpc::Status Service::Diagnostics(grpc::ServerContext*, const v1::CampaignRef* request,
                                  v1::DiagnosticsResponse* response) {
  auto status = give(rooms_.store.diagnostics(request->campaign_id()), *response);
  if (status.ok()) status = give(rooms_.store.status(request->campaign_id()), *response->mutable_status());
  if (status.ok()) rooms_.runner.amend(*response->mutable_status());
  return status;
}

grpc::Status Service::Compare(grpc::ServerContext*, const v1::CompareRequest* request,
                              v1::CompareResponse* response) {
  auto status =
      give(run::compare_cases(rooms_.store, request->campaign_id(), request->case_a(), request->case_b()),
           *response);
  if (status.ok()) rooms_.runner.amend(*response->mutable_status());
  return status;
}

grpc::Status Service::Trial(grpc::ServerContext*, const v1::TrialRequest* request,
                            v1::TrialResponse* response) {
  return give(rooms_.store.trial(request->trial_id()), *response);
}

grpc::Status Service::Verify(grpc::ServerContext* context, const v1::CampaignRef* request,
                             grpc::ServerWriter<v1::VerifyEvent>* writer) {
  bool open = true;
  const auto result = verify_now(
      rooms_.store, request->campaign_id(),
      [&](const v1::VerifyEvent& event) { open = open && writer->Write(event); },
      [&] { return !open || over(*context); });
  if (!result.ok()) return to_grpc(result.status());
  v1::VerifyEvent last;
  *last.mutable_result() = *result;
  writer->Write(last);
  return grpc::Status::OK;
}

grpc::Status Service::Replay(grpc::ServerContext*, const v1::TrialRequest* request,
                             v1::ReplayResponse* response) {
  return give(run::replay_trial(rooms_.store, rooms_.workshop, rooms_.machine, rooms_.runner.tool_version(),
                                request->trial_id(), std::stop_token()),
              *response);
}

grpc::Status Service::Trials(grpc::ServerContext*, const v1::CampaignRef* request,
                             v1::TrialsResponse* response) {
  return give_all(rooms_.store.outcomes(request->campaign_id()), response->mutable_trials());
}

std::function<absl::Status(std::string_view)> Service::chunks_to(
    const grpc::ServerContext& context, grpc::ServerWriter<v1::ExportChunk>& writer) {
  return [&](std::string_view bytes) -> absl::Status {
    v1::ExportChunk chunk;
    chunk.set_data(bytes.data(), bytes.size());
    if (over(context) || !writer.Write(chunk)) return absl::CancelledError("the client has gone");
    return absl::OkStatus();
  };
}

grpc::Status Service::Export(grpc::ServerContext* context, const v1::ExportRequest* request,
                             grpc::ServerWriter<v1::ExportChunk>* writer) {
  const store::Sink sink = chunks_to(*context, *writer);
  if (request->format() == v1::SQLITE) return to_grpc(send_copy(rooms_.store, request->campaign_id(), sink));
  return to_grpc(rooms_.store.export_rows(request->campaign_id(), request->format(), request->view(), sink));
}

grpc::Status Service::Report(grpc::ServerContext* context, const v1::CampaignRef* request,
                             grpc::ServerWriter<v1::ExportChunk>* writer) {
  const auto id = rooms_.store.resolve(request->campaign_id());  // "last" may be another a moment later
  if (!id.ok()) return to_grpc(id.status());
  const auto figures = report_figures(rooms_.store, *id);
  if (!figures.ok()) return to_grpc(figures.status());
  return to_grpc(report::write(rooms_.store, *id, *figures, chunks_to(*context, *writer)));
}

grpc::Status Service::ListVariants(grpc::ServerContext*, const v1::ListVariantsRequest*,
                                   v1::ListVariantsResponse* response) {
  return give_all(rooms_.workshop.list(), response->mutable_variants());
}

namespace {

void tell_failure(grpc::ServerWriter<v1::BuildEvent>& writer, const std::string& name,
                  const absl::Status& why) {
  v1::BuildEvent failed;
  failed.set_variant(name);
  failed.set_step("failed");
  failed.set_message(base::printable(std::string(why.message())));
  writer.Write(failed);
}

template <typename Request>
absl::StatusOr<std::vector<std::string>> names_of(const Request& request) {
  return std::vector<std::string>(request.names().begin(), request.names().end());
}

}  // namespace

grpc::Status Service::build_each(grpc::ServerContext& context, absl::StatusOr<std::vector<std::string>> names,
                                 grpc::ServerWriter<v1::BuildEvent>& writer, const Build& build) {
  if (!names.ok()) return to_grpc(names.status());
  std::stop_source stop;
  const EventSink sink = [&](const v1::BuildEvent& event) {
    if (!writer.Write(event) || over(context)) stop.request_stop();
  };
  for (const auto& name : *names) {
    const absl::Status built = build(name, sink, stop.get_token());
    if (built.ok()) continue;
    tell_failure(writer, name, built);
    return to_grpc(built);
  }
  return grpc::Status::OK;
}

grpc::Status Service::BuildVariants(grpc::ServerContext* context, const v1::BuildVariantsRequest* request,
                                    grpc::ServerWriter<v1::BuildEvent>* writer) {
  const auto build = [this](const std::string& name, const EventSink& sink, std::stop_token stop) {
    return rooms_.workshop.make_ready(name, sink, stop).status();
  };
  return build_each(*context, request->names_size() == 0 ? rooms_.workshop.names() : names_of(*request),
                    *writer, build);
}

grpc::Status Service::BuildKernels(grpc::ServerContext* context, const v1::BuildKernelsRequest* request,
                                   grpc::ServerWriter<v1::BuildEvent>* writer) {
  const auto build = [this](const std::string& name, const EventSink& sink, std::stop_token stop) {
    return rooms_.machine.build_kernel(name, sink, stop);
  };
  return build_each(*context,
                    request->names_size() == 0 ? rooms_.machine.buildable_kernels() : names_of(*request),
                    *writer, build);
}

grpc::Status Service::ListKernels(grpc::ServerContext*, const v1::ListKernelsRequest*,
                                  v1::ListKernelsResponse* response) {
  return give_all(rooms_.machine.kernels(), response->mutable_kernels());
}

grpc::Status Service::Doctor(grpc::ServerContext*, const v1::DoctorRequest*, v1::DoctorResponse* response) {
  const auto findings = rooms_.machine.findings(rooms_.store.path());
  response->mutable_findings()->Assign(findings.begin(), findings.end());
  return grpc::Status::OK;
}

grpc::Status Service::CheckDatabase(grpc::ServerContext*, const v1::CheckDatabaseRequest*,
                                    v1::CheckDatabaseResponse* response) {
  return give(rooms_.store.check(), *response);
}

grpc::Status Service::Metrics(grpc::ServerContext*, const v1::MetricsRequest*,
                              v1::MetricsResponse* response) {
  const auto campaigns = rooms_.store.list();
  if (!campaigns.ok()) return to_grpc(campaigns.status());
  response->set_text(metrics_text(*campaigns, process_figures(rooms_.store.path())));
  return grpc::Status::OK;
}

}  // namespace hopyard::rpc
