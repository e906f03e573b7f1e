// SPDX-License-Identifier: Apache-2.0
// Seals a recorded trial: digests of all its rows, table by table, in the form docs/schema.md gives under
// `trial_seal`. Knows no table by name but those that many trials share.
#pragma once

#include <string>
#include <vector>

#include "store/sqlite.h"

namespace hopyard::store {

// Of one connection's database. Must outlive the connection, which keeps its statements.
class Sealer {
 public:
  // Inside the transaction that wrote the trial's rows, after all of them.
  absl::Status seal(Connection& connection, std::string_view trial_id);

 private:
  struct Table {
    std::string name;
    std::string select;               // the rows of trial ?1 in order of the primary key
    std::vector<std::string> labels;  // of the columns it gives
  };
  absl::Status learn(Connection& connection);
  absl::Status seal_table(Connection& connection, const Table& table, int64_t trial);

  std::vector<Table> tables_;  // every table with a column trial_no; empty until they were looked up
};

}  // namespace hopyard::store
