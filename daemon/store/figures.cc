// SPDX-License-Identifier: Apache-2.0
// See figures.h.
#include "store/figures.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "store/campaigns.h"
#include "store/metrics.h"
#include "store/sqlite.h"

namespace hopyard::store {
namespace {

// Where a name stands in the campaign; unknown names come last.
class Order {
 public:
  explicit Order(const v1::Campaign& campaign) {
    for (const v1::Path& path : campaign.paths()) place("path", path.name());
    for (const v1::Case& one : campaign.cases()) place("case", one.name());
    for (const v1::Workload& workload : campaign.workloads()) {
      place("workload", workload.name());
      for (const std::string& metric : metric_names(workload)) place(workload.name(), metric);
      for (const v1::Request& request : workload.requests()) place(workload.name(), request.name());
    }
  }

  using Key = std::tuple<size_t, size_t, size_t, size_t, std::string, std::string, std::string>;
  Key key(const std::string& path, const std::string& workload, const std::string& case_name,
          const std::string& metric, const std::string& kernel, const std::string& clock,
          const std::string& execution) const {
    return {of("path", path),
            of("workload", workload),
            of(workload, metric),
            of("case", case_name),
            kernel,
            clock,
            execution};
  }

 private:
  void place(const std::string& kind, const std::string& name) {
    places_.try_emplace({kind, name}, places_.size());
  }
  size_t of(const std::string& kind, const std::string& name) const {
    const auto found = places_.find({kind, name});
    return found == places_.end() ? places_.size() : found->second;
  }
  std::map<std::pair<std::string, std::string>, size_t> places_;
};

template <typename Figure>
void sort_figures(std::vector<Figure>& figures, const v1::Campaign& campaign,
                  const std::string& (*case_of)(const Figure&)) {
  const Order order(campaign);
  std::stable_sort(figures.begin(), figures.end(), [&](const Figure& a, const Figure& b) {
    const auto key = [&](const Figure& f) {
      return order.key(f.path(), f.workload(), case_of(f), f.metric(), f.kernel(), f.clock(), f.execution());
    };
    return key(a) < key(b);
  });
}

template <typename Samples>
void sort_samples(std::vector<Samples>& samples, const v1::Campaign& campaign,
                  const std::string& (*case_of)(const Samples&)) {
  const Order order(campaign);
  std::stable_sort(samples.begin(), samples.end(), [&](const Samples& a, const Samples& b) {
    const auto key = [&](const Samples& s) {
      return order.key(s.key.path, s.key.workload, case_of(s), s.key.metric, s.key.kernel, s.key.clock,
                       s.key.execution);
    };
    return key(a) < key(b);
  });
}

const std::string& no_case(const PairedSamples&) {
  static const std::string none;
  return none;
}

v1::CellFigure cell_of(const Statement& row) {
  v1::CellFigure figure;
  figure.set_path(row.text(0));
  figure.set_workload(row.text(1));
  figure.set_case_name(row.text(2));
  figure.set_metric(row.text(3));
  figure.set_n(static_cast<uint32_t>(row.integer(4)));
  figure.set_failed(static_cast<uint32_t>(row.integer(5)));
  if (!row.is_null(6)) figure.set_median_ns(row.real(6));
  if (!row.is_null(7)) figure.set_p90_ns(row.real(7));
  if (!row.is_null(8)) figure.set_p95_ns(row.real(8));
  if (!row.is_null(9)) figure.set_p99_ns(row.real(9));
  if (!row.is_null(10)) figure.set_min_ns(row.real(10));
  if (!row.is_null(11)) figure.set_max_ns(row.real(11));
  figure.set_kernel(row.text(12));
  figure.set_clock(row.text(13));
  figure.set_execution(row.text(14));
  return figure;
}

// Columns of v_pair, in the order in which pair_of takes them.
constexpr absl::string_view kPairColumns =
    "path, workload, case_a, case_b, metric, n, median_diff_ns, hl_ns, ci_low_ns, ci_high_ns, negative, "
    "positive, "
    "p_value, kernel, clock, execution, margin_ns, p_above_low, p_below_high, equivalent";

v1::PairFigure pair_of(const Statement& row) {
  v1::PairFigure figure;
  figure.set_path(row.text(0));
  figure.set_workload(row.text(1));
  figure.set_case_a(row.text(2));
  figure.set_case_b(row.text(3));
  figure.set_metric(row.text(4));
  figure.set_n(static_cast<uint32_t>(row.integer(5)));
  figure.set_median_diff_ns(row.real(6));
  figure.set_hl_ns(row.real(7));
  if (!row.is_null(8)) figure.set_ci_low_ns(row.real(8));
  if (!row.is_null(9)) figure.set_ci_high_ns(row.real(9));
  figure.set_negative(static_cast<uint32_t>(row.integer(10)));
  figure.set_positive(static_cast<uint32_t>(row.integer(11)));
  figure.set_p_value(row.real(12));
  figure.set_kernel(row.text(13));
  figure.set_clock(row.text(14));
  figure.set_execution(row.text(15));
  if (row.is_null(16)) return figure;
  v1::EquivalenceFigure& equivalence = *figure.mutable_equivalence();
  equivalence.set_margin_ns(row.integer(16));
  equivalence.set_p_above_low(row.real(17));
  equivalence.set_p_below_high(row.real(18));
  equivalence.set_equivalent(row.integer(19) != 0);
  return figure;
}

v1::CellFigure no_drop_cell_of(const Statement& row) {
  v1::CellFigure figure;
  figure.set_path(row.text(0));
  figure.set_workload(row.text(1));
  figure.set_case_name(row.text(2));
  figure.set_metric(row.text(3));
  figure.set_n(static_cast<uint32_t>(row.integer(4)));
  if (!row.is_null(5)) figure.set_median_ns(row.real(5));
  if (!row.is_null(6)) figure.set_min_ns(row.real(6));
  if (!row.is_null(7)) figure.set_max_ns(row.real(7));
  figure.set_kernel(row.text(8));
  figure.set_clock(row.text(9));
  figure.set_execution(row.text(10));
  return figure;
}

v1::CellDiagnostic diagnostic_of(const Statement& row) {
  v1::CellDiagnostic diagnostic;
  diagnostic.set_path(row.text(0));
  diagnostic.set_workload(row.text(1));
  diagnostic.set_case_name(row.text(2));
  diagnostic.set_role(row.text(3));
  diagnostic.set_n(static_cast<uint32_t>(row.integer(4)));
  if (!row.is_null(5)) diagnostic.set_drops_to_server(static_cast<uint64_t>(row.integer(5)));
  if (!row.is_null(6)) diagnostic.set_drops_to_client(static_cast<uint64_t>(row.integer(6)));
  diagnostic.set_without_drops(static_cast<uint32_t>(row.integer(7)));
  diagnostic.set_median_ssl_write_retries(row.real(8));
  if (!row.is_null(9)) diagnostic.set_median_unsent_bytes(row.real(9));
  diagnostic.set_kernel(row.text(10));
  diagnostic.set_clock(row.text(11));
  diagnostic.set_execution(row.text(12));
  return diagnostic;
}

using FigureName = std::tuple<std::string, std::string, std::string, std::string>;

FigureName name_of(const v1::CellFigure& figure) {
  return {figure.path(), figure.workload(), figure.case_name(), figure.metric()};
}

// A row of v_cell_phase.
struct PhaseRow {
  std::string kernel, clock, execution;  // kernel empty: its trials ended before it was known
  v1::PhaseFigure figure;
};

absl::StatusOr<std::map<FigureName, std::vector<PhaseRow>>> read_phase_rows(Connection& connection,
                                                                            const std::string& campaign_id) {
  Statement select = connection.prepare(
      "SELECT v.path, v.workload, v.case_name, v.metric, v.kernel, v.clock, v.execution, v.phase, v.n, "
      "v.failed,"
      " v.median_ns"
      " FROM v_cell_phase v JOIN campaign c USING (campaign_id)"
      " JOIN phase p ON p.campaign_no = c.campaign_no AND p.name = v.phase WHERE v.campaign_id = ? ORDER BY "
      "p.seq");
  select.bind(campaign_id);
  std::map<FigureName, std::vector<PhaseRow>> rows;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return rows;
    PhaseRow& one = rows[{select.text(0), select.text(1), select.text(2), select.text(3)}].emplace_back();
    one.kernel = select.text(4);
    one.clock = select.text(5);
    one.execution = select.text(6);
    one.figure.set_phase(select.text(7));
    one.figure.set_n(static_cast<uint32_t>(select.integer(8)));
    one.figure.set_failed(static_cast<uint32_t>(select.integer(9)));
    if (!select.is_null(10)) one.figure.set_median_ns(select.real(10));
  }
}

// As v_cell does, what ended before its kernel was known counts as failed beside every kernel.
void add_phase(const PhaseRow& row, v1::CellFigure& figure) {
  const bool same =
      row.kernel == figure.kernel() && row.clock == figure.clock() && row.execution == figure.execution();
  if (!same && !row.kernel.empty()) return;
  for (v1::PhaseFigure& known : *figure.mutable_phases()) {
    if (known.phase() != row.figure.phase()) continue;
    const uint32_t failed = known.failed() + row.figure.failed();
    if (same) known = row.figure;
    return known.set_failed(failed);
  }
  *figure.add_phases() = row.figure;
}

absl::Status add_phases(Connection& connection, const CampaignRow& campaign,
                        std::vector<v1::CellFigure>& figures) {
  if (campaign.campaign.extensions().empty()) return absl::OkStatus();
  HOPYARD_ASSIGN_OR_RETURN(const auto rows, read_phase_rows(connection, campaign.id));
  for (v1::CellFigure& figure : figures) {
    const auto own = rows.find(name_of(figure));
    if (own == rows.end()) continue;
    for (const PhaseRow& row : own->second) add_phase(row, figure);
  }
  return absl::OkStatus();
}

v1::InteractionFigure interaction_of(const Statement& row) {
  v1::InteractionFigure figure;
  figure.set_path(row.text(0));
  figure.set_workload(row.text(1));
  figure.set_factorial(row.text(2));
  figure.set_neither(row.text(3));
  figure.set_first(row.text(4));
  figure.set_second(row.text(5));
  figure.set_both(row.text(6));
  figure.set_metric(row.text(7));
  figure.set_n(static_cast<uint32_t>(row.integer(8)));
  figure.set_median_ns(row.real(9));
  figure.set_hl_ns(row.real(10));
  if (!row.is_null(11)) figure.set_ci_low_ns(row.real(11));
  if (!row.is_null(12)) figure.set_ci_high_ns(row.real(12));
  figure.set_negative(static_cast<uint32_t>(row.integer(13)));
  figure.set_positive(static_cast<uint32_t>(row.integer(14)));
  figure.set_p_value(row.real(15));
  figure.set_kernel(row.text(16));
  figure.set_clock(row.text(17));
  figure.set_execution(row.text(18));
  return figure;
}

// Every row of `select` as a figure.
template <typename Figure>
absl::StatusOr<std::vector<Figure>> read_all(Statement& select, Figure (*figure_of)(const Statement&)) {
  std::vector<Figure> figures;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return figures;
    figures.push_back(figure_of(select));
  }
}

