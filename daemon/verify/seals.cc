// SPDX-License-Identifier: Apache-2.0
// Rows as they lie in their tables, shared rows looked up one by one and remembered.
#include "verify/seals.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "fmt/format.h"

namespace hopyard::verify {
namespace {

using store::Statement;

constexpr size_t kMarkBytes = 4;
constexpr char kWhy[] = "the rows are not those that were sealed when the trial was recorded";

void write_value(const std::string& label, const Statement& row, int column, std::string& out) {
  if (row.is_null(column)) return;
  out += label;
  if (row.is_integer(column)) {
    out += "=i" + std::to_string(row.integer(column));
  } else if (row.is_real(column)) {
    out += fmt::format("=r{:a}", row.real(column));
  } else {
    const std::string_view bytes = row.view(column);
    out += "=b" + std::to_string(bytes.size()) + ":";
    out += bytes;
  }
  out += '\n';
}

std::string hex(std::string_view bytes) {
  return absl::BytesToHexString(absl::string_view(bytes.data(), bytes.size()));
}

}  // namespace

absl::Status Seals::learn() {
  std::vector<std::string> names;
  {
    Statement select = connection_.prepare(
        "SELECT DISTINCT s.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table'"
        " AND c.name = 'trial_no' AND s.name <> 'trial_seal'");
    while (true) {
      HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
      if (!row) break;
      names.push_back(select.text(0));
    }
  }
  for (const std::string& name : names) HOPYARD_RETURN_IF_ERROR(learn_table(name));
  return absl::OkStatus();
}

absl::Status Seals::learn_table(const std::string& name) {
  Table table{name, "", {}, {}};
  std::map<int64_t, std::string> key;  // by place in the primary key
  {
    Statement select = connection_.prepare("SELECT name, pk, cid FROM pragma_table_info(?) ORDER BY cid");
    select.bind(name);
    while (true) {
      HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
      if (!row) break;
      if (select.integer(1) > 0) key[select.integer(1)] = select.text(0);
      if (select.integer(1) > 0 && select.text(0) != "trial_no") table.key.push_back(table.columns.size());
      table.columns.push_back({select.text(0), ""});
    }
  }
  // A foreign key of several columns, or to a table of trials, stands as its numbers.
  Statement select = connection_.prepare(
      "SELECT \"from\", \"table\", (SELECT COUNT(*) FROM pragma_foreign_key_list(?1) o WHERE o.id = k.id),"
      " (SELECT COUNT(*) FROM pragma_table_info(k.\"table\") WHERE name = 'trial_no')"
      " FROM pragma_foreign_key_list(?1) k");
  select.bind(name);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    if (select.integer(2) != 1 || select.integer(3) != 0) continue;
    for (Column& column : table.columns) {
      if (column.name == select.view(0)) column.shared = select.text(1);
    }
  }
  std::string order;
  for (const auto& [place, column] : key) order += (order.empty() ? "" : ", ") + column;
  table.select = fmt::format("SELECT * FROM {} WHERE trial_no = ? ORDER BY {}", name, order);
  tables_.push_back(std::move(table));
  return absl::OkStatus();
}

absl::StatusOr<const std::string*> Seals::shared_lines(const std::string& label, const std::string& table,
                                                       int64_t number) {
  auto& known = lines_[label];
  if (const auto found = known.find(number); found != known.end()) return &found->second;
  std::string& key = keys_of_shared_[table];
  if (key.empty()) {
    Statement select = connection_.prepare("SELECT name FROM pragma_table_info(?) WHERE pk = 1");
    HOPYARD_RETURN_IF_ERROR(select.bind(table).step().status());
    key = select.text(0);
  }
  std::string lines;
  Statement select =
      connection_.prepare_once(fmt::format("SELECT * FROM {} WHERE {} = {}", table, key, number));
  HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
  for (int i = 0; row && i < select.columns(); ++i) {
    const std::string name(select.column_name(i));
    if (name == key) continue;
    if (name == "campaign_no") {
      Statement id = connection_.prepare("SELECT campaign_id FROM campaign WHERE campaign_no = ?");
      HOPYARD_RETURN_IF_ERROR(id.bind(select.integer(i)).step().status());
      write_value(label + ".campaign_no.campaign_id", id, 0, lines);
    } else {
      write_value(label + "." + name, select, i, lines);
    }
  }
  return &known.emplace(number, std::move(lines)).first->second;
}

