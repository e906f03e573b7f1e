// SPDX-License-Identifier: Apache-2.0
// Commands on what was measured.
#include <string>

#include "cli/command.h"
#include "cli/comparison_text.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/summary_text.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

std::string replay_text(const v1::ReplayResponse& response) {
  std::string text;
  if (response.first_difference().empty()) {
    text = fmt::format("{}  the same\n", response.replayed_digest());
  } else {
    text = fmt::format("{}  stored\n{}  replayed\nfirst difference, stored | replayed: {}\n",
                       response.stored_digest(), response.replayed_digest(), response.first_difference());
  }
  for (const auto& difference : response.differences()) text += difference + "\n";
  return text;
}

}  // namespace

int summary(const Options& options, const std::string& id, const std::string& from) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::SummaryResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Summary(&context, ref, &response); !result.ok()) return report(result);
  const TimesFrom times = from == kFromConnect ? TimesFrom::kConnect : TimesFrom::kRequest;
  fmt::print("{}", options.json ? json(response) : summary_text(response, times));
  return kDone;
}

int diagnostics(const Options& options, const std::string& id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::DiagnosticsResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Diagnostics(&context, ref, &response); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(response) : diagnostics_text(response));
  return kDone;
}

int compare(const Options& options, const std::string& id, const std::string& pair) {
  const size_t comma = pair.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == pair.size())
    return report(absl::InvalidArgumentError(fmt::format("--pair {}: expected two cases, like C,D", pair)));
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CompareRequest request;
  request.set_campaign_id(id);
  request.set_case_a(pair.substr(0, comma));
  request.set_case_b(pair.substr(comma + 1));
  v1::CompareResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Compare(&context, request, &response); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(response) : compare_text(response, request));
  return kDone;
}

int replay(const Options& options, const std::string& trial_id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::TrialRequest request;
  request.set_trial_id(trial_id);
  v1::ReplayResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Replay(&context, request, &response); !result.ok())
    return report(result);
  const bool same = response.first_difference().empty();
  if (options.json)
    fmt::print("{}", json(response));
  else
    fmt::print("{}", replay_text(response));
  return same ? kDone : kFailed;
}

}  // namespace hopyard::cli
