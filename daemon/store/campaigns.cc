// SPDX-License-Identifier: Apache-2.0
// See campaigns.h.
#include "store/campaigns.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "store/figures.h"
#include "store/metrics.h"
#include "store/phases.h"
#include "store/pool.h"
#include "store/words.h"

namespace hopyard::store {
namespace {

absl::string_view view(std::string_view text) { return {text.data(), text.size()}; }

absl::Status no_campaign(std::string_view reference) {
  return absl::NotFoundError(absl::StrCat("no campaign \"", view(reference), "\""));
}

absl::StatusOr<std::string> to_json(const v1::Campaign& campaign) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(campaign, &json, options).ok()) {
    return absl::InvalidArgumentError("the campaign does not print as JSON");
  }
  return json;
}

absl::StatusOr<v1::Campaign> from_json(const std::string& json) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // written before a field was dropped
  v1::Campaign campaign;
  if (!google::protobuf::util::JsonStringToMessage(json, &campaign, options).ok()) {
    return absl::DataLossError("a campaign's stored text is no campaign");
  }
  return campaign;
}

absl::StatusOr<int64_t> insert_campaign_row(Connection& connection, const CampaignRow& row) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string json, to_json(row.campaign));
  HOPYARD_RETURN_IF_ERROR(
      connection
          .prepare(
              "INSERT INTO campaign (campaign_id, file, yaml, yaml_sha256, campaign_json, jobs, state, "
              "reason,"
              " execution, kernel, submitted_unix_ns) VALUES (?, ?, ?, ?, ?, ?, 'queued', '', '', '', ?)")
          .bind(row.id)
          .bind(row.file)
          .bind(row.text)
          .bind(row.text_sha256)
          .bind(json)
          .bind(row.jobs)
          .bind(row.submitted_unix_ns)
          .run());
  const int64_t number = connection.last_insert_rowid();
  Statement insert =
      connection.prepare("INSERT INTO campaign_override (campaign_no, seq, content) VALUES (?, ?, ?)");
  for (size_t i = 0; i < row.overrides.size(); ++i) {
    HOPYARD_RETURN_IF_ERROR(insert.bind(number).bind(uint64_t{i}).bind(row.overrides[i]).run());
  }
  return number;
}

// Adds planned trials, and their cells as they come up.
class Planner {
 public:
  Planner(Connection& connection, Pools& pools, const v1::Campaign& campaign, int64_t campaign_no)
      : connection_(connection), pools_(pools), campaign_(campaign), campaign_no_(campaign_no) {}

  // The cells that the campaign has already.
  absl::Status load() {
    Statement select = connection_.prepare(
        "SELECT path, workload, case_name, kernel_name, cell_no FROM cell WHERE campaign_no = ?");
    select.bind(campaign_no_);
    while (true) {
      HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
      if (!row) return absl::OkStatus();
      cells_.emplace(std::tuple(select.text(0), select.text(1), select.text(2), select.text(3)),
                     select.integer(4));
    }
  }

  absl::Status add(const PlannedRow& row) {
    const v1::PlannedTrial& planned = row.planned;
    HOPYARD_ASSIGN_OR_RETURN(const int64_t cell, cell_of(planned));
    const absl::Status added = connection_
                                   .prepare(
                                       "INSERT INTO trial (trial_id, cell_no, run_index, block, position, "
                                       "seed) VALUES (?, ?, ?, ?, ?, ?)")
                                   .bind(row.trial_id)
                                   .bind(cell)
                                   .bind(planned.index())
                                   .bind(planned.block())
                                   .bind(planned.position())
                                   .bind(planned.seed())
                                   .run();
    if (!absl::IsAlreadyExists(added)) return added;
    return absl::AlreadyExistsError(
        absl::StrCat("trial \"", row.trial_id, "\", block ", planned.block(), " of ", planned.path(), " ",
                     planned.workload(), " ", planned.case_name(),
                     ": that trial or that repetition of its cell is already planned"));
  }

