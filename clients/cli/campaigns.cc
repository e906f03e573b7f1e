// SPDX-License-Identifier: Apache-2.0
// Commands on campaigns that answer at once.
#include <cstdio>

#include "cli/campaign_text.h"
#include "cli/command.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/phase_text.h"
#include "cli/table.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

std::string plan_text(const v1::Plan& plan) {
  std::string text = fmt::format("{}\n{}\n", plan.campaign().name(), plan.campaign().question());
  text += fmt::format("{} cells in {} blocks: {} trials, {} connections, {} responses; seed {}, clock {}\n",
                      plan.cells(), plan.blocks(), plan.trials(), plan.connections(), plan.responses(),
                      plan.campaign().seed(), plan.campaign().clock());
  text += planned_phases(plan.phases());
  for (const v1::Path& path : plan.campaign().paths()) {
    if (path.kind() != "loopback") continue;
    text += fmt::format("path {} is a loopback: netem on the senders' own lo, packets of up to 64 KiB\n",
                        path.name());
  }
  Table table({{"first block", Table::Align::kRight}, {"case"}, {"path"}, {"workload"}, {"kernel"}});
  for (const auto& trial : plan.schedule()) {
    if (trial.block() != 0) break;
    table.add({std::to_string(trial.position()), trial.case_name(), trial.path(), trial.workload(),
               trial.kernel()});
  }
  return text + table.text();
}

std::string when(const v1::CampaignStatus& status) { return local_time(status.submitted_unix_ns()); }

int show_campaign(v1::Hopyard::Stub& stub, const Options& options, const v1::CampaignRef& ref) {
  v1::CampaignStatus status;
  v1::TrialsResponse trials;
  grpc::ClientContext first, second;
  if (const auto result = stub.Get(&first, ref, &status); !result.ok()) return report(result);
  if (const auto result = stub.Trials(&second, ref, &trials); !result.ok()) return report(result);
  if (options.json) {
    fmt::print("{}", json_line(status));
    for (const auto& trial : trials.trials()) fmt::print("{}", json_line(trial));
    return kDone;
  }
  fmt::print("{}  {}{}\n{}\nsubmitted {}{}\n{}\n{}", status.campaign_id(), state_name(status.state()),
             status.reason().empty() ? "" : ": " + status.reason(), status.question(), when(status),
             status.finished_unix_ns() == 0 ? "" : ", ended " + local_time(status.finished_unix_ns()),
             progress_words(status), pace_words(status));
  fmt::print("{}", counted_phases(status.phases()));
  if (status.has_verification())
    fmt::print("verified {}: {}\n", local_time(status.verification().verified_unix_ns()),
               verification_words(status.verification()));
  Table table({{"trial"},
               {"block", Table::Align::kRight},
               {"phase"},
               {"case"},
               {"path"},
               {"workload"},
               {"verdict"},
               {"reason"}});
  for (const auto& one : trials.trials()) {
    if (one.verdict() == v1::PASSED) continue;
    table.add({one.trial_id(), std::to_string(one.trial().block() + 1), one.trial().phase(),
               one.trial().case_name(), one.trial().path(), one.trial().workload(),
               verdict_name(one.verdict()), one.reason()});
  }
  if (!table.empty()) fmt::print("\n{}", table.text());
  return kDone;
}

std::string evidence_text(const v1::TrialResult& result) {
  std::string text;
  for (const auto& response : result.client().responses())
    text +=
        fmt::format("response {} ({}): status {}, {} body bytes, first body {} ms, complete {} ms\n",
                    response.role(), response.protocol(), response.status(), response.body_bytes(),
                    milliseconds(static_cast<double>(response.first_body_ns() - response.request_start_ns())),
                    milliseconds(static_cast<double>(response.complete_ns() - response.request_start_ns())));
  text += fmt::format(
      "evidence: {} TLS records, {} HTTP/2 frames, {} SSL writes, {} socket and {} qdisc snapshots\n",
      result.client().records_size(), result.client().frames_size(), result.server().writes_size(),
      result.sockets_size(), result.qdiscs_size());
  if (!result.client().error().empty()) text += "client stopped: " + result.client().error() + "\n";
  if (!result.server().errors().empty()) text += "server log:\n" + result.server().errors() + "\n";
  return text;
}

