// SPDX-License-Identifier: Apache-2.0
// Tables, the summary, JSON and exit codes as scripts and people read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "cli/command.h"
#include "cli/comparison_text.h"
#include "cli/output.h"
#include "cli/phase_text.h"
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

TEST(SummaryText, CountsFromConnectWhereAskedTo) {
  v1::SummaryResponse one = summary();
  add(one, "C", "complete_ns", 1e6);
  add(one, "C", "connect_to_first_decrypted_ns", 400e6)->set_p95_ns(700e6);
  add(one, "C", "connect_to_complete_ns", 500e6);
  EXPECT_THAT(summary_text(one), Not(HasSubstr("400.000")));
  const std::string text = summary_text(one, TimesFrom::kConnect);
  EXPECT_THAT(text, HasSubstr("Medians on the real clock, from the connection's start:"));
  EXPECT_THAT(text, ContainsRegex("first decrypted ms +p95 +complete ms +p95\n"));
  EXPECT_THAT(text, ContainsRegex("C +5 +1 +400.000 +700.000 +500.000 +–\n"));
  EXPECT_THAT(text, Not(HasSubstr("1.000")));
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

v1::Phase phase(const std::string& name, uint32_t first_block, uint32_t blocks) {
  v1::Phase phase;
  phase.set_name(name);
  phase.set_first_block(first_block);
  phase.set_blocks(blocks);
  phase.set_trials(blocks * 4);
  return phase;
}

TEST(SummaryText, SaysWhichSamplesCameFromWhichPhase) {
  v1::SummaryResponse two = summary();
  *two.mutable_status()->add_phases() = phase("initial", 0, 20);
  EXPECT_THAT(summary_text(two), Not(HasSubstr("phase"))) << "one is no news";
  *two.mutable_status()->add_phases() = phase("more", 20, 30);
  v1::CellFigure* both = add(two, "D", "complete_ns", 1e6);
  for (const auto& [name, n] : {std::pair("initial", 20u), std::pair("more", 29u)}) {
    v1::PhaseFigure* part = both->add_phases();
    part->set_phase(name);
    part->set_n(n);
  }
  v1::CellFigure* later = add(two, "E", "complete_ns", 1e6);
  later->add_phases()->set_phase("more");
  later->mutable_phases(0)->set_n(5);
  const std::string text = summary_text(two);
  EXPECT_THAT(text, ContainsRegex("initial +1–20 +0 +80 "));
  EXPECT_THAT(text, ContainsRegex("more +21–50 +0 +120 "));
  EXPECT_THAT(text, ContainsRegex("case +n +n by phase +failed"));
  EXPECT_THAT(text, ContainsRegex("D +5 +20 \\+ 29 +1 "));
  EXPECT_THAT(text, ContainsRegex("E +5 +0 \\+ 5 +1 "));
}

TEST(PhaseText, ShowsWhatIsPlannedOnlyWhereThereAreSeveral) {
  Phases phases;
  *phases.Add() = phase("initial", 0, 20);
  EXPECT_EQ(planned_phases(phases), "");
  EXPECT_EQ(phase_names(phases), "initial");
  *phases.Add() = phase("more", 20, 30);
  phases.Mutable(1)->set_note("why");
  EXPECT_EQ(planned_phases(phases),
            "phase    blocks  cells  trials  responses  seed  note\n"
            "initial    1–20      0      80          0     0\n"
            "more      21–50      0     120          0     0  why\n");
  EXPECT_EQ(phase_names(phases), "initial + more");
}

TEST(SummaryText, ShowsALaterResponsesEndFromTheFirstRequest) {
  v1::SummaryResponse two = summary();
  add(two, "C", "bulk.complete_ns", 500e6);
  EXPECT_THAT(summary_text(two), Not(HasSubstr("from first"))) << "no response comes later";
  add(two, "C", "later.complete_ns", 67e6);
  add(two, "C", "later.complete_from_first_ns", 123e6);
  const std::string text = summary_text(two);
  EXPECT_THAT(text, ContainsRegex("complete ms +from first ms"));
  EXPECT_THAT(text, ContainsRegex("later +C .* 67.000 +123.000"));
  EXPECT_THAT(text, ContainsRegex("bulk +C .* 500.000 +–"));
}

v1::CellDiagnostic* add(v1::DiagnosticsResponse& diagnostics, const std::string& case_name,
                        const std::string& role) {
  v1::CellDiagnostic* cell = diagnostics.add_cells();
  cell->set_path("wan");
  cell->set_workload("h2-competition");
  cell->set_case_name(case_name);
  cell->set_role(role);
  cell->set_n(20);
  return cell;
}

TEST(DiagnosticsText, ShowsDropsRetriesUnsentBytesAndTheTrialsWithoutDrops) {
  v1::DiagnosticsResponse diagnostics;
  v1::CellDiagnostic* later = add(diagnostics, "D", "later");
  later->set_drops_to_server(3);
  later->set_drops_to_client(82);
  later->set_without_drops(6);
  later->set_median_ssl_write_retries(6.5);
  later->set_median_unsent_bytes(28960);
  v1::CellFigure* quiet = diagnostics.add_without_drops();
  quiet->set_path("wan");
  quiet->set_workload("h2-competition");
  quiet->set_case_name("D");
  quiet->set_metric("later.complete_ns");
  quiet->set_n(6);
  quiet->set_median_ns(432e6);
  const std::string text = diagnostics_text(diagnostics);
  EXPECT_THAT(text, ContainsRegex("wan +h2-competition +later +D +20 +3 +82 +6 +6.5 +28960\n"));
  EXPECT_THAT(text, HasSubstr("no controlled comparison"));
  EXPECT_THAT(text, ContainsRegex("wan +h2-competition +later +D +6 .* 432.000"));
}

TEST(DiagnosticsText, LeavesOpenWhatThePathDoesNotTell) {
  v1::DiagnosticsResponse diagnostics;
  add(diagnostics, "D", "body");
  const std::string text = diagnostics_text(diagnostics);
  EXPECT_THAT(text, ContainsRegex("body +D +20 +– +– +– +0 +–\n"));
  EXPECT_THAT(text, Not(HasSubstr("no controlled comparison"))) << "no lossy path";
}

v1::PairFigure pair(const std::string& metric, double hl_ns, bool equivalent) {
  v1::PairFigure figure;
  figure.set_path("clean");
  figure.set_workload("h2-128k");
  figure.set_case_a("D");
  figure.set_case_b("F");
  figure.set_metric(metric);
  figure.set_n(20);
  figure.set_hl_ns(hl_ns);
  figure.set_p_value(0.5);
  figure.mutable_equivalence()->set_margin_ns(100'000);
  figure.mutable_equivalence()->set_p_above_low(equivalent ? 0.0001 : 0.2);
  figure.mutable_equivalence()->set_p_below_high(0.01);
  figure.mutable_equivalence()->set_equivalent(equivalent);
  return figure;
}

v1::InteractionFigure interaction() {
  v1::InteractionFigure figure;
  figure.set_factorial("buffer-fragment");
  figure.set_path("clean");
  figure.set_workload("h2-128k");
  figure.set_neither("C");
  figure.set_first("D");
  figure.set_second("F");
  figure.set_both("G");
  figure.set_metric("complete_ns");
  figure.set_n(20);
  figure.set_hl_ns(-5'409'000);
  figure.set_p_value(0.0004);
  return figure;
}

TEST(CompareText, SaysOfEachFigureWhetherTheCasesAreEquivalentWithinTheMargin) {
  v1::CompareRequest request;
  request.set_case_a("D");
  request.set_case_b("F");
  v1::CompareResponse response;
  *response.add_pairs() = pair("first_decrypted_ns", -20'000, true);
  *response.add_pairs() = pair("complete_ns", 150'000, false);
  const std::string text = compare_text(response, request);
  EXPECT_THAT(text, HasSubstr("F - D, paired within blocks"));
  EXPECT_THAT(text, ContainsRegex("p +within ±0.1 ms +p\n"));
  EXPECT_THAT(text, ContainsRegex("first_decrypted_ns +20 .* -0.020 .* equivalent +0.0100\n"));
  EXPECT_THAT(text, ContainsRegex("complete_ns +20 .* 0.150 .* not shown +0.2000\n"));
  EXPECT_THAT(text, Not(HasSubstr("Interaction")));
  for (auto& one : *response.mutable_pairs()) one.clear_equivalence();
  EXPECT_THAT(compare_text(response, request), Not(HasSubstr("within ±")));
}

TEST(CompareText, PutsTheInteractionsOfItsCasesUnderThePairs) {
  v1::CompareRequest request;
  v1::CompareResponse response;
  *response.add_pairs() = pair("complete_ns", 0, true);
  *response.add_interactions() = interaction();
  EXPECT_THAT(compare_text(response, request),
              HasSubstr("\nInteraction buffer-fragment: (G - F) - (D - C)\n"));
  EXPECT_THAT(compare_text(response, request), ContainsRegex("complete_ns +20 +0.000 +-5.409 "));
}

TEST(SummaryText, EndsWithTheComparisonsThatTheCampaignDeclares) {
  v1::SummaryResponse one = summary();
  add(one, "D", "complete_ns", 1e6);
  EXPECT_THAT(summary_text(one), Not(HasSubstr("Equivalence")));
  *one.add_equivalences() = pair("first_decrypted_ns", -20'000, true);
  *one.add_equivalences() = pair("complete_ns", 150'000, false);
  *one.add_interactions() = interaction();
  const std::string text = summary_text(one);
  EXPECT_THAT(text,
              ContainsRegex("clean +h2-128k +D = F ±0.1 ms +equivalent \\(p 0.0100\\) +– +– +not shown"));
  EXPECT_THAT(text,
              ContainsRegex("buffer-fragment: \\(G - F\\) - \\(D - C\\) +– +– +– +-5.409 \\(p 0.0004\\)"));
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
