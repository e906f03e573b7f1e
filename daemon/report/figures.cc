// SPDX-License-Identifier: Apache-2.0
// See figures.h.
#include "report/figures.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "fmt/format.h"
#include "report/chart_table.h"
#include "report/differences.h"

namespace hopyard::report {
namespace {

constexpr std::string_view kSummarised[] = {"first_decrypted_ns", "first_body_ns", "body_8192_ns",
                                            "complete_ns"};
// Open from the start; the others when the reader wants them.
constexpr std::string_view kFirstSeen[] = {"first_decrypted_ns", "complete_ns"};

template <typename List>
bool has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// A cell's values with the places of its fastest, middle and slowest trial.
struct Extremes {
  std::string fastest, middle, slowest;
};

Extremes extremes_of(const Model& model, const CellRow& row) {
  if (row.samples == nullptr || row.samples->value_ns.empty()) return {"–", "–", "–"};
  const auto& values = row.samples->value_ns;
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  const auto link = [&](size_t place) { return trial_link(model, row.samples->trial_id[order[place]]); };
  return {link(0), link((order.size() - 1) / 2), link(order.size() - 1)};
}

// Which phases a cell's samples came from, where the campaign has several.
std::string phases_of(const v1::CellFigure& figure) {
  std::string text;
  for (const v1::PhaseFigure& phase : figure.phases())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", escaped(phase.phase()), phase.n());
  return text;
}

struct Percentile {
  const char* name;
  bool (v1::CellFigure::*present)() const;
  double (v1::CellFigure::*value)() const;
};
constexpr Percentile kPercentiles[] = {{"p90", &v1::CellFigure::has_p90_ns, &v1::CellFigure::p90_ns},
                                       {"p95", &v1::CellFigure::has_p95_ns, &v1::CellFigure::p95_ns},
                                       {"p99", &v1::CellFigure::has_p99_ns, &v1::CellFigure::p99_ns}};

// Those that at least one of the cells has.
std::vector<const Percentile*> present_in(const Milestone& milestone) {
  std::vector<const Percentile*> present;
  for (const Percentile& one : kPercentiles) {
    const auto estimable = [&](const CellRow& row) { return (row.figure->*one.present)(); };
    if (std::any_of(milestone.cells.begin(), milestone.cells.end(), estimable)) present.push_back(&one);
  }
  return present;
}

void write_cell_table(const Model& model, const Milestone& milestone, Output& out) {
  std::vector<Table::Column> columns = {{"path"}, {"case"}, {"n", true}, {"lost", true}, {"median ms", true}};
  const auto percentiles = present_in(milestone);
  for (const Percentile* one : percentiles) columns.push_back({fmt::format("{} ms", one->name), true});
  for (const char* title : {"minimum ms", "maximum ms"}) columns.push_back({title, true});
  for (const char* title : {"fastest trial", "median trial", "slowest trial"}) columns.push_back({title});
  const bool phases = std::any_of(milestone.cells.begin(), milestone.cells.end(),
                                  [](const CellRow& row) { return row.figure->phases_size() > 0; });
  if (phases) columns.push_back({"n of each phase"});
  Table table(
      out, "cells",
      fmt::format("View <code>v_cell</code>, metric <code>{}</code>; minimum and maximum are observed ones",
                  escaped(milestone.metric)),
      columns);
  std::string path;
  for (const CellRow& row : milestone.cells) {
    const v1::CellFigure& f = *row.figure;
    const Extremes trials = extremes_of(model, row);
    const std::string group = group_of(model, f);
    std::vector<std::string> cells = {escaped(group), case_cell(model, f.case_name()), counted("n", f.n()),
                                      counted("lost", f.failed()),
                                      exact_ms("median", given(f.has_median_ns(), f.median_ns()))};
    for (const Percentile* one : percentiles)
      cells.push_back(exact_ms(one->name, given((f.*one->present)(), (f.*one->value)())));
    cells.push_back(exact_ms("min", given(f.has_min_ns(), f.min_ns())));
    cells.push_back(exact_ms("max", given(f.has_max_ns(), f.max_ns())));
    cells.insert(cells.end(), {trials.fastest, trials.middle, trials.slowest});
    if (phases) cells.push_back(phases_of(f));
    const std::string more =
        fmt::format(" data-cell=\"{}\" data-tone=\"{}\"", row.cell, tone_of(model, f.case_name()));
    table.row(row_attributes(group, f.case_name(), more, group != path), cells);
    path = group;
  }
}

void write_cells(const Model& model, const Milestone& milestone, size_t place, Output& out) {
  out.put("<figure>\n");
  write_plot(milestone, place, "cells", "Every trial",
             "One dot a trial, a line at the median, rows by path and case. The table below has the figures.",
             out);
  write_cell_table(model, milestone, out);
  out.put("</figure>\n");
}

// A summary's row: one path, response and case on one host.
using SummaryKey = std::tuple<std::string, std::string, std::string>;

void write_summary_of(const Model& model, const std::string& workload, Output& out) {
  std::vector<SummaryKey> order;
  std::map<SummaryKey, std::map<std::string, const v1::CellFigure*>> rows;
  std::vector<std::string_view> shown;
  for (const Milestone& milestone : model.milestones) {
    if (milestone.workload != workload || !has(kSummarised, milestone.name)) continue;
    if (!has(shown, milestone.name)) shown.push_back(milestone.name);
    for (const CellRow& row : milestone.cells) {
      const SummaryKey key(group_of(model, *row.figure), milestone.role, row.figure->case_name());
      auto [found, fresh] = rows.try_emplace(key);
      if (fresh) order.push_back(key);
      found->second[milestone.name] = row.figure;
    }
  }
  // Paths keep their order; within one, responses.
  std::vector<std::string> groups;
  for (const auto& key : order) {
    if (!has(groups, std::get<0>(key))) groups.push_back(std::get<0>(key));
  }
  std::stable_sort(order.begin(), order.end(), [&](const SummaryKey& a, const SummaryKey& b) {
    const auto place = [&](const SummaryKey& key) {
      return std::find(groups.begin(), groups.end(), std::get<0>(key)) - groups.begin();
    };
    return place(a) < place(b);
  });
  const bool roles =
      std::any_of(order.begin(), order.end(), [](const auto& key) { return !std::get<1>(key).empty(); });
  std::vector<Table::Column> columns = {{"path"}};
  if (roles) columns.push_back({"response"});
  columns.insert(columns.end(), {{"case"}, {"n", true}, {"lost", true}});
  for (const std::string_view name : shown)
    columns.push_back({escaped(title_of({.name = std::string(name)})), true});
  Table table(
      out, "medians",
      fmt::format("Workload <code>{}</code>, median ms (view <code>v_cell</code>)", escaped(workload)),
      columns);
  std::pair<std::string, std::string> before;
  for (const SummaryKey& key : order) {
    const auto& [group, role, case_name] = key;
    const auto& figures = rows[key];
    uint32_t n = 0, lost = 0;
    for (const auto& [name, figure] : figures) {
      n = std::max(n, figure->n());
      lost = std::max(lost, figure->failed());
    }
    std::vector<std::string> cells = {escaped(group)};
    if (roles) cells.push_back(escaped(role));
    cells.insert(cells.end(), {case_cell(model, case_name), counted("n", n),
                               lost > 0 ? fmt::format("<strong>{}</strong>", lost) : "0"});
    for (const std::string_view name : shown) {
      const auto found = figures.find(std::string(name));
      const v1::CellFigure* f = found == figures.end() ? nullptr : found->second;
      cells.push_back(
          exact_ms("median", given(f != nullptr && f->has_median_ns(), f != nullptr ? f->median_ns() : 0)));
    }
    table.row(before == std::pair(group, role) ? "" : " class=\"new-path\"", cells);
    before = {group, role};
  }
}

// The samples of one row in the order of its cell's trials.
std::string aligned(const Cell& cell, const store::CellSamples& samples) {
  std::string text = "[";
  size_t next = 0;
  for (size_t i = 0; i < cell.trials.size(); ++i) {
    if (i > 0) text += ',';
    if (next < samples.trial_id.size() && samples.trial_id[next] == cell.trials[i])
      text += fmt::format("{:.0f}", samples.value_ns[next++]);
    else
      text += "null";
  }
  return text + "]";
}

}  // namespace

bool seen_first(const Milestone& milestone) { return has(kFirstSeen, milestone.name); }

std::string trial_link(const Model& model, std::string_view trial_id) {
  const std::string shown = escaped(short_id(model, trial_id));
  return fmt::format("<a class=\"id\" href=\"#timeline\" data-trial=\"{}\">{}</a>", shown, shown);
}

std::string case_cell(const Model& model, std::string_view name) {
  return fmt::format("<span class=\"key {}\" aria-hidden=\"true\"></span>{}", tone_of(model, name),
                     escaped(name));
}

void write_summary(const Model& model, Output& out) {
  if (model.milestones.empty()) out.put("<p>No trial has an outcome yet.</p>\n");
  std::string workload;
  for (const Milestone& milestone : model.milestones) {
    if (milestone.workload == workload) continue;
    workload = milestone.workload;
    write_summary_of(model, workload, out);
  }
}

void write_milestones(const Model& model, Output& out) {
  std::string workload;
  for (size_t i = 0; i < model.milestones.size(); ++i) {
    const Milestone& milestone = model.milestones[i];
    if (milestone.workload != workload) {
      workload = milestone.workload;
      out.put(fmt::format("<h3>Workload <code>{}</code></h3>\n", escaped(workload)));
    }
    out.put(fmt::format(
        "<details class=\"milestone\"{}>\n<summary><h4>{}</h4><span class=\"about\">{}</span></summary>\n",
        seen_first(milestone) ? " open" : "", escaped(title_of(milestone)), escaped(meaning_of(milestone))));
    write_cells(model, milestone, i, out);
    write_differences(model, milestone, i, out);
    out.put("</details>\n");
  }
}

void write_samples(const Model& model, Output& out) {
  out.put("\"cells\":[");
  for (size_t i = 0; i < model.cells.size(); ++i) {
    out.put(i > 0 ? ",\n[" : "[");
    for (size_t trial = 0; trial < model.cells[i].trials.size(); ++trial) {
      out.put(trial > 0 ? "," : "");
      out.put(json_text(short_id(model, model.cells[i].trials[trial])));
    }
    out.put("]");
  }
  out.put("],\n\"samples\":[");
  for (size_t i = 0; i < model.milestones.size(); ++i) {
    out.put(i > 0 ? ",\n{" : "{");
    bool first = true;
    for (const CellRow& row : model.milestones[i].cells) {
      if (row.samples == nullptr) continue;
      out.put(fmt::format("{}\"{}\":", std::exchange(first, false) ? "" : ",", row.cell));
      out.put(aligned(model.cells[row.cell], *row.samples));
    }
    out.put("}");
  }
  out.put("]");
}

}  // namespace hopyard::report
