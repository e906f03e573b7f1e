// SPDX-License-Identifier: Apache-2.0
// The cross product, whole or in the parts that each phase's `cells` names.
#include "plan/cells.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

#include "hopyard/v1/campaign.pb.h"

namespace hopyard::plan {
namespace {

using Index = std::unordered_map<std::string, int>;

template <typename Items>
Index index_of(const Items& items) {
  Index index;
  for (int i = 0; i < items.size(); ++i) index.emplace(items[i].name(), i);
  return index;
}

// The indexes of `names`; of everything if there are none.
template <typename Names>
std::vector<int> chosen(const Names& names, const Index& index, int size) {
  std::vector<int> result;
  if (names.empty()) {
    result.resize(static_cast<size_t>(size));
    std::iota(result.begin(), result.end(), 0);
  }
  for (const auto& name : names) {
    const auto found = index.find(name);
    if (found != index.end()) result.push_back(found->second);
  }
  return result;
}

double share(int named, int all) { return named == 0 ? all : named; }

using CellList = google::protobuf::RepeatedPtrField<v1::Cells>;
using Repetitions = std::map<std::array<int, 3>, uint32_t>;

std::vector<Cell> cells_from(const Repetitions& repetitions) {
  std::vector<Cell> cells;
  for (const auto& [at, times] : repetitions) cells.push_back({at[0], at[1], at[2], times});
  return cells;
}

class Chooser {
 public:
  explicit Chooser(const v1::Campaign& campaign)
      : campaign_(campaign),
        cases_(index_of(campaign.cases())),
        paths_(index_of(campaign.paths())),
        workloads_(index_of(campaign.workloads())) {}

  std::vector<Cell> cells_of(const CellList& parts, uint32_t repetitions) const {
    Repetitions found;
    if (parts.empty()) add(v1::Cells(), repetitions, found);
    for (const v1::Cells& part : parts) add(part, repetitions, found);
    return cells_from(found);
  }

  double named(const CellList& parts) const {
    if (parts.empty()) return product(v1::Cells());
    double sum = 0;
    for (const v1::Cells& part : parts) sum += product(part);
    return sum;
  }

 private:
  void add(const v1::Cells& part, uint32_t repetitions, Repetitions& found) const {
    const uint32_t times = part.has_repetitions() ? part.repetitions() : repetitions;
    for (const int path : chosen(part.paths(), paths_, campaign_.paths_size())) {
      for (const int workload : chosen(part.workloads(), workloads_, campaign_.workloads_size())) {
        for (const int the_case : chosen(part.cases(), cases_, campaign_.cases_size())) {
          uint32_t& most = found[{path, workload, the_case}];
          most = std::max(most, times);
        }
      }
    }
  }

  double product(const v1::Cells& part) const {
    return share(part.paths_size(), campaign_.paths_size()) *
           share(part.workloads_size(), campaign_.workloads_size()) *
           share(part.cases_size(), campaign_.cases_size());
  }

  const v1::Campaign& campaign_;
  const Index cases_;
  const Index paths_;
  const Index workloads_;
};

void add_phase(Phase phase, std::vector<Phase>& phases) {
  if (!phases.empty()) phase.first_block = phases.back().first_block + phases.back().blocks;
  for (const Cell& cell : phase.cells) phase.blocks = std::max(phase.blocks, cell.repetitions);
  phases.push_back(std::move(phase));
}

}  // namespace

std::vector<Phase> phases_of(const v1::Campaign& campaign) {
  const Chooser chooser(campaign);
  std::vector<Phase> phases;
  add_phase({.name = kInitialPhase,
             .seed = campaign.seed(),
             .cells = chooser.cells_of(campaign.cells(), campaign.repetitions())},
            phases);
  for (const v1::Extension& extension : campaign.extensions()) {
    add_phase({.name = extension.name(),
               .note = extension.note(),
               .seed = extension.has_seed() ? extension.seed() : campaign.seed(),
               .cells = chooser.cells_of(extension.cells(), extension.repetitions())},
              phases);
  }
  return phases;
}

std::vector<Cell> cells_in_all(const std::vector<Phase>& phases) {
  Repetitions sums;
  for (const Phase& phase : phases) {
    for (const Cell& cell : phase.cells) sums[{cell.path, cell.workload, cell.the_case}] += cell.repetitions;
  }
  return cells_from(sums);
}

double cells_named(const v1::Campaign& campaign) {
  const Chooser chooser(campaign);
  double sum = chooser.named(campaign.cells());
  for (const v1::Extension& extension : campaign.extensions()) sum += chooser.named(extension.cells());
  return sum;
}

}  // namespace hopyard::plan
