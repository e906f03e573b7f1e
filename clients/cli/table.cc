// SPDX-License-Identifier: Apache-2.0
// Measures the columns, then writes them.
#include "cli/table.h"

#include <algorithm>
#include <ctime>

#include "fmt/chrono.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

// Code points, close enough to columns for what we print.
size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, size_t to, Table::Align align) {
  const std::string blanks(to - std::min(to, width(text)), ' ');
  return align == Table::Align::kLeft ? text + blanks : blanks + text;
}

}  // namespace

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i)
      line += (i == 0 ? "" : "  ") + padded(cell(i), widths[i], columns_[i].align);
    out += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  };
  add_line([this](size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&row](size_t i) { return row[i]; });
  return out;
}

std::string milliseconds(double ns) { return fmt::format("{:.3f}", ns / 1e6); }

std::string duration(int64_t ns) {
  const int64_t seconds = (ns + 500'000'000) / 1'000'000'000;
  if (seconds >= 3600) return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
  if (seconds >= 60) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} s", seconds);
}

std::string local_time(int64_t unix_ns) {
  if (unix_ns == 0) return "";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}",
                     fmt::localtime(static_cast<std::time_t>(unix_ns / 1'000'000'000)));
}

}  // namespace hopyard::cli
