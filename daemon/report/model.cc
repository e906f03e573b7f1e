// SPDX-License-Identifier: Apache-2.0
// See model.h.
#include "report/model.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "fmt/format.h"

namespace hopyard::report {
namespace {

struct Words {
  std::string_view name;
  const char* title;
  const char* meaning;
};
constexpr Words kWords[] = {
    {"first_decrypted_ns", "First decrypted byte", "the response’s first byte out of decryption"},
    {"first_body_ns", "First body byte", "H1 as decrypted, H2 once its DATA frame was whole"},
    {"body_1024_ns", "1 KiB of body", "1024 body bytes delivered"},
    {"body_4096_ns", "4 KiB of body", "4096 body bytes delivered"},
    {"body_8192_ns", "8 KiB of body", "8192 body bytes delivered"},
    {"first_data_frame_ns", "First DATA frame", "the first DATA frame was whole"},
    {"complete_ns", "Complete", "the last body byte; H2: and the end of the stream"},
    {"connect_to_first_decrypted_ns", "First decrypted byte, from connect",
     "from the connection’s start: the handshake is in it"},
    {"connect_to_complete_ns", "Complete, from connect",
     "from the connection’s start: the handshake is in it"},
    {"start_from_first_ns", "Request sent", "from the first request’s write, not its own"},
    {"complete_from_first_ns", "Complete, from the first request",
     "from the first request’s write, not its own"},
};

const Words* words_of(std::string_view name) {
  for (const Words& words : kWords) {
    if (words.name == name) return &words;
  }
  return nullptr;
}

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
Key key_of(const store::CellSamples& s) {
  return {s.key.path, s.key.workload, s.case_name, s.key.kernel, s.key.clock, s.key.execution};
}
Key key_of(const v1::CellFigure& f) {
  return {f.path(), f.workload(), f.case_name(), f.kernel(), f.clock(), f.execution()};
}

std::string host_words(const std::string& kernel, const std::string& execution, const std::string& clock) {
  return fmt::format(" ({} {}, {} clock)", kernel.empty() ? "kernel not known" : kernel, execution, clock);
}

template <typename Figure>
std::string group(const Model& model, const Figure& figure) {
  if (!model.several_hosts) return figure.path();
  return figure.path() + host_words(figure.kernel(), figure.execution(), figure.clock());
}

class Arranger {
 public:
  Arranger(const store::ReportRows& rows, Model& model) : rows_(rows), model_(model) {}

  void arrange() {
    for (const v1::Workload& workload : rows_.campaign.campaign.workloads()) {
      for (const v1::CellFigure& figure : rows_.cells) {
        if (figure.workload() == workload.name()) add(figure);
      }
    }
    place(model_.figures.pairs, &Milestone::pairs);
    place(model_.figures.interactions, &Milestone::interactions);
    add_samples();
  }

 private:
  void add(const v1::CellFigure& figure) {
    const auto [place, fresh] =
        places_.try_emplace({figure.workload(), figure.metric()}, model_.milestones.size());
    if (fresh) {
      const size_t dot = figure.metric().find('.');
      Milestone& made = model_.milestones.emplace_back();
      made.workload = figure.workload();
      made.metric = figure.metric();
      made.role = dot == std::string::npos ? "" : figure.metric().substr(0, dot);
      made.name = dot == std::string::npos ? figure.metric() : figure.metric().substr(dot + 1);
    }
    const auto [cell, new_cell] = cells_.try_emplace(key_of(figure), model_.cells.size());
    if (new_cell)
      model_.cells.push_back({figure.path(),
                              figure.workload(),
                              figure.case_name(),
                              figure.kernel(),
                              figure.clock(),
                              figure.execution(),
                              {}});
    model_.milestones[place->second].cells.push_back({&figure, nullptr, cell->second});
  }

