// SPDX-License-Identifier: Apache-2.0
// Which cells a campaign runs, how often, and in which phase. Pure; knows no order of execution.
#pragma once

#include <cstdint>
#include <string>
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

// What was submitted; extensions have names of their own.
inline constexpr char kInitialPhase[] = "initial";

// A part of the schedule with blocks of its own.
struct Phase {
  std::string name;
  std::string note;
  uint64_t seed = 0;
  uint32_t first_block = 0;
  uint32_t blocks = 0;
  // Every cell once, by path, workload, case. A cell that several entries of `cells` name has the largest of
  // their repetitions. Names that are not in the campaign are passed over.
  std::vector<Cell> cells;
};

// The initial phase, then the extensions in their order.
std::vector<Phase> phases_of(const v1::Campaign& campaign);

// Every cell of any of the phases once, in the same order, with its repetitions in all of them.
std::vector<Cell> cells_in_all(const std::vector<Phase>& phases);

// How many cells the entries of every `cells` name, counting a cell once for each entry: what phases_of
// costs.
double cells_named(const v1::Campaign& campaign);

}  // namespace hopyard::plan