 private:
  absl::StatusOr<int64_t> cell_of(const v1::PlannedTrial& planned) {
    const auto key = std::tuple(planned.path(), planned.workload(), planned.case_name(), planned.kernel());
    if (const auto known = cells_.find(key); known != cells_.end()) return known->second;
    HOPYARD_RETURN_IF_ERROR(connection_
                                .prepare("INSERT INTO cell (campaign_no, path, workload, case_name, "
                                         "kernel_name) VALUES (?, ?, ?, ?, ?)")
                                .bind(campaign_no_)
                                .bind(planned.path())
                                .bind(planned.workload())
                                .bind(planned.case_name())
                                .bind(planned.kernel())
                                .run());
    const int64_t cell = connection_.last_insert_rowid();
    HOPYARD_RETURN_IF_ERROR(add_metrics(cell, planned.workload()));
    cells_.emplace(key, cell);
    return cell;
  }

  absl::Status add_metrics(int64_t cell, const std::string& workload_name) {
    for (const v1::Workload& workload : campaign_.workloads()) {
      if (workload.name() != workload_name) continue;
      Statement insert = connection_.prepare("INSERT INTO cell_metric (cell_no, metric_no) VALUES (?, ?)");
      for (const std::string& name : metric_names(workload)) {
        HOPYARD_ASSIGN_OR_RETURN(const int64_t metric, pools_.metric.number(connection_, name));
        HOPYARD_RETURN_IF_ERROR(insert.bind(cell).bind(metric).run());
      }
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat("a trial is planned with workload \"", workload_name,
                                                   "\", which the campaign does not define"));
  }

  Connection& connection_;
  Pools& pools_;
  const v1::Campaign& campaign_;
  const int64_t campaign_no_;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, int64_t> cells_;
};

bool has_ended(v1::CampaignState state) {
  return state == v1::DONE || state == v1::CANCELLED || state == v1::INTERRUPTED || state == v1::ABORTED;
}

constexpr const char* kStatusColumns =
    "SELECT campaign_id, name, question, state, reason, trials, passed, failed, invalid, submitted_unix_ns,"
    " finished_unix_ns, clock, kernel, execution, verified_unix_ns, verified_trials, unsealed, rows, checks, "
    "figures,"
    " findings, first_finding, notes_json FROM v_campaign LEFT JOIN v_verification USING (campaign_id)";

void add_verification(const Statement& row, v1::Verification& out) {
  out.set_verified_unix_ns(row.integer(14));
  out.set_trials(static_cast<uint32_t>(row.integer(15)));
  out.set_unsealed(static_cast<uint32_t>(row.integer(16)));
  out.set_rows(static_cast<uint64_t>(row.integer(17)));
  out.set_checks(static_cast<uint64_t>(row.integer(18)));
  out.set_figures(static_cast<uint64_t>(row.integer(19)));
  out.set_findings(static_cast<uint64_t>(row.integer(20)));
  out.set_first_finding(row.text(21));
  google::protobuf::ListValue notes;
  if (!google::protobuf::util::JsonStringToMessage(row.text(22), &notes).ok()) return;
  for (const auto& note : notes.values()) out.add_notes(note.string_value());
}

v1::CampaignStatus status_of(const Statement& row) {
  v1::CampaignStatus status;
  status.set_campaign_id(row.text(0));
  status.set_name(row.text(1));
  status.set_question(row.text(2));
  status.set_state(state_of(row.view(3)));
  status.set_reason(row.text(4));
  status.set_trials(static_cast<uint32_t>(row.integer(5)));
  status.set_passed(static_cast<uint32_t>(row.integer(6)));
  status.set_failed(static_cast<uint32_t>(row.integer(7)));
  status.set_invalid(static_cast<uint32_t>(row.integer(8)));
  status.set_submitted_unix_ns(row.integer(9));
  status.set_finished_unix_ns(row.integer(10));
  status.set_clock(row.text(11));
  status.set_kernel(row.text(12));
  status.set_execution(row.text(13));
  if (!row.is_null(14)) add_verification(row, *status.mutable_verification());
  return status;
}

// The first columns of every query of planned trials.
#define HOPYARD_PLANNED_COLUMNS                                                                      \
  "t.trial_id, t.run_index, t.block, t.position, cell.case_name, cell.path, cell.workload, t.seed, " \
  "cell.kernel_name, "                                                                               \
  "(SELECT p.name FROM phase p WHERE p.campaign_no = cell.campaign_no AND t.block >= p.first_block"  \
  " AND t.block < p.first_block + p.blocks)"