const std::string& own_case(const v1::CellFigure& figure) { return figure.case_name(); }

const std::string& first_case(const v1::PairFigure& figure) { return figure.case_a(); }

CellKey key_of(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
}

absl::Status must_have_case(const CampaignRow& campaign, std::string_view name) {
  for (const v1::Case& one : campaign.campaign.cases()) {
    if (one.name() == name) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("campaign \"", campaign.id, "\" has no case \"",
                                                 absl::string_view(name.data(), name.size()), "\""));
}

}  // namespace

absl::StatusOr<std::vector<v1::CellFigure>> read_cells(Connection& connection, const CampaignRow& campaign) {
  Statement select = connection.prepare(
      "SELECT path, workload, case_name, metric, n, failed, median_ns, p90_ns, p95_ns, p99_ns, min_ns, "
      "max_ns, kernel,"
      " clock, execution FROM v_cell WHERE campaign_id = ?");
  select.bind(campaign.id);
  HOPYARD_ASSIGN_OR_RETURN(auto figures, read_all(select, cell_of));
  HOPYARD_RETURN_IF_ERROR(add_phases(connection, campaign, figures));
  sort_figures(figures, campaign.campaign, own_case);
  return figures;
}

absl::StatusOr<std::vector<v1::CellFigure>> read_no_drop_cells(Connection& connection,
                                                               const CampaignRow& campaign) {
  Statement select = connection.prepare(
      "SELECT path, workload, case_name, metric, n, median_ns, min_ns, max_ns, kernel, clock, execution"
      " FROM v_cell_no_drop WHERE campaign_id = ?");
  select.bind(campaign.id);
  HOPYARD_ASSIGN_OR_RETURN(auto figures, read_all(select, no_drop_cell_of));
  sort_figures(figures, campaign.campaign, own_case);
  return figures;
}

