// SPDX-License-Identifier: Apache-2.0
// The command that has a campaign verified.
#include <cstdio>

#include "cli/command.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

std::string finding_text(const v1::Finding& finding) {
  std::string text = finding.table();
  if (!finding.trial_id().empty()) text += "  trial " + finding.trial_id();
  if (!finding.row().empty()) text += "  " + finding.row();
  if (!finding.column().empty()) text += "  " + finding.column();
  return fmt::format("{}: expected {}, saw {} ({})\n", text, finding.expected(), finding.seen(),
                     finding.why());
}

void show(const v1::VerifyEvent& event, bool json_lines) {
  if (event.has_progress()) {
    if (stderr_is_terminal())
      say(fmt::format("\r{} of {} trials ", event.progress().done(), event.progress().total()));
    return;
  }
  if (stderr_is_terminal()) say("\r\x1b[K");
  if (json_lines) {
    fmt::print("{}", json_line(event));
  } else if (event.has_finding()) {
    fmt::print("{}", finding_text(event.finding()));
  } else {
    for (const std::string& note : event.result().notes()) fmt::print("note: {}\n", note);
    fmt::print("{}\n", verification_words(event.result()));
  }
}

}  // namespace

int verify(const Options& options, const std::string& id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  grpc::ClientContext context;
  const auto reader = link->stub().Verify(&context, ref);
  v1::Verification result;
  for (v1::VerifyEvent event; reader->Read(&event);) {
    show(event, options.json);
    if (event.has_result()) result = event.result();
  }
  if (const auto status = reader->Finish(); !status.ok()) return report(status);
  return result.findings() == 0 ? kDone : kFailed;
}

}  // namespace hopyard::cli
