// SPDX-License-Identifier: Apache-2.0
// Numbers for texts that many rows share, remembered from their second use on, so that a trial's rows rarely
// ask the database and texts that come but once cost no memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"
#include "store/sqlite.h"

namespace hopyard::store {

// One table of (number, text). Used by the writer alone, inside a transaction.
class Pool {
 public:
  // `find` gives the number of ?1; `insert` adds ?1 and its rowid is the number. Literals.
  Pool(const char* find, const char* insert) : find_(find), insert_(insert) {}

  // The text's number; the text is added if it is new.
  absl::StatusOr<int64_t> number(Connection& connection, std::string_view text);
  // After a rollback: numbers given since the last commit may be gone.
  void forget();

 private:
  void remember(std::string_view text, int64_t number);
  const char* find_;
  const char* insert_;
  std::unordered_map<std::string, int64_t> known_;
  size_t known_bytes_ = 0;
};

struct Pools {
  Pool text{"SELECT text_no FROM text WHERE content = ?1", "INSERT INTO text (content) VALUES (?1)"};
  Pool figure{"SELECT figure_no FROM socket_figure WHERE name = ?1",
              "INSERT INTO socket_figure (name) VALUES (?1)"};
  Pool metric{"SELECT metric_no FROM metric WHERE name = ?1", "INSERT INTO metric (name) VALUES (?1)"};

  void forget() {
    text.forget();
    figure.forget();
    metric.forget();
  }
};

}  // namespace hopyard::store
