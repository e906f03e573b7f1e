// SPDX-License-Identifier: Apache-2.0
// Is the database sound: SQLite's own checks, then what the schema cannot enforce.
#include <array>

#include "absl/strings/str_cat.h"
#include "store/maintenance.h"
#include "store/sqlite.h"

namespace hopyard::store {
namespace {

constexpr int kMostProblems = 100;

struct Rule {
  const char* problem;  // before the rows' first column
  const char* select;   // what breaks the rule
};

constexpr std::array<Rule, 10> kRules = {{
    {"integrity: ", "SELECT integrity_check FROM pragma_integrity_check(100) WHERE integrity_check <> 'ok'"},
    {"a row points at nothing: ",
     "SELECT \"table\" || ' row ' || COALESCE(rowid, '?') || ' -> ' || parent FROM pragma_foreign_key_check"},
    {"more than one outcome: trial ",
     "SELECT trial_id FROM trial JOIN outcome USING (trial_no) GROUP BY trial_no HAVING COUNT(*) > 1"},
    {"an outcome without a planned trial: number ",
     "SELECT trial_no FROM outcome WHERE trial_no NOT IN (SELECT trial_no FROM trial)"},
    {"passed, but with a broken check: trial ",
     "SELECT trial_id FROM outcome JOIN trial USING (trial_no) WHERE verdict = 'passed'"
     " AND EXISTS (SELECT 1 FROM evidence_check k WHERE k.trial_no = outcome.trial_no AND k.outcome = 2)"},
    {"not passed, but without a reason: trial ",
     "SELECT trial_id FROM outcome JOIN trial USING (trial_no) WHERE verdict <> 'passed' AND reason = ''"},
    {"figures of a trial that did not pass: trial ",
     "SELECT DISTINCT trial_id FROM sample JOIN trial USING (trial_no) JOIN outcome USING (trial_no)"
     " WHERE verdict <> 'passed'"},
    {"outcomes are miscounted: campaign ",
     "SELECT campaign_id || ', ' || path || ' ' || workload || ' ' || case_name FROM cell JOIN campaign "
     "USING (campaign_no)"
     " WHERE (SELECT COALESCE(SUM(passed + failed + invalid), 0) FROM tally WHERE tally.cell_no = "
     "cell.cell_no)"
     " <> (SELECT COUNT(*) FROM trial JOIN outcome USING (trial_no) WHERE trial.cell_no = cell.cell_no)"},
    {"in no phase of its campaign: trial ", "SELECT trial_id FROM v_trial WHERE phase IS NULL"},
    {"done, but not every trial has an outcome: campaign ",
     "SELECT campaign_id FROM v_campaign WHERE state = 'done' AND passed + failed + invalid <> trials"},
}};

absl::Status apply(Connection& connection, const Rule& rule, v1::CheckDatabaseResponse& response) {
  Statement select = connection.prepare(rule.select);
  while (response.problems_size() < kMostProblems) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    response.add_problems(rule.problem + select.text(0));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> count(Connection& connection, const char* select) {
  Statement statement = connection.prepare(select);
  HOPYARD_RETURN_IF_ERROR(statement.step().status());
  return static_cast<uint32_t>(statement.integer(0));
}

}  // namespace

absl::StatusOr<v1::CheckDatabaseResponse> check_database(const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(const auto connection, Connection::open(path, Access::kReadOnly));
  v1::CheckDatabaseResponse response;
  // A rule that cannot even be read is a finding; the rest may still tell more.
  for (const Rule& rule : kRules) {
    const absl::Status applied = apply(*connection, rule, response);
    if (absl::IsUnavailable(applied)) return applied;
    if (!applied.ok()) response.add_problems(absl::StrCat(rule.problem, applied.message()));
  }
  response.set_campaigns(count(*connection, "SELECT COUNT(*) FROM campaign").value_or(0));
  response.set_trials(count(*connection, "SELECT COUNT(*) FROM trial").value_or(0));
  return response;
}

}  // namespace hopyard::store
