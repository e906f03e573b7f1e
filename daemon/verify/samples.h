// SPDX-License-Identifier: Apache-2.0
// Every passed trial's durations, out of its responses, and the figures they make.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/sqlite.h"
#include "verify/checks.h"
#include "verify/findings.h"
#include "verify/rows.h"

namespace hopyard::verify {

struct Host {
  std::string kernel, clock, execution;
  auto operator<=>(const Host&) const = default;
};

// Where samples are put together: one cell (by its number) on one host.
struct CellHost {
  int64_t cell_no = 0;
  int64_t host_no = 0;
  auto operator<=>(const CellHost&) const = default;
};

struct Cell {
  std::string path, workload, case_name, kernel_name;
  std::vector<std::string> metrics;  // that it can show

  // Cells that are compared differ in the case alone.
  bool same_place(const Cell& other) const {
    return path == other.path && workload == other.workload && kernel_name == other.kernel_name;
  }
};

class Samples {
 public:
  // Takes a trial with its evidence, and compares its stored samples with what follows from it.
  absl::Status take(store::Connection& connection, const Subject& subject, Findings& findings);

  // figures.cc. Compare v_cell, v_pair and v_interaction with what follows; return how many numbers were
  // compared.
  absl::StatusOr<uint64_t> check_cells(store::Connection& connection, const Asked& asked,
                                       Findings& findings) const;
  absl::StatusOr<uint64_t> check_pairs(store::Connection& connection, const Asked& asked,
                                       Findings& findings) const;
  absl::StatusOr<uint64_t> check_interactions(store::Connection& connection, const Asked& asked,
                                              Findings& findings) const;

 private:
  struct Counted {
    uint64_t lost = 0;                                         // failed and invalid trials
    std::map<std::string, std::map<int64_t, int64_t>> values;  // by metric, by block
    std::optional<int64_t> at(const std::string& metric, int64_t block) const;
  };
  const Counted* of_case(const CellHost& at, const std::string& case_name) const;
  uint64_t lost_beside(const CellHost& at) const;
  bool has_known_kernel(int64_t cell_no) const;

  std::map<int64_t, Cell> cells_;
  std::map<int64_t, Host> hosts_;
  std::map<CellHost, Counted> counted_;
};

// Names of what every workload's trials can show (a later version adds some): the times of v_response, with
// the request's name in front where there is more than one, and later requests' times from the first.
std::vector<std::string> metrics_of(const AskedWorkload& workload);

}  // namespace hopyard::verify
