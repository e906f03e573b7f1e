// SPDX-License-Identifier: Apache-2.0
// Cells, samples and pairs against plain computations over the same numbers.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Figures : public StoreTest {
 protected:
  // Records case A's h1 trials of `campaign`, one a block.
  void record(const std::string& campaign, const std::vector<int64_t>& complete_ns) {
    for (size_t block = 0; block < complete_ns.size(); ++block) {
      const std::string trial = trial_id(campaign, "A", "h1-128k", static_cast<unsigned>(block));
      ASSERT_OK(store_->record_trial(campaign, h1_result(trial, complete_ns[block]), guest_provenance()));
    }
  }

  v1::CellFigure cell(const std::string& campaign, const std::string& case_name, const std::string& workload,
                      const std::string& metric) {
    const auto cells = store_->cells(campaign);
    EXPECT_TRUE(cells.ok()) << cells.status();
    for (const v1::CellFigure& figure : *cells) {
      if (figure.case_name() == case_name && figure.workload() == workload && figure.metric() == metric)
        return figure;
    }
    ADD_FAILURE() << "no figure " << metric << " of " << case_name << " " << workload;
    return {};
  }
};

// By definition: the smallest value with at least p % of all at or below it.
double nearest_rank(std::vector<int64_t> values, int percent) {
  std::sort(values.begin(), values.end());
  size_t at_or_below = 1;
  while (at_or_below * 100 < values.size() * percent) ++at_or_below;
  return static_cast<double>(values[at_or_below - 1]);
}

double middle(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

void expect_figure_of(const v1::CellFigure& figure, const std::vector<int64_t>& values) {
  const size_t n = values.size();
  SCOPED_TRACE(n);
  EXPECT_EQ(figure.n(), n);
  EXPECT_EQ(figure.failed(), 0u);
  EXPECT_DOUBLE_EQ(figure.median_ns(), middle(values));
  EXPECT_DOUBLE_EQ(figure.min_ns(), *std::min_element(values.begin(), values.end()));
  EXPECT_DOUBLE_EQ(figure.max_ns(), *std::max_element(values.begin(), values.end()));
  EXPECT_EQ(figure.has_p90_ns(), n >= 50);
  EXPECT_EQ(figure.has_p95_ns(), n >= 100);
  EXPECT_EQ(figure.has_p99_ns(), n >= 500);
  if (n >= 50) {
    EXPECT_DOUBLE_EQ(figure.p90_ns(), nearest_rank(values, 90));
  }
  if (n >= 100) {
    EXPECT_DOUBLE_EQ(figure.p95_ns(), nearest_rank(values, 95));
  }
  if (n >= 500) {
    EXPECT_DOUBLE_EQ(figure.p99_ns(), nearest_rank(values, 99));
  }
}

// One cell that grows, looked at around every size at which something changes.
TEST_F(Figures, MediansAndPercentilesAreThoseOfAPlainComputationOrAbsent) {
  const std::set<size_t> looked_at = {1, 2, 3, 4, 20, 49, 50, 51, 99, 100, 101, 110, 499, 500, 501};
  ASSERT_OK(store_->add_campaign(small_campaign("many"), small_plan("many", 501)));
  std::mt19937_64 random(20261002);
  std::vector<int64_t> values;
  while (values.size() < 501) {
    const std::string trial = trial_id("many", "A", "h1-128k", static_cast<unsigned>(values.size()));
    values.push_back(1000 + static_cast<int64_t>(random() % 300));  // few enough that equal ones occur
    ASSERT_OK(store_->record_trial("many", h1_result(trial, values.back()), guest_provenance()));
    if (looked_at.contains(values.size()))
      expect_figure_of(cell("many", "A", "h1-128k", "complete_ns"), values);
  }
}

TEST_F(Figures, CountFailedAndInvalidTrialsBesideEveryN) {
  ASSERT_OK(store_->add_campaign(small_campaign("mixed"), small_plan("mixed", 4)));
  record("mixed", {30, 10});
  const auto lose = [&](unsigned block, v1::Verdict verdict) {
    v1::TrialResult lost = h1_result(trial_id("mixed", "A", "h1-128k", block), 1);
    lost.set_verdict(verdict);
    lost.set_reason("a check did not hold");
    ASSERT_OK(store_->record_trial("mixed", lost, guest_provenance()));
  };
  lose(2, v1::FAILED);
  lose(3, v1::INVALID);
  const v1::CellFigure figure = cell("mixed", "A", "h1-128k", "complete_ns");
  EXPECT_EQ(figure.n(), 2u);
  EXPECT_EQ(figure.failed(), 2u);
  EXPECT_DOUBLE_EQ(figure.median_ns(), 20);
  EXPECT_DOUBLE_EQ(figure.min_ns(), 10);
}

TEST_F(Figures, OfACellWithoutAnyPassedTrialAreThereWithoutValues) {
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "A", "h2-competition", 0), v1::INVALID),
                                 guest_provenance()));
  const v1::CellFigure figure = cell("c1", "A", "h2-competition", "later.complete_from_first_ns");
  EXPECT_EQ(figure.n(), 0u);
  EXPECT_EQ(figure.failed(), 1u);
  EXPECT_FALSE(figure.has_median_ns());
  EXPECT_FALSE(figure.has_max_ns());
}