constexpr int kPlannedColumns = 10;

v1::PlannedTrial planned_of(const Statement& row) {
  v1::PlannedTrial planned;
  planned.set_index(static_cast<uint32_t>(row.integer(1)));
  planned.set_block(static_cast<uint32_t>(row.integer(2)));
  planned.set_position(static_cast<uint32_t>(row.integer(3)));
  planned.set_case_name(row.text(4));
  planned.set_path(row.text(5));
  planned.set_workload(row.text(6));
  planned.set_seed(static_cast<uint64_t>(row.integer(7)));
  planned.set_kernel(row.text(8));
  planned.set_phase(row.text(9));
  return planned;
}

absl::StatusOr<std::vector<std::string>> ids_with_prefix(Connection& connection, std::string_view prefix) {
  Statement find = connection.prepare(
      "SELECT campaign_id FROM campaign WHERE substr(campaign_id, 1, length(?1)) = ?1 ORDER BY campaign_no "
      "DESC LIMIT 5");
  find.bind(prefix);
  std::vector<std::string> ids;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, find.step());
    if (!row) return ids;
    ids.push_back(find.text(0));
  }
}

absl::StatusOr<std::vector<std::string>> read_overrides(Connection& connection, std::string_view id) {
  Statement select = connection.prepare(
      "SELECT content FROM campaign_override JOIN campaign USING (campaign_no) WHERE campaign_id = ? ORDER "
      "BY seq");
  select.bind(id);
  std::vector<std::string> overrides;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return overrides;
    overrides.push_back(select.text(0));
  }
}

}  // namespace

absl::Status insert_campaign(Connection& connection, Pools& pools, const CampaignRow& campaign,
                             const std::vector<PlannedRow>& planned) {
  if (campaign.id.empty() || campaign.id == "last") {
    return absl::InvalidArgumentError("a campaign needs an id, and not \"last\"");
  }
  if (campaign_number(connection, campaign.id).ok()) {
    return absl::AlreadyExistsError(absl::StrCat("campaign \"", campaign.id, "\" is already there"));
  }
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, insert_campaign_row(connection, campaign));
  HOPYARD_RETURN_IF_ERROR(insert_phases(connection, number, campaign, planned));
  Planner planner(connection, pools, campaign.campaign, number);
  for (const PlannedRow& row : planned) HOPYARD_RETURN_IF_ERROR(planner.add(row));
  return absl::OkStatus();
}

absl::Status insert_extension(Connection& connection, Pools& pools, std::string_view id,
                              const ExtensionRow& extension, const std::vector<PlannedRow>& planned) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  HOPYARD_ASSIGN_OR_RETURN(const v1::CampaignStatus status, read_status(connection, id));
  if (!has_ended(status.state())) return absl::FailedPreconditionError("the campaign has not ended");
  HOPYARD_ASSIGN_OR_RETURN(const std::string json, to_json(extension.campaign));
  HOPYARD_RETURN_IF_ERROR(
      connection
          .prepare("UPDATE campaign SET campaign_json = ?, jobs = COALESCE(NULLIF(?, 0), jobs)"
                   " WHERE campaign_no = ?")
          .bind(json)
          .bind(extension.jobs)
          .bind(number)
          .run());
  HOPYARD_RETURN_IF_ERROR(insert_later_phase(connection, number, extension, planned));
  Planner planner(connection, pools, extension.campaign, number);
  HOPYARD_RETURN_IF_ERROR(planner.load());
  for (const PlannedRow& row : planned) HOPYARD_RETURN_IF_ERROR(planner.add(row));
  HOPYARD_RETURN_IF_ERROR(replace_figures(connection, id, {}, {}));
  return update_state(connection, id, v1::QUEUED, "");
}

absl::Status update_state(Connection& connection, std::string_view id, v1::CampaignState state,
                          std::string_view reason) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  if (state == v1::CAMPAIGN_STATE_UNSPECIFIED)
    return absl::InvalidArgumentError("a campaign's state is missing");
  const std::string word = word_of(state);
  if (!has_ended(state)) {
    HOPYARD_RETURN_IF_ERROR(
        connection.prepare("DELETE FROM verification WHERE campaign_no = ?").bind(number).run());
  }
  return connection
      .prepare("UPDATE campaign SET state = ?, reason = ?, finished_unix_ns = ? WHERE campaign_no = ?")
      .bind(word)
      .bind(reason)
      .bind_instant(has_ended(state) ? base::unix_ns() : 0)
      .bind(number)
      .run();
}

