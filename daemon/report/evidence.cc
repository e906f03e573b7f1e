// SPDX-License-Identifier: Apache-2.0
// See evidence.h.
#include "report/evidence.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "report/figures.h"

namespace hopyard::report {
namespace {

// Lost trials beyond this are counted, and left to the view.
constexpr size_t kLostShown = 200;

void fact(Output& out, std::string_view name, std::string_view markup) {
  out.put(fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, markup));
}

std::string state_word(v1::CampaignState state) {
  return absl::AsciiStrToLower(v1::CampaignState_Name(state));
}

std::string trials_words(const v1::CampaignStatus& status) {
  return fmt::format(
      "{} planned: <span id=\"passed\">{}</span> passed, <span id=\"failed\">{}</span> failed, "
      "<span id=\"invalid\">{}</span> invalid",
      status.trials(), status.passed(), status.failed(), status.invalid());
}

// Distinct values of one thing about the hosts, joined.
template <typename Get>
std::string distinct(const Model& model, Get get) {
  std::set<std::string> seen;
  std::string text;
  for (const store::UsedHost& host : model.rows.hosts) {
    const std::string value = get(host);
    if (value.empty() || !seen.insert(value).second) continue;
    text += text.empty() ? value : ", " + value;
  }
  return text.empty() ? "–" : text;
}

std::string code(std::string_view text) { return fmt::format("<code>{}</code>", escaped(text)); }
std::string code_or_dash(std::string_view text) { return text.empty() ? "–" : code(text); }
std::string or_dash(bool present, uint64_t count) { return present ? fmt::format("{}", count) : "–"; }

void write_hosts(const Model& model, Output& out) {
  Table table(out, "hosts",
              "Where the trials ran (views <code>v_provenance</code>, <code>v_environment</code>)",
              {{"execution"},
               {"kernel release"},
               {"kernel build"},
               {"clock"},
               {"Hopyard"},
               {"passed", true},
               {"failed", true},
               {"invalid", true}});
  for (const store::UsedHost& host : model.rows.hosts)
    table.row("", {escaped(host.execution), code_or_dash(host.kernel), escaped(host.kernel_version),
                   escaped(host.clock), escaped(host.tool_version), fmt::format("{}", host.passed),
                   fmt::format("{}", host.failed), fmt::format("{}", host.invalid)});
}

// Whatever else there is to set, now and later: "http2_chunk_size_bytes: 8192".
std::string other_settings(v1::Server server) {
  server.clear_ssl_buffer_size_bytes();
  const std::string text = server.ShortDebugString();
  return text.empty() ? "–" : escaped(text);
}

void write_cases(const Model& model, Output& out) {
  Table table(out, "cases",
              "Cases (view <code>v_case</code>); a dash leaves the setting to the server or the kernel",
              {{"case"},
               {"variant"},
               {"ssl_buffer_size", true},
               {"congestion control"},
               {"tcp_notsent_lowat", true},
               {"other server settings"},
               {"note"}});
  for (const v1::Case& one : model.rows.campaign.campaign.cases())
    table.row("", {case_cell(model, one.name()), code(one.variant()),
                   or_dash(one.server().has_ssl_buffer_size_bytes(), one.server().ssl_buffer_size_bytes()),
                   one.tcp().has_congestion_control() ? escaped(one.tcp().congestion_control()) : "–",
                   or_dash(one.tcp().has_notsent_lowat_bytes(), one.tcp().notsent_lowat_bytes()),
                   other_settings(one.server()), escaped(one.note())});
}

void write_paths(const Model& model, Output& out) {
  Table table(
      out, "paths", "Paths (view <code>v_path</code>); rate and loss in each direction",
      {{"path"}, {"kind"}, {"RTT ms", true}, {"Mbit/s", true}, {"loss", true}, {"limit, packets", true}});
  for (const v1::Path& path : model.rows.campaign.campaign.paths())
    table.row("",
              {escaped(path.name()), escaped(path.kind()),
               path.has_rtt_ns() ? fmt::format("{:g}", static_cast<double>(path.rtt_ns()) / 1e6) : "–",
               path.has_rate_bps() ? fmt::format("{:g}", static_cast<double>(path.rate_bps()) / 1e6) : "–",
               path.has_loss() ? fmt::format("{:g} %", path.loss() * 100) : "–",
               or_dash(path.has_limit_packets(), path.limit_packets())});
}

std::string wait_words(const v1::Request& request) {
  if (!request.has_after()) return "as soon as the connection is ready";
  const v1::After& after = request.after();
  std::string words = after.has_body_bytes()
                          ? fmt::format("{} body bytes of {}", after.body_bytes(), escaped(after.request()))
                          : fmt::format("all of {}", escaped(after.request()));
  if (after.has_pause_ns())
    words += fmt::format(", then {:g} ms", static_cast<double>(after.pause_ns()) / 1e6);
  if (after.has_stall_ns())
    words += fmt::format(", then {:g} ms without reading", static_cast<double>(after.stall_ns()) / 1e6);
  return "after " + words;
}

void write_workloads(const Model& model, Output& out) {
  Table table(out, "workloads", "Workloads (view <code>v_workload</code>)",
              {{"workload"}, {"protocol"}, {"request"}, {"body bytes", true}, {"sent"}});
  for (const v1::Workload& workload : model.rows.campaign.campaign.workloads()) {
    for (const v1::Request& request : workload.requests())
      table.row("", {code(workload.name()), escaped(workload.protocol()), escaped(request.name()),
                     fmt::format("{}", request.body_bytes()), wait_words(request)});
  }
}

void write_builds(const Model& model, Output& out) {
  {
    Table table(out, "builds", "Server builds (view <code>v_provenance</code>)",
                {{"case"}, {"variant"}, {"trials", true}, {"variant’s SHA-256"}, {"binary’s SHA-256"}});
    for (const store::UsedBuild& build : model.rows.builds)
      table.row("", {case_cell(model, build.case_name), code(build.variant), fmt::format("{}", build.trials),
                     code_or_dash(build.sha256), code_or_dash(build.binary_sha256)});
  }
  std::set<std::string> seen;
  for (const store::UsedBuild& build : model.rows.builds) {
    if (build.inputs.empty() || !seen.insert(build.sha256 + build.inputs).second) continue;
    out.put(fmt::format(
        "<details><summary>What <code>{}</code> was built from</summary><pre>{}</pre></details>\n",
        escaped(build.variant), escaped(build.inputs)));
  }
}

void write_check_table(const Model& model, Output& out) {
  Table table(out, "checks",
              "What every trial was held to (view <code>v_check</code>); a broken check fails the trial or "
              "makes it invalid",
              {{"check"}, {"holds", true}, {"broken", true}, {"unsupported", true}});
  for (const store::CheckTally& check : model.rows.checks)
    table.row("", {escaped(check.name), fmt::format("{}", check.holds),
                   check.broken > 0 ? fmt::format("<strong>{}</strong>", check.broken) : "0",
                   fmt::format("{}", check.unsupported)});
}

void write_checks(const Model& model, Output& out) {
  if (model.rows.checks.empty()) return;
  uint32_t holds = 0, broken = 0, unsupported = 0;
  for (const store::CheckTally& check : model.rows.checks) {
    holds += check.holds;
    broken += check.broken;
    unsupported += check.unsupported;
  }
  out.put(fmt::format(
      "<details{}><summary>Checks of {} kinds, made on every trial they concern: {} hold, {} are broken, {} "
      "unsupported by the kernel</summary>\n",
      broken > 0 ? " open" : "", model.rows.checks.size(), holds, broken, unsupported));
  write_check_table(model, out);
  out.put("</details>\n");
}

void write_verification(const Model& model, Output& out) {
  if (!model.rows.status.has_verification()) {
    out.put(
        "<p>The campaign has not been verified yet: <code>hopyard verify</code> derives every check, verdict "
        "and "
        "figure again from the rows.</p>\n");
    return;
  }
  const v1::Verification& v = model.rows.status.verification();
  out.put(fmt::format(
      "<p id=\"verification\">Verified {}: {} rows of {} trials read, {} checks and {} figures derived "
      "again; {}.</p>\n",
      utc(v.verified_unix_ns()), v.rows(), v.trials(), v.checks(), v.figures(),
      v.findings() == 0 ? "everything holds"
                        : fmt::format("<strong>{} findings</strong>, the first: {}", v.findings(),
                                      escaped(v.first_finding()))));
  if (v.unsealed() > 0)
    out.put(fmt::format(
        "<p>{} of the trials were recorded before there were seals: a change there that fits all else "
        "would not be seen.</p>\n",
        v.unsealed()));
  for (const std::string& note : v.notes()) out.put(fmt::format("<p>{}</p>\n", escaped(note)));
}

void write_phases(const Model& model, Output& out) {
  if (model.figures.phases.size() < 2) return;
  Table table(out, "phases",
              "Phases: what was submitted, and what was added to it later (view <code>v_phase</code>)",
              {{"phase"},
               {"blocks"},
               {"cells", true},
               {"trials", true},
               {"passed", true},
               {"failed", true},
               {"invalid", true},
               {"seed", true},
               {"note"}});
  for (const v1::Phase& phase : model.figures.phases)
    table.row("",
              {escaped(phase.name()),
               fmt::format("{} to {}", phase.first_block(), phase.first_block() + phase.blocks() - 1),
               fmt::format("{}", phase.cells()), fmt::format("{}", phase.trials()),
               fmt::format("{}", phase.passed()), fmt::format("{}", phase.failed()),
               fmt::format("{}", phase.invalid()), fmt::format("{}", phase.seed()), escaped(phase.note())});
}

void write_diagnostics(const Model& model, Output& out) {
  if (model.figures.diagnostics.empty()) return;
  out.put("<h3>What may explain the figures</h3>\n");
  Table table(out, "diagnostics",
              "View <code>v_cell_diagnostic</code>, over passed trials: the router’s drops until the last "
              "response was "
              "complete, trials without any, SSL_write calls that wrote nothing, and unsent bytes when a "
              "later request "
              "went out",
              {{"path"},
               {"workload"},
               {"response"},
               {"case"},
               {"n", true},
               {"drops to server", true},
               {"drops to client", true},
               {"trials without drops", true},
               {"median retries", true},
               {"median unsent bytes", true}});
  for (const v1::CellDiagnostic& one : model.figures.diagnostics)
    table.row("",
              {escaped(group_of(model, one)), code(one.workload()), escaped(one.role()),
               case_cell(model, one.case_name()), fmt::format("{}", one.n()),
               or_dash(one.has_drops_to_server(), one.drops_to_server()),
               or_dash(one.has_drops_to_client(), one.drops_to_client()),
               fmt::format("{}", one.without_drops()), fmt::format("{:g}", one.median_ssl_write_retries()),
               one.has_median_unsent_bytes() ? fmt::format("{:g}", one.median_unsent_bytes()) : "–"});
}

// Of the milestones that are open from the start.
void write_without_drops(const Model& model, Output& out) {
  if (model.figures.without_drops.empty()) return;
  Table table(out, "without-drops",
              "View <code>v_cell_no_drop</code>: lossy paths, only trials in which the router dropped "
              "nothing. A selection by "
              "outcome, not a controlled comparison",
              {{"path"}, {"workload"}, {"milestone"}, {"case"}, {"n", true}, {"median ms", true}});
  for (const Milestone& milestone : model.milestones) {
    if (!seen_first(milestone)) continue;
    for (const v1::CellFigure& one : model.figures.without_drops) {
      if (one.workload() != milestone.workload || one.metric() != milestone.metric) continue;
      table.row("",
                {escaped(group_of(model, one)), code(one.workload()), escaped(title_of(milestone)),
                 case_cell(model, one.case_name()), fmt::format("{}", one.n()),
                 exact_ms("median", one.has_median_ns() ? std::optional(one.median_ns()) : std::nullopt)});
    }
  }
}

void write_lost(const Model& model, Output& out) {
  const auto& lost = model.rows.lost;
  if (lost.empty()) {
    out.put("<p>No trial with an outcome failed or was invalid.</p>\n");
    return;
  }
  const size_t shown = std::min(lost.size(), kLostShown);
  Table table(out, "lost",
              fmt::format("Failed and invalid trials{} (view <code>v_trial</code>)",
                          shown < lost.size() ? fmt::format(", the first {} of {}", shown, lost.size()) : ""),
              {{"trial"}, {"path"}, {"workload"}, {"case"}, {"block", true}, {"verdict"}, {"reason"}});
  for (size_t i = 0; i < shown; ++i)
    table.row("", {trial_link(model, lost[i].trial_id), escaped(lost[i].path), code(lost[i].workload),
                   case_cell(model, lost[i].case_name), fmt::format("{}", lost[i].block),
                   escaped(lost[i].verdict), escaped(lost[i].reason)});
}

void write_identity(const Model& model, Output& out) {
  const store::CampaignRow& campaign = model.rows.campaign;
  out.put("<dl class=\"facts\">\n");
  fact(out, "campaign", code(campaign.id));
  if (!campaign.campaign.source().empty())
    fact(out, "source of the question", escaped(campaign.campaign.source()));
  fact(out, "seed",
       fmt::format("<code>{}</code>; each trial’s own is in <code>v_trial</code>", campaign.campaign.seed()));
  fact(out, "SHA-256 of text and changes", code(campaign.text_sha256));
  fact(out, "workers at once", fmt::format("{}", campaign.jobs));
  fact(out, "submitted", utc(campaign.submitted_unix_ns));
  fact(out, "ended", utc(model.rows.status.finished_unix_ns()));
  out.put("</dl>\n");
  if (!model.trial_prefix.empty())
    out.put(
        fmt::format("<p>Trial ids are given here without their beginning, <code>{}</code>; with it, "
                    "<code>hopyard show</code> "
                    "and the views know them.</p>\n",
                    escaped(model.trial_prefix)));
}

}  // namespace

