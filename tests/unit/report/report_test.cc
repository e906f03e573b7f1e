// SPDX-License-Identifier: Apache-2.0
// The whole page against the database it was made from: every sample, every figure, and no text that becomes
// markup.
#include "report/report.h"

#include <algorithm>
#include <regex>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "report/html.h"
#include "unit/store/fixture.h"

namespace hopyard::report {
namespace {

using store::guest_provenance;
using store::h1_result;
using store::lost_result;
using store::query;
using store::trial_id;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Not;

constexpr char kNasty[] = "</script><img src=x onerror=alert(1)> {{data}} & 'quoted' \"twice\"";

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  EXPECT_NE(begin, std::string::npos) << from;
  if (begin == std::string::npos) return "";
  return text.substr(begin + from.size(), text.find(to, begin) - begin - from.size());
}

size_t occurrences(const std::string& text, const std::string& of) {
  size_t count = 0;
  for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

// The exact values of one class in tables of one kind, in order.
std::vector<double> values(const std::string& page, const std::string& tables, const std::string& name) {
  std::vector<double> found;
  const std::string open = "<table class=\"" + tables + "\">";
  const std::regex data("<data class=\"" + name + "\" value=\"([^\"]*)\">([^<]*)</data>");
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    const std::string table = page.substr(at, page.find("</table>", at) - at);
    for (auto one = std::sregex_iterator(table.begin(), table.end(), data); one != std::sregex_iterator();
         ++one) {
      found.push_back(std::stod((*one)[1]));
      EXPECT_EQ((*one)[2], milliseconds(found.back()));
    }
  }
  return found;
}

class Report : public store::StoreTest {
 protected:
  std::string page(const Figures& figures = {}, std::string_view id = "c1") {
    std::string text;
    const absl::Status written = write(*store_, id, figures, [&](std::string_view piece) {
      text += piece;
      return absl::OkStatus();
    });
    EXPECT_TRUE(written.ok()) << written;
    return text;
  }

  // Three passed, one failed, four not yet run.
  void record_some() {
    ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 0), 7'000'001),
                                   guest_provenance()));
    ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 1), 9'000'000),
                                   guest_provenance()));
    ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "B", "h1-128k", 0), 5'000'000),
                                   guest_provenance()));
    ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "B", "h1-128k", 1), v1::FAILED),
                                   guest_provenance()));
  }

  std::vector<double> column(const std::string& sql) {
    std::vector<double> all;
    for (const auto& row : query(path(), sql)) all.push_back(std::stod(row[0]));
    return all;
  }
};

TEST_F(Report, EmbedsEverySampleOfTheDatabaseWithItsTrial) {
  record_some();
  const std::string text = page();
  std::string data = between(text, "<script type=\"application/json\" id=\"data\">", "</script>");
  for (size_t at = data.find('\''); at != std::string::npos; at = data.find('\'', at + 2))
    data.insert(at, "'");
  const std::string embedded =
      "SELECT json_extract(d.json, '$.prefix') || json_extract(d.json, '$.cells[' || cell.key || '][' || "
      "v.key || ']'),"
      " v.value FROM (SELECT '" +
      data +
      "' AS json) d, json_each(d.json, '$.samples') m, json_each(m.value) cell,"
      " json_each(cell.value) v WHERE v.value IS NOT NULL ORDER BY 1, 2";
  const auto stored =
      query(path(), "SELECT trial_id, value_ns FROM sample JOIN trial USING (trial_no) ORDER BY 1, 2");
  EXPECT_EQ(stored.size(), 3u);
  EXPECT_EQ(query(path(), embedded), stored);
}

TEST_F(Report, ShowsTheViewsNumbersExactly) {
  record_some();
  v1::PairFigure pair;
  pair.set_path("clean");
  pair.set_workload("h1-128k");
  pair.set_case_a("A");
  pair.set_case_b("B");
  pair.set_metric("complete_ns");
  pair.set_n(1);
  pair.set_hl_ns(-2'000'001);
  pair.set_median_diff_ns(-2'000'000.5);
  pair.set_ci_low_ns(-3'000'000.25);
  pair.set_ci_high_ns(1'000'000.125);
  pair.set_kernel("6.1.0-test");
  pair.set_clock("real");
  pair.set_execution("guest");
  ASSERT_OK(store_->record_figures("c1", {pair}, {}));
  const std::string text = page({{pair}, {}, {}, {}, {}});
  for (const char* name : {"median", "min", "max"})
    EXPECT_THAT(values(text, "cells", name),
                testing::UnorderedElementsAreArray(column(fmt::format(
                    "SELECT {0}_ns FROM v_cell WHERE campaign_id = 'c1' AND {0}_ns IS NOT NULL", name))));
  EXPECT_THAT(values(text, "pairs", "hl"), ElementsAreArray(column("SELECT hl_ns FROM v_pair")));
  EXPECT_THAT(values(text, "pairs", "low"), ElementsAreArray(column("SELECT ci_low_ns FROM v_pair")));
  EXPECT_THAT(values(text, "pairs", "high"), ElementsAreArray(column("SELECT ci_high_ns FROM v_pair")));
  EXPECT_THAT(values(text, "pairs", "median-difference"),
              ElementsAreArray(column("SELECT median_diff_ns FROM v_pair")));
  EXPECT_EQ(between(text, "id=\"passed\">", "<"), "3");
  EXPECT_EQ(between(text, "id=\"failed\">", "<"), "1");
  EXPECT_EQ(occurrences(text, "<table class=\"cells\">"),
            query(path(), "SELECT DISTINCT workload, metric FROM v_cell WHERE campaign_id = 'c1'").size());
}

