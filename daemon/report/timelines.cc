// SPDX-License-Identifier: Apache-2.0
// See timelines.h.
#include "report/timelines.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fmt/format.h"
#include "report/trial_json.h"

namespace hopyard::report {
namespace {

// A trial that the rule asks for, before it is read.
struct Wanted {
  std::string trial_id;
  std::string group;
  std::string case_name;
  std::string rank;  // "median", "slowest", "fastest", "failed"
};

std::string group_words(const std::string& path, const std::string& workload) {
  return path + " · " + workload;
}

// The samples by which a cell's trials are ranked.
const store::CellSamples* ranking_of(const Model& model, size_t cell) {
  const std::string metric = last_completion(model.rows.campaign.campaign, model.cells[cell].workload);
  for (const Milestone& milestone : model.milestones) {
    if (milestone.metric != metric) continue;
    for (const CellRow& row : milestone.cells) {
      if (row.cell == cell && row.samples != nullptr) return row.samples;
    }
  }
  return nullptr;
}

// Trials of one rank, a cell at a time: `place(n)` of the trials in order of time.
template <typename Place>
void add_ranked(const Model& model, const char* rank, Place place, std::vector<Wanted>& wanted) {
  for (size_t cell = 0; cell < model.cells.size(); ++cell) {
    const store::CellSamples* samples = ranking_of(model, cell);
    if (samples == nullptr || samples->value_ns.empty()) continue;
    std::vector<size_t> order(samples->value_ns.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return samples->value_ns[a] < samples->value_ns[b]; });
    wanted.push_back({samples->trial_id[order[place(order.size())]],
                      group_words(model.cells[cell].path, model.cells[cell].workload),
                      model.cells[cell].case_name, rank});
  }
}

void add_lost(const Model& model, std::vector<Wanted>& wanted) {
  std::set<std::string> seen;
  for (const store::LostTrial& lost : model.rows.lost) {
    const std::string group = group_words(lost.path, lost.workload);
    if (seen.insert(group + "\n" + lost.case_name).second)
      wanted.push_back({lost.trial_id, group, lost.case_name, lost.verdict});
  }
}

// In order of importance, each trial once.
std::vector<Wanted> all_wanted(const Model& model) {
  std::vector<Wanted> wanted;
  add_ranked(
      model, "median", [](size_t n) { return (n - 1) / 2; }, wanted);
  add_lost(model, wanted);
  add_ranked(
      model, "slowest", [](size_t n) { return n - 1; }, wanted);
  add_ranked(
      model, "fastest", [](size_t) { return size_t{0}; }, wanted);
  std::set<std::string> seen;
  std::erase_if(wanted, [&](const Wanted& one) { return !seen.insert(one.trial_id).second; });
  return wanted;
}

// Groups in the campaign's order.
void sort_by_group(const Model& model, std::vector<Timeline>& all) {
  std::map<std::string, size_t> places;
  for (const Cell& cell : model.cells)
    places.try_emplace(group_words(cell.path, cell.workload), places.size());
  const auto place = [&](const Timeline& one) {
    const auto found = places.find(one.group);
    return found == places.end() ? places.size() : found->second;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Timeline& a, const Timeline& b) { return place(a) < place(b); });
}

}  // namespace

absl::StatusOr<Timelines> choose_timelines(const Model& model, const store::Store& store,
                                           size_t limit_bytes) {
  Timelines chosen;
  size_t bytes = 0;
  const std::vector<Wanted> wanted = all_wanted(model);
  chosen.wanted = wanted.size();
  for (const Wanted& one : wanted) {
    HOPYARD_ASSIGN_OR_RETURN(const v1::TrialResponse trial, store.trial(one.trial_id));
    const std::string label = fmt::format("{}, {}", one.case_name, one.rank);
    Timeline made{one.trial_id, one.group, label,
                  trial_json(trial.result(), short_id(model, one.trial_id),
                             fmt::format("{}, block {}; {}", one.group, trial.planned().block(), label))};
    bytes += made.json.size();
    if (bytes > limit_bytes && !chosen.all.empty()) break;
    chosen.all.push_back(std::move(made));
  }
  sort_by_group(model, chosen.all);
  return chosen;
}

void write_timelines(const Model& model, const Timelines& timelines, Output& out) {
  if (timelines.all.empty()) {
    out.put("<p>No trial has an outcome yet.</p>\n");
    return;
  }
  out.put(
      fmt::format("<p>This file carries {} of {} trials: of each cell the median trial by the completion of "
                  "its last response, the "
                  "first failed or invalid one, the slowest and the fastest{}. Instants are rounded to whole "
                  "microseconds.</p>\n",
                  timelines.all.size(), model.rows.status.trials(),
                  timelines.all.size() < timelines.wanted
                      ? fmt::format("; in that order, until {} of {} had filled the space set aside",
                                    timelines.all.size(), timelines.wanted)
                      : ""));
  out.put("<p class=\"controls needs-script\" hidden><label for=\"trial\">Trial <select id=\"trial\">\n");
  std::string group;
  for (const Timeline& one : timelines.all) {
    if (one.group != group)
      out.put(fmt::format("{}<optgroup label=\"{}\">\n", group.empty() ? "" : "</optgroup>\n",
                          escaped(one.group)));
    group = one.group;
    const std::string id = escaped(short_id(model, one.trial_id));
    out.put(fmt::format("<option value=\"{}\">{} · {} ({})</option>\n", id, escaped(one.group),
                        escaped(one.label), id));
  }
  out.put(
      "</optgroup></select></label></p>\n<figure><div class=\"plot\" id=\"trial-plot\"></div>"
      "<p id=\"trial-about\" role=\"status\"></p><div id=\"trial-tables\"></div></figure>\n");
}

void write_timeline_data(const Timelines& timelines, Output& out) {
  out.put("\"timelines\":[");
  for (size_t i = 0; i < timelines.all.size(); ++i) {
    out.put(i > 0 ? ",\n" : "");
    out.put(timelines.all[i].json);
  }
  out.put("]");
}

}  // namespace hopyard::report