absl::Status Seals::write_row(const Table& table, const Statement& row, std::string& out) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const int place = static_cast<int>(i);
    if (column.shared.empty()) {
      write_value(column.name, row, place, out);
    } else if (!row.is_null(place)) {
      HOPYARD_ASSIGN_OR_RETURN(const std::string* lines,
                               shared_lines(column.name, column.shared, row.integer(place)));
      out += *lines;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Seals::Now> Seals::take(const Table& table, int64_t trial) {
  Now now;
  table_digest_.add(table.name + "\n");
  std::string bytes;
  Statement select = connection_.prepare(table.select.c_str());
  select.bind(trial);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) break;
    bytes.clear();
    HOPYARD_RETURN_IF_ERROR(write_row(table, select, bytes));
    row_digest_.add(bytes);
    const std::string digest = row_digest_.finish();
    table_digest_.add(digest);
    now.marks += digest.substr(0, kMarkBytes);
    std::string name;
    for (const size_t place : table.key)
      name += fmt::format("{}{} {}", name.empty() ? "" : ", ", table.columns[place].name,
                          select.view(static_cast<int>(place)));
    now.rows.push_back(std::move(name));
  }
  now.sha256 = table_digest_.finish();
  return now;
}

absl::StatusOr<std::map<std::string, Seals::Stored>> Seals::stored(int64_t trial) {
  std::map<std::string, Stored> found;
  Statement select =
      connection_.prepare("SELECT table_name, sha256, row_marks FROM trial_seal WHERE trial_no = ?");
  select.bind(trial);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return found;
    found[select.text(0)] = {select.text(1), select.text(2)};
  }
}

void Seals::compare(const Table& table, const Stored& then, const Now& now, Findings& findings) const {
  if (then.sha256 == now.sha256) {
    if (then.marks != now.marks)
      findings.add("trial_seal", table.name, "row_marks", hex(now.marks), hex(then.marks),
                   "the marks are not those of the sealed rows");
    return;
  }
  const size_t rows = then.marks.size() / kMarkBytes;
  if (rows != now.rows.size()) {
    findings.add(table.name, "", "", fmt::format("{} rows", rows), fmt::format("{} rows", now.rows.size()),
                 kWhy);
    return;
  }
  bool told = false;
  for (size_t i = 0; i < rows; ++i) {
    const std::string was = then.marks.substr(i * kMarkBytes, kMarkBytes);
    const std::string is = now.marks.substr(i * kMarkBytes, kMarkBytes);
    if (was == is) continue;
    told = true;
    findings.add(table.name, now.rows[i], "", "a row with digest " + hex(was), hex(is), kWhy);
  }
  // Then it is the stored digest, or a row that shares its mark with another.
  if (!told) findings.add(table.name, "", "", "digest " + hex(then.sha256), hex(now.sha256), kWhy);
}

absl::StatusOr<bool> Seals::check(int64_t trial, Findings& findings) {
  if (tables_.empty()) HOPYARD_RETURN_IF_ERROR(learn());
  HOPYARD_ASSIGN_OR_RETURN(auto then, stored(trial));
  if (then.empty()) return false;
  for (const Table& table : tables_) {
    const auto seal = then.find(table.name);
    HOPYARD_ASSIGN_OR_RETURN(const Now now, take(table, trial));
    if (seal != then.end()) {
      compare(table, seal->second, now, findings);
      then.erase(seal);
    } else if (!now.rows.empty()) {
      // A table that a later version added is empty for earlier trials.
      findings.add(table.name, "", "", "a seal", "none", "the trial's other tables are sealed");
    }
  }
  for (const auto& [name, seal] : then)
    findings.add("trial_seal", name, "table_name", "a table of trials", name, "no such table");
  return true;
}

}  // namespace hopyard::verify
