// SPDX-License-Identifier: Apache-2.0
// See differences.h.
#include "report/differences.h"

#include <algorithm>

#include "fmt/format.h"
#include "report/chart_table.h"

namespace hopyard::report {
namespace {

std::string p_cell(double p) {
  return fmt::format("<data class=\"p\" value=\"{}\">{}</data>", p,
                     p < 0.0001 ? "&lt; 0.0001" : fmt::format("{:.4f}", p));
}

// What pairs and interactions have alike, from n to the interval.
template <typename Figure>
std::vector<std::string> estimate_cells(const Model& model, const Figure& f, const std::string& label) {
  return {escaped(group_of(model, f)),
          escaped(label),
          counted("n", f.n()),
          exact_ms("hl", f.hl_ns()),
          exact_ms("low", given(f.has_ci_low_ns(), f.ci_low_ns())),
          exact_ms("high", given(f.has_ci_high_ns(), f.ci_high_ns()))};
}

std::vector<Table::Column> columns_of(const char* second) {
  return {
      {"path"},     {second},         {"n", true},       {"Hodges–Lehmann", true}, {"95 % from", true},
      {"to", true}, {"median", true}, {"earlier", true}, {"later", true},          {"signed-rank p", true}};
}

std::string equivalence_words(const v1::PairFigure& pair) {
  if (!pair.has_equivalence()) return "";
  const v1::EquivalenceFigure& e = pair.equivalence();
  return fmt::format("{} within {} ms (p {:.4f})", e.equivalent() ? "shown" : "not shown",
                     milliseconds(static_cast<double>(e.margin_ns())),
                     std::max(e.p_above_low(), e.p_below_high()));
}

void write_pair_table(const Model& model, const Milestone& milestone, Output& out) {
  auto columns = columns_of("difference");
  const bool equivalence = std::any_of(milestone.pairs.begin(), milestone.pairs.end(),
                                       [](const auto* pair) { return pair->has_equivalence(); });
  if (equivalence) columns.push_back({"equivalence"});
  Table table(
      out, "pairs",
      fmt::format(
          "View <code>v_pair</code>, metric <code>{}</code>; ms, second case less first, over blocks in "
          "which both trials passed",
          escaped(milestone.metric)),
      columns);
  std::string path;
  for (const v1::PairFigure* pair : milestone.pairs) {
    const std::string label = pair->case_b() + " − " + pair->case_a();
    const std::string group = group_of(model, *pair);
    auto cells = estimate_cells(model, *pair, label);
    cells.insert(cells.end(), {exact_ms("median-difference", pair->median_diff_ns()),
                               counted("negative", pair->negative()), counted("positive", pair->positive()),
                               p_cell(pair->p_value())});
    if (equivalence) cells.push_back(equivalence_words(*pair));
    table.row(row_attributes(group, label, "", group != path), cells);
    path = group;
  }
}

void write_interaction_table(const Model& model, const Milestone& milestone, Output& out) {
  Table table(
      out, "interactions",
      fmt::format(
          "View <code>v_interaction</code>, metric <code>{}</code>; ms: (both − second) − (first − neither), "
          "over blocks in which all four trials passed",
          escaped(milestone.metric)),
      columns_of("factorial"));
  std::string path;
  for (const v1::InteractionFigure* one : milestone.interactions) {
    const std::string label = one->factorial();
    const std::string group = group_of(model, *one);
    auto cells = estimate_cells(model, *one,
                                fmt::format("{}: ({} − {}) − ({} − {})", label, one->both(), one->second(),
                                            one->first(), one->neither()));
    cells.insert(cells.end(),
                 {exact_ms("median-difference", one->median_ns()), counted("negative", one->negative()),
                  counted("positive", one->positive()), p_cell(one->p_value())});
    table.row(row_attributes(group, label, "", group != path), cells);
    path = group;
  }
}

}  // namespace

void write_differences(const Model& model, const Milestone& milestone, size_t place, Output& out) {
  if (!milestone.pairs.empty()) {
    out.put("<figure>\n");
    write_plot(milestone, place, "pairs", "Paired differences",
               "One row a pair of cases on a path: estimate, 95 % interval and the line of no difference. "
               "The table below has the figures.",
               out);
    write_pair_table(model, milestone, out);
    out.put("</figure>\n");
  }
  if (milestone.interactions.empty()) return;
  out.put("<figure>\n");
  write_plot(milestone, place, "interactions", "Interactions",
             "One row a factorial on a path: estimate, 95 % interval and the line of no interaction. "
             "The table below has the figures.",
             out);
  write_interaction_table(model, milestone, out);
  out.put("</figure>\n");
}

}  // namespace hopyard::report
