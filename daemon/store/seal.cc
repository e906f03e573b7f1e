// SPDX-License-Identifier: Apache-2.0
// The tables are looked up in the database itself, so that none can be forgotten.
#include "store/seal.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest.h"
#include "fmt/format.h"

namespace hopyard::store {
namespace {

constexpr size_t kMarkBytes = 4;  // of each row's digest: enough to say which row differs

absl::StatusOr<std::vector<std::string>> names(Connection& connection, const std::string& sql) {
  Statement select = connection.prepare_once(sql);
  std::vector<std::string> found;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return found;
    found.push_back(select.text(0));
  }
}

absl::StatusOr<std::vector<std::string>> columns_of(Connection& connection, const std::string& table) {
  return names(connection, fmt::format("SELECT name FROM pragma_table_info('{}') ORDER BY cid", table));
}

absl::StatusOr<std::vector<std::string>> key_of_table(Connection& connection, const std::string& table) {
  return names(connection,
               fmt::format("SELECT name FROM pragma_table_info('{}') WHERE pk > 0 ORDER BY pk", table));
}

// Columns that alone refer to a row of a table that is not a trial's own: column -> table.
absl::StatusOr<std::map<std::string, std::string>> shared_of(Connection& connection,
                                                             const std::string& table) {
  Statement select = connection.prepare_once(
      fmt::format("SELECT \"from\", \"table\" FROM pragma_foreign_key_list('{}') k GROUP BY id HAVING "
                  "COUNT(*) = 1 AND NOT EXISTS "
                  "(SELECT 1 FROM pragma_table_info(k.\"table\") WHERE name = 'trial_no')",
                  table));
  std::map<std::string, std::string> shared;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return shared;
    shared[select.text(0)] = select.text(1);
  }
}

// What a table's rows are read by: "SELECT" with what shared rows hold instead of their numbers.
struct Selection {
  std::vector<std::string> expressions;
  std::vector<std::string> labels;
  std::string joins;

  void add(const std::string& expression, const std::string& label) {
    expressions.push_back(expression);
    labels.push_back(label);
  }
};

// A campaign changes as it goes on: only its id stands for it.
void add_campaign(const std::string& number, const std::string& label, Selection& out) {
  out.add(fmt::format("(SELECT campaign_id FROM campaign WHERE campaign_no = {})", number),
          label + ".campaign_id");
}

absl::Status add_shared(Connection& connection, const std::string& column, const std::string& table,
                        Selection& out) {
  if (table == "campaign") {
    add_campaign("own." + column, column, out);
    return absl::OkStatus();
  }
  HOPYARD_ASSIGN_OR_RETURN(const auto key, key_of_table(connection, table));
  HOPYARD_ASSIGN_OR_RETURN(const auto columns, columns_of(connection, table));
  HOPYARD_ASSIGN_OR_RETURN(const auto beyond, shared_of(connection, table));
  const std::string alias = "of_" + column;
  absl::StrAppend(&out.joins, " LEFT JOIN ", table, " ", alias, " ON ", alias, ".", key.at(0), " = own.",
                  column);
  for (const std::string& name : columns) {
    if (name == key.at(0)) continue;
    const std::string label = column + "." + name;
    if (beyond.contains(name) && beyond.at(name) == "campaign") {
      add_campaign(alias + "." + name, label, out);
    } else {
      out.add(alias + "." + name, label);
    }
  }
  return absl::OkStatus();
}

void append_value(const Statement& row, int column, const std::string& label, std::string& out) {
  if (row.is_null(column)) return;
  if (row.is_integer(column)) {
    fmt::format_to(std::back_inserter(out), "{}=i{}\n", label, row.integer(column));
  } else if (row.is_real(column)) {
    fmt::format_to(std::back_inserter(out), "{}=r{:a}\n", label, row.real(column));
  } else {
    const std::string_view bytes = row.view(column);
    fmt::format_to(std::back_inserter(out), "{}=b{}:{}\n", label, bytes.size(), bytes);
  }
}

}  // namespace

absl::Status Sealer::learn(Connection& connection) {
  HOPYARD_ASSIGN_OR_RETURN(
      const auto all, names(connection,
                            "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND t.name <> "
                            "'trial_seal' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name "
                            "= 'trial_no') ORDER BY t.name"));
  std::vector<Table> tables;
  for (const std::string& name : all) {
    HOPYARD_ASSIGN_OR_RETURN(const auto columns, columns_of(connection, name));
    HOPYARD_ASSIGN_OR_RETURN(const auto key, key_of_table(connection, name));
    HOPYARD_ASSIGN_OR_RETURN(const auto shared, shared_of(connection, name));
    Selection selection;
    for (const std::string& column : columns) {
      const auto to = shared.find(column);
      if (to == shared.end()) {
        selection.add("own." + column, column);
      } else {
        HOPYARD_RETURN_IF_ERROR(add_shared(connection, column, to->second, selection));
      }
    }
    tables.push_back({name,
                      fmt::format("SELECT {} FROM {} own{} WHERE own.trial_no = ?1 ORDER BY own.{}",
                                  absl::StrJoin(selection.expressions, ", "), name, selection.joins,
                                  absl::StrJoin(key, ", own.")),
                      selection.labels});
  }
  tables_ = std::move(tables);
  return absl::OkStatus();
}

absl::Status Sealer::seal_table(Connection& connection, const Table& table, int64_t trial) {
  base::Sha256 of_row, of_table;
  of_table.add(table.name);
  of_table.add("\n");
  std::string marks, bytes;
  Statement select = connection.prepare(table.select.c_str());
  select.bind(trial);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    bytes.clear();
    for (size_t i = 0; i < table.labels.size(); ++i)
      append_value(select, static_cast<int>(i), table.labels[i], bytes);
    of_row.add(bytes);
    const std::string digest = of_row.finish();
    of_table.add(digest);
    marks.append(digest, 0, kMarkBytes);
  }
  const std::string digest = of_table.finish();
  return connection
      .prepare("INSERT INTO trial_seal (trial_no, table_name, sha256, row_marks) VALUES (?, ?, ?, ?)")
      .bind(trial)
      .bind(table.name)
      .bind_blob(digest)
      .bind_blob(marks)
      .run();
}

absl::Status Sealer::seal(Connection& connection, std::string_view trial_id) {
  if (tables_.empty()) HOPYARD_RETURN_IF_ERROR(learn(connection));
  int64_t trial = 0;
  {
    Statement find = connection.prepare("SELECT trial_no FROM trial WHERE trial_id = ?");
    HOPYARD_RETURN_IF_ERROR(find.bind(trial_id).step().status());
    trial = find.integer(0);
  }
  for (const Table& table : tables_) HOPYARD_RETURN_IF_ERROR(seal_table(connection, table, trial));
  return absl::OkStatus();
}

}  // namespace hopyard::store
