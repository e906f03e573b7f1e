// SPDX-License-Identifier: Apache-2.0
// See report_rows.h.
#include "store/report_rows.h"

#include "store/campaigns.h"
#include "store/figures.h"
#include "store/sqlite.h"

namespace hopyard::store {
namespace {

uint32_t count(const Statement& row, int column) { return static_cast<uint32_t>(row.integer(column)); }

UsedBuild build_of(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), count(row, 5)};
}

UsedHost host_of(const Statement& row) {
  return {row.text(0), row.text(1),   row.text(2),   row.text(3),
          row.text(4), count(row, 5), count(row, 6), count(row, 7)};
}

CheckTally check_of(const Statement& row) {
  return {row.text(0), count(row, 1), count(row, 2), count(row, 3)};
}

UnsupportedTally unsupported_of(const Statement& row) { return {row.text(0), count(row, 1)}; }

LostTrial lost_of(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), count(row, 4), row.text(5), row.text(6)};
}

// All rows of `sql`, whose one parameter is the campaign's id.
template <typename Row>
absl::Status read_all(Connection& connection, const char* sql, std::string_view id,
                      Row (*row_of)(const Statement&), std::vector<Row>& rows) {
  Statement select = connection.prepare(sql);
  select.bind(id);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return absl::OkStatus();
    rows.push_back(row_of(select));
  }
}

constexpr const char* kBuilds =
    "SELECT cell.case_name, b.variant, b.sha256, b.binary_sha256, b.inputs, COUNT(*)"
    " FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no) JOIN outcome o USING "
    "(trial_no)"
    " JOIN server_build b USING (build_no)"
    " WHERE c.campaign_id = ? GROUP BY cell.case_name, b.build_no ORDER BY MIN(cell.cell_no), b.build_no";

constexpr const char* kHosts =
    "SELECT h.execution, h.kernel_release, COALESCE(v.content, ''), h.clock, tool.content,"
    " SUM(o.verdict = 'passed'), SUM(o.verdict = 'failed'), SUM(o.verdict = 'invalid')"
    " FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no) JOIN outcome o USING "
    "(trial_no)"
    " JOIN host h USING (host_no) JOIN text tool ON tool.text_no = o.tool_version_text"
    " LEFT JOIN environment e ON e.trial_no = t.trial_no LEFT JOIN text v ON v.text_no = "
    "e.kernel_version_text"
    " WHERE c.campaign_id = ? GROUP BY h.host_no, v.text_no, tool.text_no ORDER BY MIN(t.run_index)";

constexpr const char* kChecks =
    "SELECT name.content, SUM(k.outcome = 1), SUM(k.outcome = 2), SUM(k.outcome = 3)"
    " FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no)"
    " JOIN evidence_check k USING (trial_no) JOIN text name ON name.text_no = k.name_text"
    " WHERE c.campaign_id = ? GROUP BY k.name_text ORDER BY MIN(k.seq), name.content";

constexpr const char* kUnsupported =
    "SELECT x.content, COUNT(DISTINCT t.trial_no)"
    " FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no)"
    " JOIN environment_line l USING (trial_no) JOIN text x ON x.text_no = l.content_text"
    " WHERE c.campaign_id = ? AND l.kind = 'unsupported' GROUP BY x.text_no ORDER BY 2 DESC, 1";

constexpr const char* kLost =
    "SELECT t.trial_id, cell.path, cell.workload, cell.case_name, t.block, o.verdict, o.reason"
    " FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no) JOIN outcome o USING "
    "(trial_no)"
    " WHERE c.campaign_id = ? AND o.verdict <> 'passed' ORDER BY t.run_index, t.trial_no";

}  // namespace

absl::StatusOr<ReportRows> read_report_rows(Connection& connection, std::string_view id) {
  ReportRows rows;
  HOPYARD_ASSIGN_OR_RETURN(rows.campaign, read_campaign(connection, id));
  HOPYARD_ASSIGN_OR_RETURN(rows.status, read_status(connection, id));
  HOPYARD_ASSIGN_OR_RETURN(rows.cells, read_cells(connection, rows.campaign));
  HOPYARD_ASSIGN_OR_RETURN(rows.samples, read_samples(connection, rows.campaign));
  HOPYARD_RETURN_IF_ERROR(read_all(connection, kBuilds, id, build_of, rows.builds));
  HOPYARD_RETURN_IF_ERROR(read_all(connection, kHosts, id, host_of, rows.hosts));
  HOPYARD_RETURN_IF_ERROR(read_all(connection, kChecks, id, check_of, rows.checks));
  HOPYARD_RETURN_IF_ERROR(read_all(connection, kUnsupported, id, unsupported_of, rows.unsupported));
  HOPYARD_RETURN_IF_ERROR(read_all(connection, kLost, id, lost_of, rows.lost));
  return rows;
}

}  // namespace hopyard::store