absl::StatusOr<std::vector<v1::CellDiagnostic>> read_diagnostics(Connection& connection,
                                                                 const CampaignRow& campaign) {
  Statement select = connection.prepare(
      "SELECT path, workload, case_name, role, n, drops_to_server, drops_to_client, without_drops,"
      " median_ssl_write_retries, median_unsent_bytes, kernel, clock, execution"
      " FROM v_cell_diagnostic WHERE campaign_id = ?");
  select.bind(campaign.id);
  HOPYARD_ASSIGN_OR_RETURN(auto all, read_all(select, diagnostic_of));
  const Order order(campaign.campaign);
  const auto key = [&](const v1::CellDiagnostic& d) {
    return order.key(d.path(), d.workload(), d.case_name(), d.role(), d.kernel(), d.clock(), d.execution());
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return all;
}

absl::StatusOr<std::vector<CellSamples>> read_samples(Connection& connection, const CampaignRow& campaign) {
  Statement select = connection.prepare(
      "SELECT cell.path, cell.workload, m.name, h.kernel_release, h.clock, h.execution, cell.case_name, "
      "t.block,"
      " s.value_ns, s.cell_no, s.metric_no, s.host_no, t.trial_id"
      " FROM campaign c JOIN cell USING (campaign_no) JOIN sample s USING (cell_no) JOIN metric m USING "
      "(metric_no)"
      " JOIN host h USING (host_no) JOIN trial t USING (trial_no)"
      " WHERE c.campaign_id = ? ORDER BY s.cell_no, s.metric_no, s.host_no, t.block");
  select.bind(campaign.id);
  std::vector<CellSamples> all;
  std::tuple<int64_t, int64_t, int64_t> current;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    const std::tuple here(select.integer(9), select.integer(10), select.integer(11));
    if (all.empty() || here != current) {
      current = here;
      all.push_back({key_of(select), select.text(6), {}, {}, {}});
    }
    all.back().block.push_back(static_cast<uint32_t>(select.integer(7)));
    all.back().value_ns.push_back(select.real(8));
    all.back().trial_id.push_back(select.text(12));
  }
  sort_samples<CellSamples>(all, campaign.campaign,
                            [](const CellSamples& s) -> const std::string& { return s.case_name; });
  return all;
}

