// SPDX-License-Identifier: Apache-2.0
// Columns of text, aligned. Pure.
#pragma once

#include <string>
#include <vector>

namespace hopyard::cli {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // One cell a column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Title line and rows, two spaces between columns, no blanks at line ends.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Nanoseconds as milliseconds, three digits after the point: "501.913".
std::string milliseconds(double ns);
// "1 h 02 min", "3 min 05 s", "12 s".
std::string duration(int64_t ns);
// A local date and time to the second; empty for 0.
std::string local_time(int64_t unix_ns);

}  // namespace hopyard::cli
