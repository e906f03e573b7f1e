// SPDX-License-Identifier: Apache-2.0
// See verification.h.
#include "rpc/verification.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/store.h"
#include "verify/verify.h"

namespace hopyard::rpc {
namespace {

v1::VerifyEvent event_of(const verify::Finding& finding) {
  v1::VerifyEvent event;
  v1::Finding& out = *event.mutable_finding();
  out.set_table(finding.table);
  out.set_trial_id(base::printable(finding.trial_id));
  out.set_row(base::printable(finding.row));
  out.set_column(finding.column);
  out.set_expected(base::printable(finding.expected));
  out.set_seen(base::printable(finding.seen));
  out.set_why(finding.why);
  return event;
}

v1::Verification result_of(const verify::Report& report) {
  v1::Verification out;
  out.set_verified_unix_ns(base::unix_ns());
  out.set_trials(report.trials);
  out.set_unsealed(report.unsealed);
  out.set_rows(report.rows);
  out.set_checks(report.checks);
  out.set_figures(report.figures);
  out.set_findings(report.findings);
  if (!report.told.empty()) out.set_first_finding(base::printable(verify::in_words(report.told.front())));
  for (const std::string& note : report.notes) out.add_notes(base::printable(note));
  return out;
}

}  // namespace

absl::StatusOr<v1::Verification> verify_now(const store::Store& store, const std::string& ref,
                                            const VerifySink& sink, const std::function<bool()>& stopped) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, store.resolve(ref));
  verify::Options options;
  options.stopped = stopped;
  options.found = [&sink](const verify::Finding& finding) { sink(event_of(finding)); };
  uint32_t told_percent = 0;
  options.progress = [&](uint32_t done, uint32_t total) {
    const uint32_t percent = done * 100 / total;
    if (percent == told_percent) return;
    told_percent = percent;
    v1::VerifyEvent event;
    event.mutable_progress()->set_done(done);
    event.mutable_progress()->set_total(total);
    sink(event);
  };
  HOPYARD_ASSIGN_OR_RETURN(const verify::Report report, verify::verify_campaign(store.path(), id, options));
  return result_of(report);
}

absl::StatusOr<v1::Verification> verify_at_end(store::Store& store, const std::string& campaign,
                                               const std::function<bool()>& stopped) {
  verify::Options options;
  options.pairs_are_made = true;
  options.stopped = stopped;
  HOPYARD_ASSIGN_OR_RETURN(const verify::Report report,
                           verify::verify_campaign(store.path(), campaign, options));
  v1::Verification result = result_of(report);
  HOPYARD_RETURN_IF_ERROR(store.record_verification(campaign, result));
  return result;
}

}  // namespace hopyard::rpc