absl::Status update_execution(Connection& connection, std::string_view id, std::string_view execution,
                              std::string_view kernel) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  return connection.prepare("UPDATE campaign SET execution = ?, kernel = ? WHERE campaign_no = ?")
      .bind(execution)
      .bind(kernel)
      .bind(number)
      .run();
}

absl::Status insert_verification(Connection& connection, std::string_view id,
                                 const v1::Verification& verification) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  google::protobuf::ListValue list;
  for (const std::string& note : verification.notes()) list.add_values()->set_string_value(note);
  std::string notes;
  if (!google::protobuf::util::MessageToJsonString(list, &notes).ok())
    return absl::InvalidArgumentError("a verification's notes do not print as JSON");
  return connection
      .prepare(
          "INSERT OR REPLACE INTO verification (campaign_no, verified_unix_ns, trials, unsealed, rows, "
          "checks, "
          "figures, findings, first_finding, notes_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(number)
      .bind(verification.verified_unix_ns())
      .bind(verification.trials())
      .bind(verification.unsealed())
      .bind(verification.rows())
      .bind(verification.checks())
      .bind(verification.figures())
      .bind(verification.findings())
      .bind(verification.first_finding())
      .bind(notes)
      .run();
}

absl::StatusOr<int64_t> campaign_number(Connection& connection, std::string_view id) {
  Statement find = connection.prepare("SELECT campaign_no FROM campaign WHERE campaign_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(id).step());
  if (!found) return no_campaign(id);
  return find.integer(0);
}

absl::StatusOr<std::string> resolve_reference(Connection& connection, std::string_view reference) {
  if (reference.empty() || reference == "last") {
    Statement last = connection.prepare("SELECT campaign_id FROM campaign ORDER BY campaign_no DESC LIMIT 1");
    HOPYARD_ASSIGN_OR_RETURN(const bool found, last.step());
    if (!found) return absl::NotFoundError("no campaign yet");
    return last.text(0);
  }
  const absl::Status exact = campaign_number(connection, reference).status();
  if (exact.ok()) return std::string(reference);
  if (!absl::IsNotFound(exact)) return exact;
  HOPYARD_ASSIGN_OR_RETURN(const std::vector<std::string> ids, ids_with_prefix(connection, reference));
  if (ids.empty()) return no_campaign(reference);
  if (ids.size() == 1) return ids.front();
  return absl::InvalidArgumentError(
      absl::StrCat("campaign \"", view(reference), "\" could be ", absl::StrJoin(ids, ", ")));
}

absl::StatusOr<CampaignRow> read_campaign(Connection& connection, std::string_view id) {
  Statement select = connection.prepare(
      "SELECT campaign_id, file, yaml, yaml_sha256, campaign_json, jobs, submitted_unix_ns FROM campaign"
      " WHERE campaign_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, select.bind(id).step());
  if (!found) return no_campaign(id);
  CampaignRow row;
  row.id = select.text(0);
  row.file = select.text(1);
  row.text = select.text(2);
  row.text_sha256 = select.text(3);
  HOPYARD_ASSIGN_OR_RETURN(row.campaign, from_json(select.text(4)));
  row.jobs = static_cast<uint32_t>(select.integer(5));
  row.submitted_unix_ns = select.integer(6);
  HOPYARD_ASSIGN_OR_RETURN(row.overrides, read_overrides(connection, id));
  return row;
}

absl::StatusOr<v1::CampaignStatus> read_status(Connection& connection, std::string_view id) {
  static const std::string sql = absl::StrCat(kStatusColumns, " WHERE campaign_id = ?");
  Statement select = connection.prepare(sql.c_str());
  HOPYARD_ASSIGN_OR_RETURN(const bool found, select.bind(id).step());
  if (!found) return no_campaign(id);
  return status_of(select);
}

absl::StatusOr<std::vector<v1::CampaignStatus>> read_statuses(Connection& connection) {
  static const std::string sql = absl::StrCat(
      kStatusColumns,
      " ORDER BY (SELECT campaign_no FROM campaign c WHERE c.campaign_id = v_campaign.campaign_id) DESC");
  Statement select = connection.prepare(sql.c_str());
  std::vector<v1::CampaignStatus> statuses;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return statuses;
    statuses.push_back(status_of(select));
  }
}

// A trial whose client stopped before a response's end adds nothing.
absl::StatusOr<v1::Pace> read_pace(Connection& connection, std::string_view id) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  Statement select = connection.prepare(
      "WITH ran AS (SELECT recorded_unix_ns AS recorded_ns, MIN(recorded_unix_ns) OVER () AS first_ns,"
      " (SELECT MAX(complete_ns) FROM response r WHERE r.trial_no = o.trial_no) - connect_start_ns AS "
      "length_ns"
      " FROM cell JOIN trial USING (cell_no) JOIN outcome o USING (trial_no) LEFT JOIN client USING "
      "(trial_no)"
      " WHERE campaign_no = ?)"
      " SELECT COUNT(*), COALESCE(SUM(length_ns), 0), COALESCE(MAX(recorded_ns - first_ns), 0)"
      " FROM ran WHERE recorded_ns > first_ns");
  HOPYARD_RETURN_IF_ERROR(select.bind(number).step().status());
  v1::Pace pace;
  pace.set_trials(static_cast<uint32_t>(select.integer(0)));
  pace.set_connection_ns(select.integer(1));
  pace.set_wall_ns(select.integer(2));
  return pace;
}