TEST_F(Figures, AreNotPooledOverKernelsClocksOrExecutions) {
  ASSERT_OK(store_->add_campaign(small_campaign("two"), small_plan("two", 5)));
  const auto add = [&](unsigned block, const char* kernel, const char* clock, const char* execution,
                       int64_t value) {
    v1::TrialResult result = h1_result(trial_id("two", "A", "h1-128k", block), value);
    result.mutable_environment()->set_kernel_release(kernel);
    result.mutable_environment()->set_clock(clock);
    Provenance provenance = guest_provenance();
    provenance.execution = execution;
    ASSERT_OK(store_->record_trial("two", result, provenance));
  };
  add(0, "6.1", "real", "guest", 100);
  add(1, "6.12", "real", "guest", 200);
  add(2, "6.12", "virtual", "guest", 300);
  add(3, "6.1", "real", "host", 400);
  // Ended before anything was known of its kernel: counts beside each of them.
  Provenance unknown = guest_provenance();
  unknown.kernel_release.clear();
  ASSERT_OK(
      store_->record_trial("two", lost_result(trial_id("two", "A", "h1-128k", 4), v1::INVALID), unknown));
  std::map<std::string, std::vector<double>> seen;
  const auto cells = store_->cells("two");
  ASSERT_TRUE(cells.ok()) << cells.status();
  for (const v1::CellFigure& figure : *cells) {
    if (figure.metric() != "complete_ns") continue;
    seen[figure.kernel() + " " + figure.clock() + " " + figure.execution()] = {
        double(figure.n()), double(figure.failed()), figure.median_ns()};
  }
  const std::map<std::string, std::vector<double>> expected = {{"6.1 real guest", {1, 1, 100}},
                                                               {"6.1 real host", {1, 1, 400}},
                                                               {"6.12 real guest", {1, 1, 200}},
                                                               {"6.12 virtual guest", {1, 1, 300}}};
  EXPECT_EQ(seen, expected);
}

v1::TrialResult competition(const std::string& trial, int64_t shift) {
  v1::TrialResult result = h1_result(trial, 900);
  v1::Response& bulk = *result.mutable_client()->mutable_responses(0);
  bulk.set_role("bulk");
  result.mutable_client()->set_connect_start_ns(bulk.request_start_ns() - 500);
  v1::Response& later = *result.mutable_client()->add_responses();
  later.set_role("later");
  later.set_request_start_ns(bulk.request_start_ns() + 300);
  later.set_first_decrypted_ns(bulk.request_start_ns() + 350 + shift);
  later.set_first_data_frame_ns(bulk.request_start_ns() + 360 + shift);
  later.set_complete_ns(bulk.request_start_ns() + 400 + shift);
  return result;
}

TEST_F(Figures, OfSeveralRequestsAreNamedForTheirRoleAndCountedFromTheirOwnRequest) {
  ASSERT_OK(store_->record_trial("c1", competition(trial_id("c1", "A", "h2-competition", 0), 0),
                                 guest_provenance()));
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "bulk.complete_ns").median_ns(), 900);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "later.complete_ns").median_ns(), 100);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "later.first_decrypted_ns").median_ns(), 50);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "later.first_data_frame_ns").median_ns(), 60);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "later.start_from_first_ns").median_ns(), 300);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "later.complete_from_first_ns").median_ns(), 400);
  EXPECT_DOUBLE_EQ(cell("c1", "A", "h2-competition", "bulk.connect_to_complete_ns").median_ns(), 1400);
  // A milestone that did not happen has no sample, not a zero.
  EXPECT_EQ(cell("c1", "A", "h2-competition", "later.body_4096_ns").n(), 0u);
}

TEST_F(Figures, ComeInTheCampaignsOrder) {
  for (const char* case_name : {"B", "A"}) {
    for (const char* workload : {"h2-competition", "h1-128k"}) {
      ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", case_name, workload, 0), v1::FAILED),
                                     guest_provenance()));
    }
  }
  std::vector<std::string> seen;
  const auto cells = store_->cells("c1");
  ASSERT_TRUE(cells.ok()) << cells.status();
  for (const v1::CellFigure& figure : *cells) {
    seen.push_back(figure.workload() + " " + figure.metric() + " " + figure.case_name());
  }
  const std::vector<std::string> first(seen.begin(), seen.begin() + 4);
  EXPECT_THAT(first, ElementsAre("h1-128k first_decrypted_ns A", "h1-128k first_decrypted_ns B",
                                 "h1-128k first_body_ns A", "h1-128k first_body_ns B"));
  EXPECT_EQ(seen.back(), "h2-competition later.complete_from_first_ns B");
}