absl::StatusOr<std::vector<PairedSamples>> read_paired_samples(Connection& connection,
                                                               const CampaignRow& campaign,
                                                               std::string_view case_a,
                                                               std::string_view case_b) {
  HOPYARD_RETURN_IF_ERROR(must_have_case(campaign, case_a));
  HOPYARD_RETURN_IF_ERROR(must_have_case(campaign, case_b));
  Statement select = connection.prepare(
      "SELECT a.path, a.workload, m.name, h.kernel_release, h.clock, h.execution, ta.block, sa.value_ns, "
      "sb.value_ns,"
      " a.cell_no, sa.metric_no, sa.host_no"
      " FROM campaign c JOIN cell a USING (campaign_no)"
      " JOIN cell b ON b.campaign_no = a.campaign_no AND b.path = a.path AND b.workload = a.workload"
      "   AND b.kernel_name = a.kernel_name"
      " JOIN sample sa ON sa.cell_no = a.cell_no JOIN trial ta ON ta.trial_no = sa.trial_no"
      " JOIN trial tb ON tb.cell_no = b.cell_no AND tb.block = ta.block"
      " JOIN sample sb ON sb.cell_no = b.cell_no AND sb.metric_no = sa.metric_no AND sb.host_no = sa.host_no"
      "   AND sb.trial_no = tb.trial_no"
      " JOIN metric m ON m.metric_no = sa.metric_no JOIN host h ON h.host_no = sa.host_no"
      " WHERE c.campaign_id = ? AND a.case_name = ? AND b.case_name = ?"
      " ORDER BY a.cell_no, sa.metric_no, sa.host_no, ta.block");
  select.bind(campaign.id).bind(case_a).bind(case_b);
  std::vector<PairedSamples> all;
  std::tuple<int64_t, int64_t, int64_t> current;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    const std::tuple here(select.integer(9), select.integer(10), select.integer(11));
    if (all.empty() || here != current) {
      current = here;
      all.push_back({key_of(select), {}, {}, {}});
    }
    all.back().block.push_back(static_cast<uint32_t>(select.integer(6)));
    all.back().a_ns.push_back(select.real(7));
    all.back().b_ns.push_back(select.real(8));
  }
  sort_samples<PairedSamples>(all, campaign.campaign, no_case);
  return all;
}