absl::StatusOr<std::vector<PlannedRow>> read_planned(Connection& connection, std::string_view id,
                                                     bool only_without_outcome) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  Statement select = connection.prepare(
      "SELECT " HOPYARD_PLANNED_COLUMNS
      " FROM cell JOIN trial t USING (cell_no) LEFT JOIN outcome o USING (trial_no)"
      " WHERE cell.campaign_no = ? AND (o.trial_no IS NULL OR NOT ?) ORDER BY t.run_index, t.trial_no");
  select.bind(number).bind(only_without_outcome);
  std::vector<PlannedRow> rows;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return rows;
    rows.push_back({select.text(0), planned_of(select)});
  }
}

absl::StatusOr<std::vector<v1::TrialOutcome>> read_outcomes(Connection& connection, std::string_view id) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  Statement select =
      connection.prepare("SELECT " HOPYARD_PLANNED_COLUMNS
                         ", o.verdict, o.reason, o.finished_ns - o.started_ns"
                         " FROM cell JOIN trial t USING (cell_no) JOIN outcome o USING (trial_no)"
                         " WHERE cell.campaign_no = ? ORDER BY t.run_index, t.trial_no");
  select.bind(number);
  std::vector<v1::TrialOutcome> outcomes;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return outcomes;
    v1::TrialOutcome& outcome = outcomes.emplace_back();
    outcome.set_trial_id(select.text(0));
    *outcome.mutable_trial() = planned_of(select);
    outcome.set_verdict(verdict_of(select.view(kPlannedColumns)));
    outcome.set_reason(select.text(kPlannedColumns + 1));
    outcome.set_wall_ns(select.integer(kPlannedColumns + 2));
  }
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> read_builds(Connection& connection,
                                                                             std::string_view id) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t number, campaign_number(connection, id));
  Statement select = connection.prepare(
      "SELECT DISTINCT b.variant, b.sha256 FROM cell JOIN trial t USING (cell_no) JOIN outcome o USING "
      "(trial_no)"
      " JOIN server_build b USING (build_no) WHERE cell.campaign_no = ? ORDER BY 1, 2");
  select.bind(number);
  std::vector<std::pair<std::string, std::string>> builds;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return builds;
    builds.emplace_back(select.text(0), select.text(1));
  }
}

absl::StatusOr<v1::PlannedTrial> read_planned_trial(Connection& connection, std::string_view trial_id) {
  Statement select = connection.prepare("SELECT " HOPYARD_PLANNED_COLUMNS
                                        " FROM trial t JOIN cell USING (cell_no) WHERE t.trial_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, select.bind(trial_id).step());
  if (!found) return absl::NotFoundError(absl::StrCat("no trial \"", view(trial_id), "\""));
  return planned_of(select);
}

}  // namespace hopyard::store
