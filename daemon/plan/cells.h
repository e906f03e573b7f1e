// SPDX-License-Identifier: Apache-2.0
// Which cells a campaign runs, and how often. Pure; knows no order of execution.
#pragma once

#include <cstdint>
#include <vector>

namespace hopyard::v1 {
class Campaign;
}  // namespace hopyard::v1

namespace hopyard::plan {

// Indexes into the campaign's lists.
struct Cell {
  int path = 0;
  int workload = 0;
  int the_case = 0;
  uint32_t repetitions = 0;
};

// Every cell once, by path, workload, case. A cell that several entries of `cells` name has the largest of
// their repetitions. Names that are not in the campaign are passed over.
std::vector<Cell> cells_of(const v1::Campaign& campaign);

// How many cells the entries of `cells` name, counting a cell once for each entry: what cells_of costs.
double cells_named(const v1::Campaign& campaign);

}  // namespace hopyard::plan
