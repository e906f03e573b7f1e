// SPDX-License-Identifier: Apache-2.0
// The order of things: the plan, trial by trial, the tally, the figures.
#include "verify/verify.h"

#include <map>

#include "verify/checks.h"
#include "verify/consistency.h"
#include "verify/findings.h"
#include "verify/rows.h"
#include "verify/samples.h"
#include "verify/seals.h"

namespace hopyard::verify {
namespace {

class Verifier {
 public:
  Verifier(store::Connection& connection, const Options& options)
      : connection_(connection),
        options_(options),
        findings_(report_, options),
        rows_(connection),
        seals_(connection) {}

  absl::StatusOr<Report> run(std::string_view campaign_id) {
    HOPYARD_ASSIGN_OR_RETURN(asked_, rows_.asked(campaign_id));
    HOPYARD_ASSIGN_OR_RETURN(auto trials, rows_.trials(asked_.number));
    check_plan(asked_, trials, findings_);
    std::erase_if(trials, [](const StoredTrial& trial) { return trial.verdict.empty(); });
    const auto total = static_cast<uint32_t>(trials.size());
    for (StoredTrial& trial : trials) {
      if (options_.stopped && options_.stopped()) return absl::CancelledError("verify: stopped");
      HOPYARD_RETURN_IF_ERROR(check_trial(trial));
      trial = {};  // its evidence is no longer needed
      if (options_.progress) options_.progress(report_.trials, total);
    }
    findings_.set_trial("");
    HOPYARD_RETURN_IF_ERROR(check_tally());
    HOPYARD_RETURN_IF_ERROR(check_figures());
    add_notes();
    return std::move(report_);
  }

 private:
  absl::Status check_trial(StoredTrial& trial) {
    findings_.set_trial(trial.id);
    ++report_.trials;
    HOPYARD_ASSIGN_OR_RETURN(const bool sealed, seals_.check(trial.number, findings_));
    if (!sealed) ++report_.unsealed;
    HOPYARD_ASSIGN_OR_RETURN(const uint64_t rows, rows_.add_evidence(trial));
    report_.rows += rows;
    ++tally_[{trial.cell_no, trial.host_no}][trial.verdict];
    const AskedPath* path = asked_.path(trial.path);
    const AskedCase* one_case = asked_.one_case(trial.case_name);
    const AskedWorkload* workload = asked_.workload(trial.workload);
    if (path == nullptr || one_case == nullptr || workload == nullptr) {
      findings_.add("cell", "", "path, workload, case_name", "names the campaign defines",
                    trial.path + ", " + trial.workload + ", " + trial.case_name, "campaign_json");
      return absl::OkStatus();
    }
    const Subject subject{trial, *path, *one_case, *workload, asked_.clock};
    report_.checks += judge(subject, findings_, unknown_);
    check_records(subject, findings_);
    check_frames(subject, findings_);
    check_responses(subject, findings_);
    check_instants(subject, findings_);
    check_kernel(subject, findings_);
    check_environment(subject, findings_);
    if (!trial.build.variant.empty())
      findings_.same("server_build", "", "variant", one_case->variant, trial.build.variant, "the case's");
    return samples_.take(connection_, subject, findings_);
  }

  absl::Status check_tally() {
    store::Statement select = connection_.prepare(
        "SELECT cell_no, host_no, passed, failed, invalid FROM tally JOIN cell USING (cell_no) WHERE "
        "campaign_no = ?");
    select.bind(asked_.number);
    while (true) {
      HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
      if (!row) break;
      const CellHost at{select.integer(0), select.integer(1)};
      const std::string name = fmt::format("cell_no {}, host_no {}", at.cell_no, at.host_no);
      auto& counted = tally_[at];
      findings_.same("tally", name, "passed", counted["passed"], select.integer(2), "counted");
      findings_.same("tally", name, "failed", counted["failed"], select.integer(3), "counted");
      findings_.same("tally", name, "invalid", counted["invalid"], select.integer(4), "counted");
      tally_.erase(at);
    }
    for (const auto& [at, counted] : tally_)
      findings_.add("tally", fmt::format("cell_no {}, host_no {}", at.cell_no, at.host_no), "", "a row",
                    "none", "it has outcomes");
    return absl::OkStatus();
  }

  absl::Status check_figures() {
    HOPYARD_ASSIGN_OR_RETURN(const uint64_t cells, samples_.check_cells(connection_, asked_, findings_));
    report_.figures += cells;
    if (!options_.pairs_are_made && asked_.state != "done") {
      report_.notes.push_back("v_pair is made when the campaign is done: it was not looked at");
      return absl::OkStatus();
    }
    HOPYARD_ASSIGN_OR_RETURN(const uint64_t pairs, samples_.check_pairs(connection_, asked_, findings_));
    HOPYARD_ASSIGN_OR_RETURN(const uint64_t interactions,
                             samples_.check_interactions(connection_, asked_, findings_));
    report_.figures += pairs + interactions;
    return absl::OkStatus();
  }

  void add_notes() {
    if (report_.unsealed > 0)
      report_.notes.push_back(
          fmt::format("{} of {} trials have no seal (they were recorded before there were any): a change "
                      "there that fits all "
                      "else is not seen",
                      report_.unsealed, report_.trials));
    std::map<std::string, uint64_t> unknown;
    for (const std::string& name : unknown_) ++unknown[name];
    for (const auto& [name, times] : unknown)
      report_.notes.push_back(
          fmt::format("check \"{}\" ({} times) is not known here: not derived", name, times));
  }

  store::Connection& connection_;
  const Options& options_;
  Report report_;
  Findings findings_;
  Rows rows_;
  Seals seals_;
  Samples samples_;
  Asked asked_;
  std::map<CellHost, std::map<std::string, int64_t>> tally_;
  std::vector<std::string> unknown_;
};

}  // namespace

absl::StatusOr<Report> verify_campaign(const std::string& database, std::string_view campaign_id,
                                       const Options& options) {
  const auto run = [&]() -> absl::StatusOr<Report> {
    HOPYARD_ASSIGN_OR_RETURN(const auto connection,
                             store::Connection::open(database, store::Access::kReadOnly));
    HOPYARD_ASSIGN_OR_RETURN(const store::Transaction snapshot, store::Transaction::begin_read(*connection));
    return Verifier(*connection, options).run(campaign_id);
  };
  auto report = run();
  if (!report.ok()) return base::annotate(report.status(), "verify", database);
  return report;
}

}  // namespace hopyard::verify
