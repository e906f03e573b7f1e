// SPDX-License-Identifier: Apache-2.0
// The cross product, whole or in the parts that `cells` names.
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

}  // namespace

std::vector<Cell> cells_of(const v1::Campaign& campaign) {
  const Index cases = index_of(campaign.cases());
  const Index paths = index_of(campaign.paths());
  const Index workloads = index_of(campaign.workloads());
  std::map<std::array<int, 3>, uint32_t> repetitions;
  const auto add = [&](const v1::Cells& part) {
    const uint32_t times = part.has_repetitions() ? part.repetitions() : campaign.repetitions();
    for (const int path : chosen(part.paths(), paths, campaign.paths_size())) {
      for (const int workload : chosen(part.workloads(), workloads, campaign.workloads_size())) {
        for (const int the_case : chosen(part.cases(), cases, campaign.cases_size())) {
          uint32_t& most = repetitions[{path, workload, the_case}];
          most = std::max(most, times);
        }
      }
    }
  };
  if (campaign.cells().empty()) add(v1::Cells());
  for (const v1::Cells& part : campaign.cells()) add(part);
  std::vector<Cell> cells;
  for (const auto& [at, times] : repetitions) cells.push_back({at[0], at[1], at[2], times});
  return cells;
}

double cells_named(const v1::Campaign& campaign) {
  const auto product = [&](const v1::Cells& part) {
    return share(part.paths_size(), campaign.paths_size()) *
           share(part.workloads_size(), campaign.workloads_size()) *
           share(part.cases_size(), campaign.cases_size());
  };
  if (campaign.cells().empty()) return product(v1::Cells());
  double sum = 0;
  for (const v1::Cells& part : campaign.cells()) sum += product(part);
  return sum;
}

}  // namespace hopyard::plan
