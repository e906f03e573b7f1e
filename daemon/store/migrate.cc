// SPDX-License-Identifier: Apache-2.0
// Opening, and the steps from one schema version to the next.
#include "store/migrate.h"

#include <fcntl.h>

#include <array>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/fd.h"
#include "store/embedded_sql.h"

namespace hopyard::store {
namespace {

constexpr const char* kViewsOnly = "";

// kSteps[n] makes version n + 1 of version n. Views are made anew after any step.
constexpr std::array<const char*, kSchemaVersion> kSteps = {kSchemaSql, kSchema2Sql, kViewsOnly};

absl::Status make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || std::filesystem::exists(folder)) return absl::OkStatus();
  HOPYARD_RETURN_IF_ERROR(make_folders(folder.parent_path()));
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return base::errno_status("make folder", folder.string(), error.value());
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error) return base::errno_status("set mode", folder.string(), error.value());
  return absl::OkStatus();
}

// SQLite would create it readable by all. Only a fresh file is opened here: closing a descriptor of a
// database in use would drop this process's locks on it.
absl::Status make_file(const std::string& path) {
  HOPYARD_RETURN_IF_ERROR(make_folders(std::filesystem::path(path).parent_path()));
  if (std::filesystem::exists(path)) return absl::OkStatus();
  const absl::Status made = base::open_file(path, O_CREAT | O_EXCL | O_RDWR, 0600).status();
  return std::filesystem::exists(path) ? absl::OkStatus() : made;
}

absl::StatusOr<int64_t> number(Connection& connection, const char* sql) {
  Statement statement = connection.prepare(sql);
  HOPYARD_RETURN_IF_ERROR(statement.step().status());
  return statement.integer(0);
}

// The file's version; refuses what is not ours.
absl::StatusOr<int64_t> known_version(Connection& connection) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t application, number(connection, "PRAGMA application_id"));
  HOPYARD_ASSIGN_OR_RETURN(const int64_t objects, number(connection, "SELECT COUNT(*) FROM sqlite_schema"));
  if (application != kApplicationId && (application != 0 || objects != 0)) {
    return absl::FailedPreconditionError("a database of another program");
  }
  HOPYARD_ASSIGN_OR_RETURN(const int64_t version, number(connection, "PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return absl::FailedPreconditionError(absl::StrCat("written by a newer Hopyard (schema ", version,
                                                      "; this one knows up to ", kSchemaVersion, ")"));
  }
  return version;
}

absl::Status replace_views(Connection& connection) {
  std::string drops;
  Statement names = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'view'");
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, names.step());
    if (!row) break;
    absl::StrAppend(&drops, "DROP VIEW ", names.text(0), ";");
  }
  HOPYARD_RETURN_IF_ERROR(connection.execute(drops));
  return connection.execute(kViewsSql);
}

absl::Status migrate(Connection& connection) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t seen, known_version(connection));
  if (seen == kSchemaVersion) return absl::OkStatus();
  HOPYARD_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(connection));
  // Another program may have been quicker.
  HOPYARD_ASSIGN_OR_RETURN(const int64_t version, known_version(connection));
  if (version == kSchemaVersion) return absl::OkStatus();
  for (size_t step = static_cast<size_t>(version); step < kSteps.size(); ++step) {
    HOPYARD_RETURN_IF_ERROR(connection.execute(kSteps[step]));
  }
  HOPYARD_RETURN_IF_ERROR(replace_views(connection));
  HOPYARD_RETURN_IF_ERROR(connection.execute(
      absl::StrCat("PRAGMA user_version = ", kSchemaVersion, "; PRAGMA application_id = ", kApplicationId)));
  return transaction.commit();
}

absl::Status set_up(Connection& connection) {
  // Refuse before anything is written.
  HOPYARD_RETURN_IF_ERROR(known_version(connection).status());
  {
    Statement mode = connection.prepare("PRAGMA journal_mode = WAL");
    HOPYARD_RETURN_IF_ERROR(mode.step().status());
    if (mode.view(0) != "wal")
      return absl::FailedPreconditionError("this file system cannot hold a WAL database");
  }
  // FULL: a commit is on the disk when it returns; a trial costs seconds to measure and about a millisecond
  // to sync.
  HOPYARD_RETURN_IF_ERROR(connection.execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864"));
  return migrate(connection);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> open_database(const std::string& path) {
  HOPYARD_RETURN_IF_ERROR(make_file(path));
  HOPYARD_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                           Connection::open(path, Access::kReadWrite));
  if (connection->read_only()) return absl::PermissionDeniedError("read-only, cannot be written");
  HOPYARD_RETURN_IF_ERROR(set_up(*connection));
  return connection;
}

}  // namespace hopyard::store
