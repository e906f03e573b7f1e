// SPDX-License-Identifier: Apache-2.0
// Takes the digests of a trial's rows again and compares them with those stored when it was recorded. Written
// from docs/schema.md, not from the code that sealed.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/digest.h"
#include "store/sqlite.h"
#include "verify/findings.h"

namespace hopyard::verify {

class Seals {
 public:
  explicit Seals(store::Connection& connection) : connection_(connection) {}

  // False: the trial has none. Findings name the row where it can be told which one differs.
  absl::StatusOr<bool> check(int64_t trial, Findings& findings);

 private:
  struct Column {
    std::string name;
    std::string shared;  // the table a number refers to; empty: the value is its own
  };
  struct Table {
    std::string name;
    std::string select;
    std::vector<Column> columns;
    std::vector<size_t> key;  // places in `columns`, without trial_no
  };
  // The rows of one table as they are now.
  struct Now {
    std::string sha256;
    std::string marks;
    std::vector<std::string> rows;  // their names
  };
  struct Stored {
    std::string sha256;
    std::string marks;
  };

  absl::Status learn();
  absl::Status learn_table(const std::string& name);
  absl::StatusOr<std::map<std::string, Stored>> stored(int64_t trial);
  absl::StatusOr<Now> take(const Table& table, int64_t trial);
  absl::Status write_row(const Table& table, const store::Statement& row, std::string& out);
  // "label.column=…" lines of the row that `number` means.
  absl::StatusOr<const std::string*> shared_lines(const std::string& label, const std::string& table,
                                                  int64_t number);
  void compare(const Table& table, const Stored& then, const Now& now, Findings& findings) const;

  store::Connection& connection_;
  std::vector<Table> tables_;
  std::map<std::string, std::string> keys_of_shared_;
  std::map<std::string, std::unordered_map<int64_t, std::string>> lines_;  // by label
  base::Sha256 row_digest_, table_digest_;
};

}  // namespace hopyard::verify
