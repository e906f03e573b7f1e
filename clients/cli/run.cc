// SPDX-License-Identifier: Apache-2.0
// Commands that stay with a campaign until it ends, or until the user interrupts.
#include <atomic>
#include <cstdio>

#include "base/clock.h"
#include "cli/campaign_text.h"
#include "cli/command.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/summary_text.h"
#include "cli/terminal.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

struct Followed {
  v1::CampaignStatus status;
  grpc::Status result;
  bool detached = false;
};

// Shows events on standard error, or as JSON lines on standard output, until the campaign ends or the user
// interrupts.
Followed follow(v1::Hopyard::Stub& stub, const std::string& id, bool json_events) {
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  grpc::ClientContext context;
  std::atomic<bool> interrupted = false;
  const InterruptWatch interrupt([&] {
    interrupted = true;
    context.TryCancel();
  });
  Progress progress(stderr_is_terminal() ? terminal_width() : 0);
  Followed followed;
  const auto reader = stub.Watch(&context, ref);
  for (v1::CampaignEvent event; reader->Read(&event);) {
    followed.status = event.status();
    if (json_events) {
      fmt::print("{}", json_line(event));
      std::fflush(stdout);
    } else {
      say(progress.on_event(event, base::monotonic_ns()));
    }
  }
  say(progress.finish());
  followed.result = reader->Finish();
  followed.detached = interrupted;
  return followed;
}

void print_failures(v1::Hopyard::Stub& stub, const v1::CampaignRef& ref) {
  constexpr int kMost = 10;
  v1::TrialsResponse trials;
  grpc::ClientContext context;
  if (!stub.Trials(&context, ref, &trials).ok()) return;
  int shown = 0;
  for (const auto& trial : trials.trials()) {
    if (trial.verdict() == v1::PASSED) continue;
    if (++shown == 1) fmt::print("\n");
    if (shown > kMost) continue;
    fmt::print("{} {}: {}\n", trial.trial_id(), verdict_name(trial.verdict()), trial.reason());
  }
  if (shown > kMost) fmt::print("and {} more: hopyard show {}\n", shown - kMost, ref.campaign_id());
}

int end_of(const Options& options, Link& link, const std::string& id) {
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::SummaryResponse summary;
  grpc::ClientContext context;
  if (const auto result = link.stub().Summary(&context, ref, &summary); !result.ok()) return report(result);
  if (options.json) {
    fmt::print("{}", json(summary));
  } else {
    fmt::print("{}", summary_text(summary));
    if (summary.status().failed() + summary.status().invalid() > 0) print_failures(link.stub(), ref);
  }
  return exit_code(summary.status());
}

int detached(const Options& options, Link& link, const std::string& id) {
  link.leave();
  const std::string where = same_daemon(options);
  say(fmt::format(
      "detached; the campaign goes on.\n  watch:  hopyard watch {0}{1}\n  cancel: hopyard cancel {0}{1}\n",
      id, where));
  return kFailed;
}

// A stream that ended before its campaign.
int broken_off(const grpc::Status& result, const std::string& id) {
  if (result.error_code() != grpc::StatusCode::UNAVAILABLE) return report(result);
  return report(absl::UnavailableError(fmt::format(
      "watch: {}: the daemon has gone ({}); the next one goes on with it", id, result.error_message())));
}

// To the end of a campaign that was just queued.
int stay(const Options& options, Link& link, const std::string& id) {
  const Followed followed = follow(link.stub(), id, false);
  if (followed.detached) return detached(options, link, id);
  if (!followed.result.ok()) return broken_off(followed.result, id);
  return end_of(options, link, id);
}

}  // namespace

int run(const Options& options, const CampaignOptions& campaign) {
  auto text = campaign_text(campaign);
  if (!text.ok()) return report(text.status());
  auto link = Link::open(options, WithoutDaemon::kStart);
  if (!link.ok()) return report(link.status());
  v1::SubmitRequest request;
  *request.mutable_campaign() = *std::move(text);
  request.set_jobs(campaign.jobs);
  v1::SubmitResponse submitted;
  grpc::ClientContext context;
  if (const auto result = link->stub().Submit(&context, request, &submitted); !result.ok())
    return report(result);
  const v1::Plan& plan = submitted.plan();
  say(fmt::format("{}: {} cells in {} blocks, {} trials, {} responses\n", submitted.campaign_id(),
                  plan.cells(), plan.blocks(), plan.trials(), plan.responses()));
  return stay(options, *link, submitted.campaign_id());
}

int watch(const Options& options, const std::string& id) {
  auto link = Link::open(options, WithoutDaemon::kFail);
  if (!link.ok()) return report(link.status());
  const Followed followed = follow(link->stub(), id, options.json);
  const std::string whole_id = followed.status.campaign_id();
  if (followed.detached) return detached(options, *link, whole_id.empty() ? id : whole_id);
  if (!followed.result.ok()) return broken_off(followed.result, whole_id.empty() ? id : whole_id);
  return options.json ? exit_code(followed.status) : end_of(options, *link, whole_id);
}

int extend(const Options& options, const std::string& id, const ExtensionOptions& extension) {
  auto text = extension_text(extension);
  if (!text.ok()) return report(text.status());
  auto link = Link::open(options, extension.no_wait ? WithoutDaemon::kFail : WithoutDaemon::kStart);
  if (!link.ok()) return report(link.status());
  v1::ExtendRequest request;
  request.set_campaign_id(id);
  *request.mutable_extension() = *std::move(text);
  request.set_jobs(extension.jobs);
  v1::ExtendResponse extended;
  grpc::ClientContext context;
  if (const auto result = link->stub().Extend(&context, request, &extended); !result.ok())
    return report(result);
  const std::string& whole_id = extended.campaign_id();
  if (extension.no_wait) {
    fmt::print("{}", options.json ? json(extended) : whole_id + "\n");
    return kDone;
  }
  const v1::Phase& phase = *extended.plan().phases().rbegin();
  say(fmt::format("{}: phase {}: {} cells in {} blocks, {} trials, {} responses{}\n", whole_id, phase.name(),
                  phase.cells(), phase.blocks(), phase.trials(), phase.responses(),
                  extended.left() == 0 ? "" : fmt::format("; {} trials of before first", extended.left())));
  return stay(options, *link, whole_id);
}

}  // namespace hopyard::cli
