// SPDX-License-Identifier: Apache-2.0
// Tables, the summary, JSON and exit codes as scripts and people read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/summary_text.h"
#include "cli/table.h"

namespace hopyard::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Table, AlignsByCharactersAndLeavesNoBlanksAtLineEnds) {
  Table table({{"name"}, {"n", Table::Align::kRight}, {"note"}});
  table.add({"a×b", "7", ""});
  table.add({"long name", "12", "x"});
  EXPECT_EQ(table.text(),
            "name        n  note\n"
            "a×b         7\n"
            "long name  12  x\n");
}

TEST(Duration, IsSaidAsPeopleSayIt) {
  EXPECT_EQ(duration(12'400'000'000), "12 s");
  EXPECT_EQ(duration(185'000'000'000), "3 min 05 s");
  EXPECT_EQ(duration(3'720'000'000'000), "1 h 02 min");
}

v1::SummaryResponse summary() {
  v1::SummaryResponse summary;
  summary.mutable_status()->set_campaign_id("id");
  summary.mutable_status()->set_state(v1::DONE);
  summary.mutable_status()->set_kernel("debian-uml 6.1.176");
  summary.mutable_status()->set_clock("real");
  return summary;
}

v1::CellFigure* add(v1::SummaryResponse& summary, const std::string& case_name, const std::string& metric,
                    double ns) {
  v1::CellFigure* cell = summary.add_cells();
  cell->set_path("clean");
  cell->set_workload("h2-competition");
  cell->set_case_name(case_name);
  cell->set_metric(metric);
  cell->set_n(5);
  cell->set_failed(1);
  cell->set_median_ns(ns);
  return cell;
}

TEST(SummaryText, PutsTheCasesOfOneResponseTogether) {
  v1::SummaryResponse two = summary();
  for (const char* name : {"C", "D"}) {
    add(two, name, "bulk.first_body_ns", 30e6);
    add(two, name, "bulk.complete_ns", 500'123'456);
    add(two, name, "later.complete_ns", 67e6);
  }
  const std::string text = summary_text(two);
  const std::vector<std::string> rows =
      absl::StrSplit(text.substr(text.find("\nclean") + 1), '\n', absl::SkipEmpty());
  ASSERT_EQ(rows.size(), 4u) << text;
  EXPECT_THAT(rows[0], ContainsRegex("^clean +h2-competition +bulk +C +5 +1 .* 30.000 .* 500.123$"));
  EXPECT_THAT(rows[1], ContainsRegex("^clean +h2-competition +bulk +D +5 +1 .* 30.000 .* 500.123$"));
  EXPECT_THAT(rows[2], ContainsRegex("^clean +h2-competition +later +C +5 +1 .* – .* 67.000$"));
  EXPECT_THAT(rows[3], ContainsRegex("^clean +h2-competition +later +D +5 +1 .* – .* 67.000$"));
  EXPECT_THAT(text, HasSubstr("kernel debian-uml 6.1.176"));
  EXPECT_THAT(text, HasSubstr("clock real"));
  EXPECT_THAT(text, Not(HasSubstr("p90"))) << "not estimable: no column";
}

TEST(SummaryText, ShowsAPercentileWhereItIsEstimable) {
  v1::SummaryResponse one = summary();
  add(one, "C", "complete_ns", 1e6)->set_p90_ns(2e6);
  EXPECT_THAT(summary_text(one), HasSubstr("p90"));
  EXPECT_THAT(summary_text(one), HasSubstr("2.000"));
}

TEST(SummaryText, KeepsKernelsApart) {
  v1::SummaryResponse two = summary();
  add(two, "C", "complete_ns", 1e6)->set_kernel("6.1");
  add(two, "C", "complete_ns", 2e6)->set_kernel("6.12");
  const std::string text = summary_text(two);
  EXPECT_THAT(text, HasSubstr("1.000"));
  EXPECT_THAT(text, HasSubstr("2.000"));
  EXPECT_THAT(text, HasSubstr("6.12"));
}

TEST(ExitCode, SaysDoneOnlyIfEveryTrialPassed) {
  v1::CampaignStatus status;
  status.set_state(v1::DONE);
  EXPECT_EQ(exit_code(status), kDone);
  status.set_invalid(1);
  EXPECT_EQ(exit_code(status), kTrialsFailed);
  for (const auto state : {v1::CANCELLED, v1::INTERRUPTED, v1::ABORTED}) {
    status.set_state(state);
    EXPECT_EQ(exit_code(status), kFailed);
  }
}

TEST(Json, HasTheNamesOfTheProtoFilesAndZeroes) {
  v1::CampaignStatus status;
  status.set_campaign_id("id");
  EXPECT_THAT(json(status), HasSubstr("\"campaign_id\": \"id\""));
  EXPECT_THAT(json(status), HasSubstr("\"failed\": 0"));
  const std::string line = json_line(status);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace hopyard::cli