int show_trial(v1::Hopyard::Stub& stub, const Options& options, const std::string& id) {
  v1::TrialRequest request;
  request.set_trial_id(id);
  v1::TrialResponse response;
  grpc::ClientContext context;
  if (const auto result = stub.Trial(&context, request, &response); !result.ok()) return report(result);
  if (options.json) {
    fmt::print("{}", json(response));
    return kDone;
  }
  const auto& planned = response.planned();
  fmt::print("{}  {}, {} × {} × {}, seed {}\n", id, block_words(planned), planned.case_name(), planned.path(),
             planned.workload(), planned.seed());
  if (!response.has_result()) {
    fmt::print("not run yet\n");
    return kDone;
  }
  const v1::TrialResult& result = response.result();
  fmt::print("{}{}\nkernel {} clock {}\n", verdict_name(result.verdict()),
             result.reason().empty() ? "" : ": " + result.reason(), result.environment().kernel_release(),
             result.environment().clock());
  Table table({{"check"}, {"outcome"}, {"expected"}, {"seen"}});
  for (const auto& check : result.checks())
    table.add({check.name(), v1::Outcome_Name(check.outcome()), check.expected(), check.seen()});
  fmt::print("{}{}", table.text(), evidence_text(result));
  return kDone;
}

using ByRef = grpc::Status (v1::Hopyard::Stub::*)(grpc::ClientContext*, const v1::CampaignRef&,
                                                  v1::CampaignStatus*);

// Cancel and resume: one call, the campaign's status back.
int ask(const Options& options, const std::string& id, ByRef method) {
  auto link = Link::open(options, WithoutDaemon::kFail);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::CampaignStatus status;
  grpc::ClientContext context;
  if (const auto result = (link->stub().*method)(&context, ref, &status); !result.ok()) return report(result);
  if (options.json)
    fmt::print("{}", json(status));
  else
    fmt::print("{}  {}  {}\n", status.campaign_id(), state_name(status.state()), progress_words(status));
  return kDone;
}

}  // namespace

int plan(const Options& options, const CampaignOptions& campaign) {
  auto text = campaign_text(campaign);
  if (!text.ok()) return report(text.status());
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ValidateRequest request;
  *request.mutable_campaign() = *std::move(text);
  v1::Plan plan;
  grpc::ClientContext context;
  if (const auto result = link->stub().Validate(&context, request, &plan); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(plan) : plan_text(plan));
  return kDone;
}

int submit(const Options& options, const CampaignOptions& campaign) {
  auto text = campaign_text(campaign);
  if (!text.ok()) return report(text.status());
  auto link = Link::open(options, WithoutDaemon::kFail);
  if (!link.ok()) return report(link.status());
  v1::SubmitRequest request;
  *request.mutable_campaign() = *std::move(text);
  request.set_jobs(campaign.jobs);
  v1::SubmitResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Submit(&context, request, &response); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(response) : response.campaign_id() + "\n");
  return kDone;
}

int list(const Options& options) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ListResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().List(&context, {}, &response); !result.ok()) return report(result);
  if (options.json) {
    fmt::print("{}", json(response));
    return kDone;
  }
  Table table({{"campaign"},
               {"state"},
               {"clock"},
               {"submitted"},
               {"trials", Table::Align::kRight},
               {"passed", Table::Align::kRight},
               {"failed", Table::Align::kRight},
               {"invalid", Table::Align::kRight},
               {"phases"},
               {"reason"}});
  for (const auto& one : response.campaigns())
    table.add({one.campaign_id(), state_name(one.state()), one.clock(), when(one),
               std::to_string(one.trials()), std::to_string(one.passed()), std::to_string(one.failed()),
               std::to_string(one.invalid()), phase_names(one.phases()), one.reason()});
  fmt::print("{}", table.empty() ? "" : table.text());
  return kDone;
}

int show(const Options& options, const std::string& id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  // A trial's id is its campaign's, a point and a number; campaigns' names have no points.
  if (id.find('.') != std::string::npos) return show_trial(link->stub(), options, id);
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  return show_campaign(link->stub(), options, ref);
}

int cancel(const Options& options, const std::string& id) {
  return ask(options, id, &v1::Hopyard::Stub::Cancel);
}
int resume(const Options& options, const std::string& id) {
  return ask(options, id, &v1::Hopyard::Stub::Resume);
}

}  // namespace hopyard::cli
