// SPDX-License-Identifier: Apache-2.0
// The figures of compared cases, as given. See figures.h.
#include "store/campaigns.h"
#include "store/figures.h"
#include "store/sqlite.h"

namespace hopyard::store {
namespace {

// Inserts the part that every figure of differences has, after what the caller has bound.
template <typename Figure>
void bind_figure(Statement& insert, const Figure& figure, double median_ns) {
  insert.bind(figure.path()).bind(figure.workload()).bind(figure.metric()).bind(figure.kernel());
  insert.bind(figure.clock()).bind(figure.execution()).bind(figure.n()).bind(median_ns).bind(figure.hl_ns());
  figure.has_ci_low_ns() ? insert.bind(figure.ci_low_ns()) : insert.bind_null();
  figure.has_ci_high_ns() ? insert.bind(figure.ci_high_ns()) : insert.bind_null();
  insert.bind(figure.negative()).bind(figure.positive()).bind(figure.p_value());
}

absl::Status insert_pairs(Connection& connection, int64_t campaign,
                          const std::vector<v1::PairFigure>& pairs) {
  Statement insert = connection.prepare(
      "INSERT OR REPLACE INTO pair_figure (campaign_no, case_a, case_b, path, workload, metric, kernel, "
      "clock,"
      " execution, n, median_diff_ns, hl_ns, ci_low_ns, ci_high_ns, negative, positive, p_value, margin_ns,"
      " p_above_low, p_below_high, equivalent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "?, ?, ?)");
  for (const v1::PairFigure& pair : pairs) {
    insert.bind(campaign).bind(pair.case_a()).bind(pair.case_b());
    bind_figure(insert, pair, pair.median_diff_ns());
    if (pair.has_equivalence()) {
      const v1::EquivalenceFigure& test = pair.equivalence();
      insert.bind(test.margin_ns())
          .bind(test.p_above_low())
          .bind(test.p_below_high())
          .bind(test.equivalent());
    } else {
      insert.bind_null().bind_null().bind_null().bind_null();
    }
    HOPYARD_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

absl::Status insert_interactions(Connection& connection, int64_t campaign,
                                 const std::vector<v1::InteractionFigure>& interactions) {
  Statement insert = connection.prepare(
      "INSERT OR REPLACE INTO interaction_figure (campaign_no, factorial, neither, first, second, both, path,"
      " workload, metric, kernel, clock, execution, n, median_ns, hl_ns, ci_low_ns, ci_high_ns, negative, "
      "positive,"
      " p_value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const v1::InteractionFigure& one : interactions) {
    insert.bind(campaign).bind(one.factorial()).bind(one.neither()).bind(one.first());
    insert.bind(one.second()).bind(one.both());
    bind_figure(insert, one, one.median_ns());
    HOPYARD_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status replace_figures(Connection& connection, std::string_view campaign_id,
                             const std::vector<v1::PairFigure>& pairs,
                             const std::vector<v1::InteractionFigure>& interactions) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t campaign, campaign_number(connection, campaign_id));
  for (const char* sql : {"DELETE FROM pair_figure WHERE campaign_no = ?",
                          "DELETE FROM interaction_figure WHERE campaign_no = ?"}) {
    HOPYARD_RETURN_IF_ERROR(connection.prepare(sql).bind(campaign).run());
  }
  HOPYARD_RETURN_IF_ERROR(insert_pairs(connection, campaign, pairs));
  return insert_interactions(connection, campaign, interactions);
}

}  // namespace hopyard::store
