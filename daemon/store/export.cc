// SPDX-License-Identifier: Apache-2.0
// Copies and texts for others: VACUUM INTO, and views as JSONL or CSV.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "store/maintenance.h"
#include "store/sqlite.h"

namespace hopyard::store {
namespace {

constexpr size_t kPieceBytes = 32768;

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

// Text is always quoted, so that an empty text and no value differ.
void append_csv_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// Rows as text, handed to the sink in pieces.
class RowPrinter {
 public:
  RowPrinter(v1::ExportFormat format, const Sink& sink) : json_(format == v1::JSONL), sink_(sink) {}

  absl::Status print(const Statement& row) {
    for (int i = 0; i < row.columns(); ++i) {
      out_ += i > 0 ? "," : json_ ? "{" : "";
      if (json_) {
        append_json_text(out_, row.column_name(i));
        out_ += ':';
      }
      value(row, i);
    }
    out_ += json_ ? "}\n" : "\r\n";
    return out_.size() < kPieceBytes ? absl::OkStatus() : flush();
  }

  // Once, before the rows.
  void header(const Statement& row) {
    if (json_) return;
    for (int i = 0; i < row.columns(); ++i)
      absl::StrAppend(&out_, i > 0 ? "," : "", std::string(row.column_name(i)));
    out_ += "\r\n";
  }

  absl::Status flush() {
    if (out_.empty()) return absl::OkStatus();
    const std::string piece = std::exchange(out_, {});
    return sink_(piece);
  }

 private:
  void value(const Statement& row, int column) {
    if (row.is_null(column)) {
      out_ += json_ ? "null" : "";
    } else if (row.is_integer(column)) {
      absl::StrAppend(&out_, row.integer(column));
    } else if (row.is_real(column)) {
      out_ += fmt::format("{}", row.real(column));  // the shortest text that reads back the same
    } else if (json_) {
      append_json_text(out_, row.view(column));
    } else {
      append_csv_text(out_, row.view(column));
    }
  }

  const bool json_;
  const Sink& sink_;
  std::string out_;
};

absl::StatusOr<bool> has_column(Connection& connection, std::string_view view, const char* column) {
  Statement find = connection.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return find.bind(view).bind(column).step();
}

absl::Status must_be_view(Connection& connection, std::string_view view) {
  Statement find = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(view).step());
  if (found) return absl::OkStatus();
  Statement names = connection.prepare(
      "SELECT group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY 1)");
  HOPYARD_RETURN_IF_ERROR(names.step().status());
  return absl::NotFoundError(absl::StrCat("no view \"", std::string(view), "\"; there are ", names.text(0)));
}

absl::Status print_all(Statement& select, std::string_view key, RowPrinter& printer) {
  select.bind(key);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return absl::OkStatus();
    HOPYARD_RETURN_IF_ERROR(printer.print(select));
  }
}

// Trial by trial, in order of execution.
absl::Status print_trials(Connection& connection, std::string_view campaign_id, std::string_view view,
                          RowPrinter& printer) {
  Statement trials = connection.prepare(
      "SELECT trial_id FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no)"
      " WHERE c.campaign_id = ? ORDER BY t.run_index, t.trial_no");
  trials.bind(campaign_id);
  Statement select =
      connection.prepare_once(absl::StrCat("SELECT * FROM ", std::string(view), " WHERE trial_id = ?"));
  printer.header(select);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, trials.step());
    if (!row) return absl::OkStatus();
    HOPYARD_RETURN_IF_ERROR(print_all(select, trials.view(0), printer));
  }
}

}  // namespace

absl::Status export_view(const std::string& path, std::string_view campaign_id, v1::ExportFormat format,
                         std::string_view view, const Sink& sink) {
  if (format != v1::JSONL && format != v1::CSV) return absl::InvalidArgumentError("rows are JSONL or CSV");
  HOPYARD_ASSIGN_OR_RETURN(const auto connection, Connection::open(path, Access::kReadOnly));
  HOPYARD_ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::begin_read(*connection));
  HOPYARD_RETURN_IF_ERROR(must_be_view(*connection, view));
  HOPYARD_ASSIGN_OR_RETURN(const bool by_trial, has_column(*connection, view, "trial_id"));
  RowPrinter printer(format, sink);
  if (by_trial) {
    HOPYARD_RETURN_IF_ERROR(print_trials(*connection, campaign_id, view, printer));
  } else {
    Statement select =
        connection->prepare_once(absl::StrCat("SELECT * FROM ", std::string(view), " WHERE campaign_id = ?"));
    printer.header(select);
    HOPYARD_RETURN_IF_ERROR(print_all(select, campaign_id, printer));
  }
  return printer.flush();
}

absl::Status copy_database(const std::string& path, const std::string& target) {
  if (std::filesystem::exists(target)) return absl::AlreadyExistsError("the file exists already");
  absl::Status copied;
  {
    HOPYARD_ASSIGN_OR_RETURN(const auto connection, Connection::open(path, Access::kReadOnly));
    copied = connection->prepare("VACUUM INTO ?").bind(target).run();
  }
  // Half a copy is none.
  if (!copied.ok()) ::unlink(target.c_str());
  return copied;
}

}  // namespace hopyard::store
