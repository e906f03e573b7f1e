// SPDX-License-Identifier: Apache-2.0
// See findings.h.
#include "verify/findings.h"

namespace hopyard::verify {

void Findings::add(std::string table, std::string row, std::string column, std::string expected,
                   std::string seen, std::string why) {
  ++report_.findings;
  if (report_.told.size() >= kMostTold) return;
  report_.told.push_back({std::move(table), trial_id_, std::move(row), std::move(column), std::move(expected),
                          std::move(seen), std::move(why)});
  if (options_.found) options_.found(report_.told.back());
}

std::string in_words(const Finding& finding) {
  std::string text = finding.table;
  if (!finding.trial_id.empty()) text += " of trial " + finding.trial_id;
  if (!finding.row.empty()) text += ", " + finding.row;
  if (!finding.column.empty()) text += ", " + finding.column;
  return fmt::format("{}: expected {}, saw {} ({})", text, finding.expected, finding.seen, finding.why);
}

}  // namespace hopyard::verify
