// SPDX-License-Identifier: Apache-2.0
// Fills report.html: each {{name}} of it is a function here.
#include "report/report.h"

#include <cstring>
#include <functional>
#include <map>

#include "absl/strings/escaping.h"
#include "base/digest.h"
#include "fmt/format.h"
#include "report/evidence.h"
#include "report/figures.h"
#include "report/limits.h"
#include "report/page.h"
#include "report/timelines.h"

namespace hopyard::report {
namespace {

using Parts = std::map<std::string_view, std::function<void(Output&)>>;

// "'sha256-…'", as a content security policy names an inline script or style.
std::string source_hash(std::string_view text) {
  return fmt::format("'sha256-{}'", absl::Base64Escape(absl::HexStringToBytes(base::sha256_hex(text))));
}

// Only this very script and style may run; nothing may be fetched, sent or framed.
std::string policy() {
  return fmt::format("default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
                     source_hash(kPageJs), source_hash(kPageCss));
}

void write_limits(const Model& model, Output& out) {
  out.put("<ul>\n");
  for (const std::string& limit : limits_of(model)) out.put(fmt::format("<li>{}</li>\n", escaped(limit)));
  out.put("</ul>\n");
}

void write_data(const Model& model, const Timelines& timelines, Output& out) {
  out.put(fmt::format("{{\"prefix\":{},\n", json_text(model.trial_prefix)));
  write_samples(model, out);
  out.put(",\n");
  write_timeline_data(timelines, out);
  out.put("}");
}

size_t samples_in(const Model& model) {
  size_t samples = 0;
  for (const store::CellSamples& one : model.rows.samples) samples += one.value_ns.size();
  return samples;
}

// What comes after it is the script, so the size is known to the digits shown.
void write_footer(const Model& model, const Timelines& timelines, Output& out) {
  const double bytes = static_cast<double>(out.bytes() + std::strlen(kPageJs));
  out.put(fmt::format(
      "<p>{} samples of {} milestones in {} cells, and {} timelines, are embedded: about {}. The rows behind "
      "them are in the database’s views; <code>hopyard export</code> gives them as JSONL, CSV or SQLite.</p>",
      samples_in(model), model.milestones.size(), model.cells.size(), timelines.all.size(),
      bytes < 1e6 ? fmt::format("{:.0f} kB", bytes / 1e3) : fmt::format("{:.1f} MB", bytes / 1e6)));
}

Parts parts_of(const Model& model, const Timelines& timelines) {
  const v1::Campaign& campaign = model.rows.campaign.campaign;
  const auto text = [](std::string made) { return [made](Output& out) { out.put(made); }; };
  const auto of_model = [&model](void (*write_part)(const Model&, Output&)) {
    return [&model, write_part](Output& out) { write_part(model, out); };
  };
  return {{"policy", text(escaped(policy()))},
          {"style", text(kPageCss)},
          {"script", text(kPageJs)},
          {"title", text(escaped(campaign.name()) + ": Hopyard report")},
          {"question", text(escaped(campaign.question()))},
          {"facts", of_model(write_facts)},
          {"summary", of_model(write_summary)},
          {"figures", of_model(write_milestones)},
          {"timeline", [&](Output& out) { write_timelines(model, timelines, out); }},
          {"limits", of_model(write_limits)},
          {"evidence", of_model(write_evidence)},
          {"asked", of_model(write_campaign_text)},
          {"data", [&](Output& out) { write_data(model, timelines, out); }},
          {"footer", [&](Output& out) { write_footer(model, timelines, out); }}};
}

// The page with every {{name}} replaced. The page is ours: a name without a part is our own bug, and a test's
// finding.
absl::Status fill(std::string_view page, const Parts& parts, Output& out) {
  while (true) {
    const size_t open = page.find("{{");
    out.put(page.substr(0, open));
    if (open == std::string_view::npos) return out.finish();
    const size_t close = page.find("}}", open);
    const auto part = parts.find(page.substr(open + 2, close - open - 2));
    if (close == std::string_view::npos || part == parts.end())
      return absl::InternalError("report.html names a part that is not there");
    part->second(out);
    page.remove_prefix(close + 2);
  }
}

}  // namespace

absl::Status write(const store::Store& store, std::string_view ref, const Figures& figures,
                   const store::Sink& sink) {
  HOPYARD_ASSIGN_OR_RETURN(const store::ReportRows rows, store.report_rows(ref));
  const Model model = arrange(rows, figures);
  HOPYARD_ASSIGN_OR_RETURN(const Timelines timelines, choose_timelines(model, store));
  Output out(sink);
  return fill(kPageHtml, parts_of(model, timelines), out);
}

}  // namespace hopyard::report