TEST_F(Figures, SamplesAreThoseOfPassedTrialsInOrderOfBlocks) {
  ASSERT_OK(store_->add_campaign(small_campaign("s"), small_plan("s", 3)));
  record("s", {30, 10, 20});
  const auto samples = store_->samples("s");
  ASSERT_TRUE(samples.ok()) << samples.status();
  ASSERT_EQ(samples->size(), 1u);
  EXPECT_EQ(samples->front().case_name, "A");
  EXPECT_EQ(samples->front().key.metric, "complete_ns");
  EXPECT_EQ(samples->front().key.kernel, "6.1.0-test");
  EXPECT_THAT(samples->front().block, ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(samples->front().value_ns, ElementsAre(30, 10, 20));
}

TEST_F(Figures, PairsAreFormedInsideABlockOfOneKernelAndOfPassedTrialsOnly) {
  ASSERT_OK(store_->add_campaign(small_campaign("p"), small_plan("p", 5)));
  record("p", {30, 10, 20, 50, 60});
  for (const unsigned block : {0u, 2u, 3u, 4u}) {
    v1::TrialResult result = h1_result(trial_id("p", "B", "h1-128k", block), 100 + block);
    if (block == 3) result.mutable_environment()->set_kernel_release("6.12");
    if (block == 4) {
      result.set_verdict(v1::FAILED);
      result.set_reason("a check did not hold");
    }
    ASSERT_OK(store_->record_trial("p", result, guest_provenance()));
  }
  const auto pairs = store_->paired_samples("p", "A", "B");
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  ASSERT_EQ(pairs->size(), 1u);
  EXPECT_THAT(pairs->front().block, ElementsAre(0u, 2u));
  EXPECT_THAT(pairs->front().a_ns, ElementsAre(30, 20));
  EXPECT_THAT(pairs->front().b_ns, ElementsAre(100, 102));
  EXPECT_EQ(pairs->front().key.workload, "h1-128k");
  EXPECT_TRUE(absl::IsInvalidArgument(store_->paired_samples("p", "A", "Z").status()));
}

bool same(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

TEST_F(Figures, ThatWereRecordedComeBackAndAreReplaced) {
  v1::PairFigure pair;
  fill(pair);
  pair.set_case_a("A");
  pair.set_case_b("B");
  pair.set_n(20);
  pair.set_negative(3);
  pair.set_positive(17);
  v1::InteractionFigure interaction;
  fill(interaction);
  ASSERT_OK(store_->record_figures("c1", {pair}, {interaction}));
  EXPECT_TRUE(same(store_->equivalences("c1")->at(0), pair));
  EXPECT_TRUE(same(store_->interactions("c1")->at(0), interaction));
  pair.set_hl_ns(-12.5);
  pair.clear_ci_low_ns();
  pair.clear_equivalence();
  ASSERT_OK(store_->record_figures("c1", {pair}, {}));
  const auto back = store_->pairs("c1", "A", "B");
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_EQ(back->size(), 1u);
  EXPECT_TRUE(same(back->front(), pair)) << back->front().DebugString();
  EXPECT_THAT(*store_->pairs("c1", "B", "A"), IsEmpty());
  EXPECT_THAT(*store_->equivalences("c1"), IsEmpty());
  EXPECT_THAT(*store_->interactions("c1"), IsEmpty());
}

TEST_F(Figures, OfOneFactorialStandTogether) {
  CampaignRow row = small_campaign("two");
  for (const char* name : {"second", "first"}) row.campaign.add_factorials()->set_name(name);
  ASSERT_OK(store_->add_campaign(row, small_plan("two", 1)));
  std::vector<v1::InteractionFigure> interactions;
  for (const char* metric : {"first_decrypted_ns", "complete_ns"}) {
    for (const char* name : {"first", "second"}) {
      v1::InteractionFigure& one = interactions.emplace_back();
      one.set_path("clean");
      one.set_workload("h1-128k");
      one.set_metric(metric);
      one.set_factorial(name);
    }
  }
  ASSERT_OK(store_->record_figures("two", {}, interactions));
  std::vector<std::string> seen;
  const auto back = store_->interactions("two");
  ASSERT_TRUE(back.ok()) << back.status();
  for (const auto& one : *back) seen.push_back(one.factorial() + " " + one.metric());
  EXPECT_THAT(seen, ElementsAre("second first_decrypted_ns", "second complete_ns", "first first_decrypted_ns",
                                "first complete_ns"));
}

}  // namespace
}  // namespace hopyard::store