TEST_F(Report, HasAPlaceForInteractionsEquivalenceDropsAndPhases) {
  record_some();
  Figures figures;
  v1::PairFigure& pair = figures.pairs.emplace_back();
  pair.set_path("clean");
  pair.set_workload("h1-128k");
  pair.set_metric("complete_ns");
  pair.mutable_equivalence()->set_margin_ns(100'000);
  pair.mutable_equivalence()->set_p_above_low(0.25);
  v1::InteractionFigure& interaction = figures.interactions.emplace_back();
  interaction.set_path("clean");
  interaction.set_workload("h1-128k");
  interaction.set_metric("complete_ns");
  interaction.set_factorial("buffer-fragment");
  interaction.set_hl_ns(1'234'567);
  v1::CellDiagnostic& diagnostic = figures.diagnostics.emplace_back();
  diagnostic.set_path("clean");
  diagnostic.set_drops_to_client(17);
  v1::CellFigure& lucky = figures.without_drops.emplace_back();
  lucky.set_path("clean");
  lucky.set_workload("h1-128k");
  lucky.set_metric("complete_ns");
  lucky.set_median_ns(7'654'321);
  for (const char* name : {"initial", "more"}) figures.phases.emplace_back().set_name(name);
  const std::string text = page(figures);
  EXPECT_THAT(text, HasSubstr("not shown within 0.100 ms (p 0.2500)"));
  EXPECT_THAT(values(text, "interactions", "hl"), testing::ElementsAre(1'234'567));
  EXPECT_THAT(between(text, "<table class=\"diagnostics\">", "</table>"), HasSubstr(">17<"));
  EXPECT_THAT(values(text, "without-drops", "median"), testing::ElementsAre(7'654'321));
  EXPECT_THAT(between(text, "<table class=\"phases\">", "</table>"), HasSubstr(">more<"));
}

TEST_F(Report, TellsCasesApartByWhateverIsSet) {
  store::CampaignRow row = store::small_campaign("c2");
  v1::Server& server = *row.campaign.mutable_cases(1)->mutable_server();
  server.set_ssl_dyn_rec_enable(true);
  server.set_ssl_dyn_rec_threshold(10);
  ASSERT_OK(store_->add_campaign(row, store::small_plan("c2", 1)));
  EXPECT_THAT(page({}, "c2"), HasSubstr("ssl_dyn_rec_enable: true ssl_dyn_rec_threshold: 10</td>"));
}

TEST_F(Report, ComesEvenBeforeTheFirstTrial) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("<h1>Which is earlier?</h1>"));
  EXPECT_THAT(text, HasSubstr("\"samples\":["));
  EXPECT_THAT(text, HasSubstr("No trial has an outcome yet"));
  EXPECT_THAT(text, HasSubstr("8 of 8 planned trials have no outcome"));
}

TEST_F(Report, TakesNoTextForMarkup) {
  store::CampaignRow row = store::small_campaign("c2");
  row.file = kNasty;
  row.text = kNasty;
  row.overrides = {kNasty};
  row.campaign.set_question(kNasty);
  row.campaign.set_source(kNasty);
  row.campaign.mutable_cases(0)->set_note(kNasty);
  ASSERT_OK(store_->add_campaign(row, store::small_plan("c2", 1)));
  v1::TrialResult failed = lost_result(trial_id("c2", "A", "h1-128k", 0), v1::FAILED);
  failed.set_reason(kNasty);
  failed.add_checks()->set_name(kNasty);
  failed.mutable_client()->add_responses()->set_role(kNasty);
  failed.mutable_client()->mutable_responses(0)->set_request_start_ns(5);
  failed.mutable_environment()->set_kernel_version(kNasty);
  failed.mutable_environment()->add_unsupported(kNasty);
  store::Provenance provenance = guest_provenance();
  provenance.inputs = {kNasty};
  ASSERT_OK(store_->record_trial("c2", failed, provenance));
  std::string text;
  ASSERT_OK(write(*store_, "c2", {}, [&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  }));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_EQ(occurrences(text, "</script>"), 2u);
  EXPECT_GE(occurrences(text, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; {{data}} &amp;"), 10u);
  // What the trial's own texts became in the data block.
  EXPECT_GE(occurrences(text, "\\u003c/script\\u003e\\u003cimg src=x onerror=alert(1)\\u003e"), 2u);
}

TEST_F(Report, FetchesNothing) {
  record_some();
  const std::string text = page();
  EXPECT_THAT(between(text, "http-equiv=\"Content-Security-Policy\" content=\"", "\""),
              testing::StartsWith("default-src &#39;none&#39;; script-src &#39;sha256-"));
  for (const char* outside : {"src=", "href=\"http", "url(", "@import", "https://"})
    EXPECT_THAT(text, Not(HasSubstr(outside)));
  EXPECT_EQ(occurrences(text, "http://"), 1u) << "the name of SVG's namespace alone";
}

TEST_F(Report, EndsWithTheSinksError) {
  EXPECT_EQ(write(*store_, "c1", {}, [](std::string_view) { return absl::CancelledError("gone"); }),
            absl::CancelledError("gone"));
  EXPECT_TRUE(
      absl::IsNotFound(write(*store_, "nobody", {}, [](std::string_view) { return absl::OkStatus(); })));
}

}  // namespace
}  // namespace hopyard::report