absl::StatusOr<std::vector<v1::PairFigure>> read_pairs(Connection& connection, const CampaignRow& campaign,
                                                       std::string_view case_a, std::string_view case_b) {
  HOPYARD_RETURN_IF_ERROR(must_have_case(campaign, case_a));
  HOPYARD_RETURN_IF_ERROR(must_have_case(campaign, case_b));
  Statement select = connection.prepare_once(absl::StrCat(
      "SELECT ", kPairColumns, " FROM v_pair WHERE campaign_id = ? AND case_a = ? AND case_b = ?"));
  select.bind(campaign.id).bind(case_a).bind(case_b);
  HOPYARD_ASSIGN_OR_RETURN(auto figures, read_all(select, pair_of));
  sort_figures(figures, campaign.campaign, first_case);
  return figures;
}

absl::StatusOr<std::vector<v1::PairFigure>> read_equivalences(Connection& connection,
                                                              const CampaignRow& campaign) {
  Statement select = connection.prepare_once(
      absl::StrCat("SELECT ", kPairColumns, " FROM v_pair WHERE campaign_id = ? AND margin_ns IS NOT NULL"));
  select.bind(campaign.id);
  HOPYARD_ASSIGN_OR_RETURN(auto figures, read_all(select, pair_of));
  sort_figures(figures, campaign.campaign, first_case);
  return figures;
}

absl::StatusOr<std::vector<v1::InteractionFigure>> read_interactions(Connection& connection,
                                                                     const CampaignRow& campaign) {
  Statement select = connection.prepare(
      "SELECT path, workload, factorial, neither, first, second, both, metric, n, median_ns, hl_ns, "
      "ci_low_ns,"
      " ci_high_ns, negative, positive, p_value, kernel, clock, execution FROM v_interaction"
      " WHERE campaign_id = ?");
  select.bind(campaign.id);
  HOPYARD_ASSIGN_OR_RETURN(auto figures, read_all(select, interaction_of));
  sort_figures<v1::InteractionFigure>(
      figures, campaign.campaign,
      [](const v1::InteractionFigure& f) -> const std::string& { return f.neither(); });
  // One factorial after the other.
  const auto& four = campaign.campaign.factorials();
  const auto place = [&](const v1::InteractionFigure& figure) {
    return std::find_if(four.begin(), four.end(),
                        [&](const v1::Factorial& one) { return one.name() == figure.factorial(); }) -
           four.begin();
  };
  std::stable_sort(figures.begin(), figures.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return figures;
}

}  // namespace hopyard::store
