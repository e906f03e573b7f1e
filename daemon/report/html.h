// SPDX-License-Identifier: Apache-2.0
// Text on its way into a page: escaping, numbers, tables. Whatever comes from a campaign or a trial goes
// through here. Knows no table of the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace hopyard::report {

// Fit for an element's content and for a quoted attribute; control characters and broken UTF-8 become '?'.
std::string escaped(std::string_view text);
// A JSON string with its quotes, that can stand inside a script element: no '<', '>' or '&' in it.
std::string json_text(std::string_view text);
// "501.913"; a minus sign where there is one.
std::string milliseconds(double ns);
// The same as an element that carries the exact number: <data class="median"
// value="501912600">501.913</data>.
std::string exact_ms(std::string_view name, double ns);
std::string exact_ms(std::string_view name, const std::optional<double>& ns);  // absent: a dash
// "2026-10-02 14:03:07 UTC"; "–" for 0.
std::string utc(int64_t unix_ns);

// Collects text and hands it on in pieces; after the sink's first error it takes no more.
class Output {
 public:
  explicit Output(const store::Sink& sink) : sink_(sink) {}
  void put(std::string_view text);
  uint64_t bytes() const { return bytes_; }  // so far
  absl::Status finish();

 private:
  void hand_on();
  const store::Sink& sink_;
  std::string pending_;
  uint64_t bytes_ = 0;
  absl::Status status_;
};

// One table in a box that scrolls by itself. Cells are given as markup: escape what is not ours.
class Table {
 public:
  struct Column {
    std::string title;
    bool number = false;
  };
  // `classes` of the table element; `caption` is markup.
  Table(Output& out, std::string_view classes, std::string_view caption, std::vector<Column> columns);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // `attributes` of the row: ` data-cell="3"`, or nothing. The first cell heads the row.
  void row(std::string_view attributes, const std::vector<std::string>& cells);

 private:
  Output& out_;
  std::vector<Column> columns_;
};

}  // namespace hopyard::report