void write_facts(const Model& model, Output& out) {
  const v1::CampaignStatus& status = model.rows.status;
  out.put("<dl class=\"facts\">\n");
  fact(out, "campaign",
       fmt::format("{}, {}{}", code(status.campaign_id()), state_word(status.state()),
                   status.reason().empty() ? "" : ": " + escaped(status.reason())));
  fact(out, "trials", trials_words(status));
  fact(out, "kernel", escaped(distinct(model, [](const auto& host) {
         return host.kernel.empty() ? "" : fmt::format("{} ({})", host.kernel, host.execution);
       })));
  fact(out, "clock", escaped(status.clock()));
  fact(out, "made",
       fmt::format("{}, by {}", utc(status.submitted_unix_ns()),
                   escaped(distinct(model, [](const auto& host) { return host.tool_version; }))));
  out.put("</dl>\n");
}

void write_evidence(const Model& model, Output& out) {
  write_identity(model, out);
  out.put("<h3>Outcomes</h3>\n");
  write_lost(model, out);
  write_checks(model, out);
  write_verification(model, out);
  write_phases(model, out);
  write_diagnostics(model, out);
  write_without_drops(model, out);
  out.put("<h3>What ran</h3>\n");
  write_hosts(model, out);
  write_cases(model, out);
  write_paths(model, out);
  write_workloads(model, out);
  write_builds(model, out);
}

void write_campaign_text(const Model& model, Output& out) {
  const store::CampaignRow& campaign = model.rows.campaign;
  out.put(fmt::format("<p><code>{}</code>; SHA-256 <code>{}</code>{}.</p>\n", escaped(campaign.file),
                      escaped(campaign.text_sha256),
                      campaign.overrides.empty() ? "" : " of the text with the changes below"));
  if (!campaign.overrides.empty()) {
    out.put("<p>Changed when it was submitted:</p>\n<ul id=\"overrides\">\n");
    for (const std::string& change : campaign.overrides)
      out.put(fmt::format("<li><code>{}</code></li>\n", escaped(change)));
    out.put("</ul>\n");
  }
  out.put(fmt::format("<pre id=\"yaml\">{}</pre>\n", escaped(campaign.text)));
}

}  // namespace hopyard::report
