// SPDX-License-Identifier: Apache-2.0
// A thin owner of SQLite's connection and statements, and its errors as Status. Knows no table.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hopyard::store {

// A prepared statement in use. Errors are kept and come out of step(): binding never fails on its own.
//   Statement s = connection.prepare("SELECT …");
//   s.bind(text).bind(7);
//   HOPYARD_ASSIGN_OR_RETURN(bool row, s.step());
// When it goes it is given back to its connection (reset, bindings cleared), or finalized if it was for once.
class Statement {
 public:
  Statement(sqlite3* db, sqlite3_stmt* statement, absl::Status prepared, bool owned);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // The next parameter, from the first.
  Statement& bind(int64_t value);
  Statement& bind(int value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(uint32_t value) { return bind(static_cast<int64_t>(value)); }
  // As the same 64 bits: SQLite has no unsigned integers.
  Statement& bind(uint64_t value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(bool value) { return bind(static_cast<int64_t>(value)); }
  Statement& bind(double value);
  Statement& bind(std::string_view text);  // must live until the next step()
  Statement& bind(const std::string& text) { return bind(std::string_view(text)); }
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();
  // An instant: 0 ("did not happen") is NULL.
  Statement& bind_instant(int64_t ns) { return ns == 0 ? bind_null() : bind(ns); }
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  // True: a row is there. False: done, and the statement can be bound again.
  absl::StatusOr<bool> step();
  // For statements that give no rows.
  absl::Status run();

  int columns() const;
  std::string_view column_name(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_real(int column) const;
  int64_t integer(int column) const;  // NULL: 0
  double real(int column) const;
  std::string text(int column) const;       // text or blob; NULL: empty
  std::string_view view(int column) const;  // as text(), until the next step()

 private:
  sqlite3* db_;
  sqlite3_stmt* statement_;
  absl::Status status_;
  bool owned_;
  int next_parameter_ = 0;
};

enum class Access { kReadWrite, kReadOnly };

class Connection {
 public:
  // Does not create. Waits up to five seconds for another program's lock, at every statement.
  static absl::StatusOr<std::unique_ptr<Connection>> open(const std::string& path, Access access);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Prepared once for each distinct text; a text may be in use only once at a time. `sql` must live as long
  // as the connection: a literal.
  Statement prepare(const char* sql);
  // Prepared for this use alone.
  Statement prepare_once(const std::string& sql);
  // All statements of `sql`, rows dropped.
  absl::Status execute(const std::string& sql);
  int64_t last_insert_rowid() const;
  bool read_only() const;  // the file could only be opened so
  bool has_moved() const;  // the file was deleted, renamed or replaced: what is written now is lost

 private:
  explicit Connection(sqlite3* db) : db_(db) {}
  sqlite3* db_;
  std::map<const char*, sqlite3_stmt*> cache_;
};

// Rolled back when it goes, unless committed.
class Transaction {
 public:
  // Takes the write lock at once, so that nothing fails half-way for want of it.
  static absl::StatusOr<Transaction> begin(Connection& connection);
  // One state of the database for several reads.
  static absl::StatusOr<Transaction> begin_read(Connection& connection);
  Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  absl::Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace hopyard::store
