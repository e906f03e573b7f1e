// SPDX-License-Identifier: Apache-2.0
// Problems as a sorted list, and the wording they share.
#include "plan/problems.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/text.h"
#include "fmt/format.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::plan {
namespace {

constexpr size_t kQuotedBytes = 60;
constexpr size_t kSourceBytes = 200;
constexpr size_t kTextBytes = 800;
constexpr size_t kEnumerated = 20;

// Levenshtein's distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

// What goes to terminals and into protobuf texts may hold names from outside: whole characters, none of
// control.
std::string presentable(std::string_view text, size_t bytes) {
  std::string result(base::cut_utf8(text, bytes));
  result.resize(base::valid_utf8_prefix(result));
  std::replace_if(result.begin(), result.end(), is_control, '?');
  return result;
}

}  // namespace

Problems::Problems(std::string_view file) : sources_{presentable(file, kSourceBytes)} {
  if (sources_[0].empty()) sources_[0] = "campaign";
}

uint32_t Problems::add_source(std::string_view name) {
  sources_.push_back(presentable(name, kSourceBytes));
  return static_cast<uint32_t>(sources_.size() - 1);
}

void Problems::add(Place place, std::string_view message, std::string_view expected) {
  found_.push_back({place, presentable(message, kTextBytes), presentable(expected, kTextBytes)});
}

v1::Problem Problems::problem(const Found& found) const {
  v1::Problem problem;
  problem.set_file(sources_[found.place.source]);
  problem.set_line(found.place.line);
  problem.set_column(found.place.column);
  problem.set_message(found.message);
  problem.set_expected(found.expected);
  return problem;
}

std::vector<v1::Problem> Problems::list() const {
  std::vector<const Found*> sorted;
  for (const Found& found : found_) sorted.push_back(&found);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Found* a, const Found* b) {
    return std::tie(a->place.source, a->place.line, a->place.column) <
           std::tie(b->place.source, b->place.line, b->place.column);
  });
  std::vector<v1::Problem> result;
  for (const Found* found : sorted) {
    result.push_back(problem(*found));
    if (result.size() == kLimit) break;
  }
  if (sorted.size() > kLimit) {
    const Found rest{sorted[kLimit]->place,
                     fmt::format("{} more problems from here on", sorted.size() - kLimit),
                     "the ones above to be put right first"};
    result.push_back(problem(rest));
  }
  return result;
}

std::string quoted(std::string_view text) {
  std::string result = "`";
  for (const char byte : base::cut_utf8(text, kQuotedBytes)) {
    if (is_control(byte)) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      result += byte;
    }
  }
  return result + (text.size() > kQuotedBytes ? "…`" : "`");
}

std::string enumerated(const std::vector<std::string>& words, std::string_view last) {
  const size_t shown = std::min(words.size(), kEnumerated);
  std::string result;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) result += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    result += words[i];
  }
  if (shown < words.size()) result += fmt::format(" and {} more", words.size() - shown);
  return result;
}

std::string suggestion(std::string_view text, const std::vector<std::string>& words) {
  constexpr size_t kLongest = 64;
  if (text.size() > kLongest) return "";
  const std::string* best = nullptr;
  size_t nearest = std::max<size_t>(2, text.size() / 3) + 1;
  for (const std::string& word : words) {
    const size_t away = distance(text, word);
    // Two short words are "near" only by having nothing in common.
    if (away < nearest && away < std::max(text.size(), word.size())) {
      nearest = away;
      best = &word;
    }
  }
  return best == nullptr ? "" : fmt::format(" (did you mean `{}`?)", *best);
}

}  // namespace hopyard::plan