  // Figures to their milestones, in order of paths; within one their order is the given one.
  template <typename Figure>
  void place(const std::vector<Figure>& figures, std::vector<const Figure*> Milestone::*list) {
    for (const Figure& figure : figures) {
      const auto found = places_.find({figure.workload(), figure.metric()});
      if (found != places_.end()) (model_.milestones[found->second].*list).push_back(&figure);
    }
    for (Milestone& milestone : model_.milestones)
      std::stable_sort((milestone.*list).begin(), (milestone.*list).end(), [&](const auto* a, const auto* b) {
        return path_place(a->path()) < path_place(b->path());
      });
  }

  void add_samples() {
    std::map<size_t, std::map<uint32_t, std::string>> trials;  // by cell and block
    for (const store::CellSamples& samples : rows_.samples) {
      const auto cell = cells_.find(key_of(samples));
      const auto place = places_.find({samples.key.workload, samples.key.metric});
      if (cell == cells_.end() || place == places_.end()) continue;
      for (CellRow& row : model_.milestones[place->second].cells) {
        if (row.cell == cell->second) row.samples = &samples;
      }
      for (size_t i = 0; i < samples.block.size(); ++i)
        trials[cell->second].emplace(samples.block[i], samples.trial_id[i]);
    }
    for (const auto& [cell, of_cell] : trials) {
      for (const auto& [block, id] : of_cell) model_.cells[cell].trials.push_back(id);
    }
  }

  int path_place(const std::string& name) const {
    const auto& paths = rows_.campaign.campaign.paths();
    for (int i = 0; i < paths.size(); ++i) {
      if (paths[i].name() == name) return i;
    }
    return paths.size();
  }

  const store::ReportRows& rows_;
  Model& model_;
  std::map<std::pair<std::string, std::string>, size_t> places_;
  std::map<Key, size_t> cells_;
};

bool all_begin_with(const Model& model, const std::string& prefix) {
  for (const Cell& cell : model.cells) {
    for (const std::string& trial : cell.trials) {
      if (!trial.starts_with(prefix)) return false;
    }
  }
  for (const store::LostTrial& lost : model.rows.lost) {
    if (!lost.trial_id.starts_with(prefix)) return false;
  }
  return true;
}

}  // namespace

Model arrange(const store::ReportRows& rows, const Figures& figures) {
  Model model{rows, figures, {}, {}, false, ""};
  Arranger(rows, model).arrange();
  std::set<std::tuple<std::string, std::string, std::string>> hosts;
  for (const Cell& cell : model.cells) hosts.emplace(cell.kernel, cell.execution, cell.clock);
  model.several_hosts = hosts.size() > 1;
  if (all_begin_with(model, rows.campaign.id)) model.trial_prefix = rows.campaign.id;
  return model;
}

std::string group_of(const Model& model, const v1::CellFigure& figure) { return group(model, figure); }
std::string group_of(const Model& model, const v1::PairFigure& figure) { return group(model, figure); }
std::string group_of(const Model& model, const v1::InteractionFigure& figure) { return group(model, figure); }
std::string group_of(const Model& model, const v1::CellDiagnostic& figure) { return group(model, figure); }

std::string_view short_id(const Model& model, std::string_view trial_id) {
  return trial_id.substr(model.trial_prefix.size());
}

std::string tone_of(const Model& model, std::string_view case_name) {
  const auto& cases = model.rows.campaign.campaign.cases();
  int place = 0;
  while (place < cases.size() && cases[place].name() != case_name) ++place;
  return fmt::format("k{}", place % 8);
}

std::string title_of(const Milestone& milestone) {
  const Words* words = words_of(milestone.name);
  const std::string title = words != nullptr ? words->title : milestone.name;
  return milestone.role.empty() ? title : milestone.role + ": " + title;
}

std::string meaning_of(const Milestone& milestone) {
  const Words* words = words_of(milestone.name);
  return words != nullptr ? words->meaning : "";
}

std::string last_completion(const v1::Campaign& campaign, std::string_view workload) {
  for (const v1::Workload& one : campaign.workloads()) {
    if (one.name() != workload || one.requests_size() < 2) continue;
    return one.requests(one.requests_size() - 1).name() + ".complete_ns";
  }
  return "complete_ns";
}

}  // namespace hopyard::report
