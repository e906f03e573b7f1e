// SPDX-License-Identifier: Apache-2.0
// The only file that calls SQLite's C interface.
#include "store/sqlite.h"

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hopyard::store {
namespace {

constexpr int kBusyMilliseconds = 5000;

absl::StatusCode code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return absl::StatusCode::kResourceExhausted;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_CONSTRAINT:
      return absl::StatusCode::kAlreadyExists;
    default:
      return absl::StatusCode::kInternal;
  }
}

std::string_view plain_words(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return "disk full";
    case SQLITE_READONLY:
      return "read-only, cannot be written";
    case SQLITE_CANTOPEN:
      return "cannot be opened";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "locked by another program";
    case SQLITE_CORRUPT:
      return "damaged database";
    case SQLITE_NOTADB:
      return "not a SQLite database";
    default:
      return "";
  }
}

// SQLite calls some failures for want of room just "disk I/O error", and the system's own word is lost on the
// way. Gives the cause if there is no room; empty if there is.
std::string no_room(sqlite3* db) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return absl::StrCat("this process's files are limited to ", limit.rlim_cur, " bytes");
  }
  struct statvfs disk {};
  const char* path = sqlite3_db_filename(db, "main");
  constexpr uint64_t kLittle = 65536;  // SQLite extends its shared-memory file by half of this
  if (path == nullptr || ::statvfs(path, &disk) != 0) return "";
  return uint64_t{disk.f_bavail} * disk.f_frsize < kLittle ? "no space left" : "";
}

absl::Status sqlite_status(sqlite3* db, int result) {
  if (db == nullptr) return absl::Status(code_of(result), sqlite3_errstr(result));
  const bool io = (result & 0xff) == SQLITE_IOERR;
  if (result == SQLITE_IOERR_WRITE || result == SQLITE_IOERR_SHMSIZE || result == SQLITE_IOERR_FSYNC) {
    if (const std::string cause = no_room(db); !cause.empty()) {
      return absl::ResourceExhaustedError(absl::StrCat("disk full (", cause, ")"));
    }
  }
  const std::string_view words = plain_words(result);
  std::string message = words.empty() ? sqlite3_errmsg(db)
                                      : absl::StrCat(absl::string_view(words.data(), words.size()), " (",
                                                     sqlite3_errmsg(db), ")");
  const int system = sqlite3_system_errno(db);
  if ((io || (result & 0xff) == SQLITE_CANTOPEN) && system != 0) {
    absl::StrAppend(&message, ": ", std::strerror(system));
  }
  return absl::Status(code_of(result), message);
}

}  // namespace

Statement::Statement(sqlite3* db, sqlite3_stmt* statement, absl::Status prepared, bool owned)
    : db_(db), statement_(statement), status_(std::move(prepared)), owned_(owned) {}

Statement::Statement(Statement&& other) noexcept
    : db_(other.db_),
      statement_(std::exchange(other.statement_, nullptr)),
      status_(std::move(other.status_)),
      owned_(other.owned_),
      next_parameter_(other.next_parameter_) {}

Statement::~Statement() {
  if (owned_) sqlite3_finalize(statement_);
  if (owned_ || statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Statement& Statement::bind(int64_t value) {
  if (status_.ok() && sqlite3_bind_int64(statement_, ++next_parameter_, value) != SQLITE_OK) {
    status_ = sqlite_status(db_, sqlite3_errcode(db_));
  }
  return *this;
}

Statement& Statement::bind(double value) {
  if (status_.ok() && sqlite3_bind_double(statement_, ++next_parameter_, value) != SQLITE_OK) {
    status_ = sqlite_status(db_, sqlite3_errcode(db_));
  }
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() != nullptr ? text.data() : "";
  if (status_.ok() && sqlite3_bind_text64(statement_, ++next_parameter_, data, text.size(), SQLITE_STATIC,
                                          SQLITE_UTF8) != SQLITE_OK) {
    status_ = sqlite_status(db_, sqlite3_errcode(db_));
  }
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  const char* data = bytes.data() != nullptr ? bytes.data() : "";
  if (status_.ok() &&
      sqlite3_bind_blob64(statement_, ++next_parameter_, data, bytes.size(), SQLITE_STATIC) != SQLITE_OK) {
    status_ = sqlite_status(db_, sqlite3_errcode(db_));
  }
  return *this;
}

Statement& Statement::bind_null() {
  if (status_.ok() && sqlite3_bind_null(statement_, ++next_parameter_) != SQLITE_OK) {
    status_ = sqlite_status(db_, sqlite3_errcode(db_));
  }
  return *this;
}

absl::StatusOr<bool> Statement::step() {
  if (!status_.ok()) return status_;
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) status_ = sqlite_status(db_, result);
  sqlite3_reset(statement_);
  next_parameter_ = 0;
  if (!status_.ok()) return status_;
  return false;
}

absl::Status Statement::run() { return step().status(); }

int Statement::columns() const { return sqlite3_column_count(statement_); }
std::string_view Statement::column_name(int column) const { return sqlite3_column_name(statement_, column); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}
bool Statement::is_real(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_FLOAT; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
std::string Statement::text(int column) const { return std::string(view(column)); }

std::string_view Statement::view(int column) const {
  const void* data = sqlite3_column_type(statement_, column) == SQLITE_BLOB
                         ? sqlite3_column_blob(statement_, column)
                         : sqlite3_column_text(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::open(const std::string& path, Access access) {
  sqlite3* db = nullptr;
  const int flags = (access == Access::kReadWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) |
                    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int result = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  if (result != SQLITE_OK) {
    absl::Status status = sqlite_status(db, result);
    sqlite3_close_v2(db);
    return status;
  }
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  return std::unique_ptr<Connection>(new Connection(db));
}

Connection::~Connection() {
  for (const auto& [sql, statement] : cache_) sqlite3_finalize(statement);
  sqlite3_close_v2(db_);
}

Statement Connection::prepare(const char* sql) {
  const auto entry = cache_.try_emplace(sql, nullptr).first;
  if (entry->second == nullptr) {
    const int result = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &entry->second, nullptr);
    if (result != SQLITE_OK) return Statement(db_, nullptr, sqlite_status(db_, result), false);
  }
  return Statement(db_, entry->second, absl::OkStatus(), false);
}

Statement Connection::prepare_once(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v2(db_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  return Statement(db_, statement, result == SQLITE_OK ? absl::OkStatus() : sqlite_status(db_, result), true);
}

int64_t Connection::last_insert_rowid() const { return sqlite3_last_insert_rowid(db_); }
bool Connection::read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }

bool Connection::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

absl::Status Connection::execute(const std::string& sql) {
  const int result = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : sqlite_status(db_, result);
}

absl::StatusOr<Transaction> Transaction::begin(Connection& connection) {
  HOPYARD_RETURN_IF_ERROR(connection.prepare("BEGIN IMMEDIATE").run());
  return Transaction(connection);
}

absl::StatusOr<Transaction> Transaction::begin_read(Connection& connection) {
  HOPYARD_RETURN_IF_ERROR(connection.prepare("BEGIN DEFERRED").run());
  return Transaction(connection);
}

Transaction::~Transaction() {
  // SQLite has rolled back by itself after some errors; a second time is refused and harmless.
  if (connection_ != nullptr) connection_->prepare("ROLLBACK").run().IgnoreError();
}

absl::Status Transaction::commit() {
  HOPYARD_RETURN_IF_ERROR(connection_->prepare("COMMIT").run());
  connection_ = nullptr;
  return absl::OkStatus();
}

}  // namespace hopyard::store
