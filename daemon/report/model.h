// SPDX-License-Identifier: Apache-2.0
// The report's order of things: milestones with their cells and pairs, cells with their trials. Writes no
// markup.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "store/report_rows.h"

namespace hopyard::report {

// One cell on one kernel, clock and execution host, and its passed trials in order of blocks.
struct Cell {
  std::string path;
  std::string workload;
  std::string case_name;
  std::string kernel;
  std::string clock;
  std::string execution;
  std::vector<std::string> trials;  // ids
};

struct CellRow {
  const v1::CellFigure* figure = nullptr;
  const store::CellSamples* samples = nullptr;  // none: no trial passed
  size_t cell = 0;                              // in Model::cells
};

// One metric of one workload, over all paths and cases.
struct Milestone {
  std::string workload;
  std::string metric;
  std::string role;  // "later"; empty: the workload's only response
  std::string name;  // the metric without its role
  std::vector<CellRow> cells;
  std::vector<const v1::PairFigure*> pairs;
  std::vector<const v1::InteractionFigure*> interactions;
};

struct Model {
  const store::ReportRows& rows;
  const Figures& figures;
  std::vector<Cell> cells;
  std::vector<Milestone> milestones;  // in the order in which the campaign names workloads
  bool several_hosts = false;         // kernels, clocks or hosts: rows say which
  std::string trial_prefix;           // what all trial ids begin with: the campaign's id, or nothing
};

// Both must outlive the model.
Model arrange(const store::ReportRows& rows, const Figures& figures);

// "wan", with kernel, host and clock where the campaign has several.
std::string group_of(const Model& model, const v1::CellFigure& figure);
std::string group_of(const Model& model, const v1::PairFigure& figure);
std::string group_of(const Model& model, const v1::InteractionFigure& figure);
std::string group_of(const Model& model, const v1::CellDiagnostic& figure);
// A trial's id without the prefix.
std::string_view short_id(const Model& model, std::string_view trial_id);
// The class that gives a case its colour everywhere: "k2".
std::string tone_of(const Model& model, std::string_view case_name);
// What people call a metric, and what instant it is; the metric's own name where it is not known here.
std::string title_of(const Milestone& milestone);
std::string meaning_of(const Milestone& milestone);
// The workload's last completion, by which its trials are called fast or slow.
std::string last_completion(const v1::Campaign& campaign, std::string_view workload);

}  // namespace hopyard::report
