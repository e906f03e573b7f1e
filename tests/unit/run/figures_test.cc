// SPDX-License-Identifier: Apache-2.0
// Figures of compared cases, from samples to what is stored, over random data with ties, zeros and holes;
// another program checks every one of them.
#include "run/figures.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <random>

#include "base/child.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"
#include "store/store.h"

namespace hopyard::run {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array kCases = {"C", "D", "F", "G"};

class FiguresTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/figures-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    store_ = store::Store::open(folder_ + "/test.db").value();
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::string trial_id(const std::string& id, const std::string& case_name, uint32_t block) {
    return fmt::format("{}/{}/{}", id, case_name, block);
  }

  // A campaign over the first `cases` of kCases, with a margin for the first two of them and, if there are
  // four, one factorial.
  void add_campaign(const std::string& id, size_t cases, uint32_t blocks, int64_t margin_ns = 1000) {
    store::CampaignRow row{.id = id, .text_sha256 = std::string(64, 'a')};
    row.campaign.set_name(id);
    row.campaign.set_clock("real");
    row.campaign.add_paths()->set_name("clean");
    v1::Workload& workload = *row.campaign.add_workloads();
    workload.set_name("h1-4k");
    workload.set_protocol("h1");
    workload.add_requests()->set_name("body");
    workload.mutable_requests(0)->set_body_bytes(4096);
    v1::Equivalence& equivalence = *row.campaign.add_equivalence();
    equivalence.set_margin_ns(margin_ns);
    for (size_t i = 0; i < 2; ++i) equivalence.add_cases(kCases[i]);
    if (cases == 4) {
      v1::Factorial& four = *row.campaign.add_factorials();
      four.set_name("square");
      four.set_neither("C");
      four.set_first("D");
      four.set_second("F");
      four.set_both("G");
    }
    std::vector<store::PlannedRow> planned;
    for (size_t i = 0; i < cases; ++i) row.campaign.add_cases()->set_name(kCases[i]);
    for (uint32_t block = 0; block < blocks; ++block) {
      for (size_t i = 0; i < cases; ++i) {
        store::PlannedRow& one = planned.emplace_back();
        one.trial_id = trial_id(id, kCases[i], block);
        one.planned.set_index(static_cast<uint32_t>(planned.size() - 1));
        one.planned.set_block(block);
        one.planned.set_position(static_cast<uint32_t>(i));
        one.planned.set_case_name(kCases[i]);
        one.planned.set_path("clean");
        one.planned.set_workload("h1-4k");
      }
    }
    const absl::Status added = store_->add_campaign(row, planned);
    ASSERT_TRUE(added.ok()) << added;
  }

  // A passed trial with these milestones, 0: it did not happen.
  void record(const std::string& trial, const std::string& campaign, std::array<int64_t, 4> ns,
              v1::Verdict verdict = v1::PASSED) {
    v1::TrialResult result;
    result.set_trial_id(trial);
    result.set_verdict(verdict);
    if (verdict != v1::PASSED) result.set_reason("lost");
    v1::Response& response = *result.mutable_client()->add_responses();
    response.set_stream(1);
    response.set_role("body");
    response.set_protocol("h1");
    response.set_request_start_ns(1);
    const auto instant = [](int64_t after) { return after == 0 ? 0 : 1 + after; };
    response.set_first_decrypted_ns(instant(ns[0]));
    response.set_first_body_ns(instant(ns[1]));
    response.set_body_1024_ns(instant(ns[2]));
    response.set_complete_ns(instant(ns[3]));
    const absl::Status stored =
        store_->record_trial(campaign, result, {.execution = "host", .kernel_release = "6.1"});
    ASSERT_TRUE(stored.ok()) << stored;
  }

  // Four shapes: hardly any ties; few values, so ties and zero differences; all the same; a shift of about
  // the margin beside small noise. Every case lies a little later than the one before it.
  static std::array<int64_t, 4> draw(std::mt19937_64& random, size_t case_place) {
    const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
    const auto place = static_cast<int64_t>(case_place);
    return {20'000'000 + below(5'000'000) + place * 300'000, 1 + below(4) + place / 2, 777,
            50'000 + below(900) + below(900) + place * 400};
  }

  // Every trial of it passes, but for one in `holes` (0: none), and shows the first `shapes` of draw().
  void fill_campaign(const std::string& id, size_t cases, uint32_t blocks, unsigned holes = 0,
                     size_t shapes = 4) {
    add_campaign(id, cases, blocks);
    std::mt19937_64 random(blocks + holes);
    for (uint32_t block = 0; block < blocks; ++block) {
      for (size_t i = 0; i < cases; ++i) {
        const bool lost = holes != 0 && random() % holes == 0;
        std::array<int64_t, 4> ns = draw(random, i);
        std::fill(ns.begin() + static_cast<std::ptrdiff_t>(shapes), ns.end(), 0);
        record(trial_id(id, kCases[i], block), id, ns, lost ? v1::FAILED : v1::PASSED);
      }
    }
  }

  void compute(const std::string& id) {
    const absl::Status stored = record_figures(*store_, id, {});
    ASSERT_TRUE(stored.ok()) << stored;
    ASSERT_TRUE(store_->set_state(id, v1::DONE, "").ok());
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
};

// The other program's words; empty: python3-scipy is not here.
std::string independent_check(const std::string& database, bool& agrees) {
  base::ChildOptions options;
  options.argv = {"/usr/bin/python3", "-c", "import scipy.stats"};
  const auto there = base::run_command(options, std::chrono::minutes(1));
  if (!there.ok() || !there->exit.clean()) return "";
  options.argv = {"/usr/bin/python3", HOPYARD_SOURCE_DIR "/tests/unit/stats/check_figures.py", database};
  const auto ran = base::run_command(options, std::chrono::minutes(8));
  if (!ran.ok()) return ran.status().ToString();
  agrees = ran->exit.clean();
  return ran->output;
}

TEST_F(FiguresTest, AgreeWithAnotherProgramWhateverTheDataAre) {
  for (const uint32_t blocks : {1u, 2u, 5u, 6u, 50u}) fill_campaign(fmt::format("n{}", blocks), 4, blocks);
  // Around the last n that is exact. Two shapes alone: the other program needs seconds for each.
  for (const uint32_t blocks : {300u, 301u}) fill_campaign(fmt::format("n{}", blocks), 2, blocks, 0, 2);
  fill_campaign("holes", 4, 40, 5);
  for (const char* id : {"n1", "n2", "n5", "n6", "n50", "n300", "n301", "holes"}) compute(id);
  bool agrees = false;
  const std::string said = independent_check(folder_ + "/test.db", agrees);
  if (said.empty()) GTEST_SKIP() << "python3-scipy is not installed";
  EXPECT_TRUE(agrees) << said;
  EXPECT_THAT(said, HasSubstr("scipy.stats.wilcoxon"));
  RecordProperty("compared", said);
}

TEST_F(FiguresTest, AnotherProgramNoticesASampleOrFigureThatIsNotRight) {
  fill_campaign("c", 4, 8);
  compute("c");
  const auto pairs = store_->equivalences("c");
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  std::vector<v1::PairFigure> changed = *pairs;
  for (v1::PairFigure& pair : changed) pair.mutable_equivalence()->set_p_above_low(0.03);
  ASSERT_TRUE(store_->record_figures("c", changed, *store_->interactions("c")).ok());
  bool agrees = true;
  const std::string said = independent_check(folder_ + "/test.db", agrees);
  if (said.empty()) GTEST_SKIP() << "python3-scipy is not installed";
  EXPECT_FALSE(agrees);
  EXPECT_THAT(said, HasSubstr("p_above_low: expected"));
  EXPECT_THAT(said, HasSubstr("v_pair: ('C', 'F'")) << "and those that are not there any more";
}

TEST_F(FiguresTest, TestEquivalenceWhereAMarginIsDeclaredAndOnlyThere) {
  add_campaign("c", 4, 6, 100);
  for (uint32_t block = 0; block < 6; ++block) {
    for (size_t i = 0; i < 4; ++i) {
      const int64_t far = i == 0 ? 1000 : 2000;  // D is far from C at its completion, near at its first byte
      record(trial_id("c", kCases[i], block), "c",
             {5000 + block * 7 + static_cast<int64_t>(i), 0, 0, far + 100 * block});
    }
  }
  compute("c");
  const auto compared = compare_cases(*store_, "c", "C", "D");
  ASSERT_TRUE(compared.ok()) << compared.status();
  ASSERT_EQ(compared->pairs_size(), 2);
  EXPECT_EQ(compared->pairs(0).metric(), "first_decrypted_ns");
  EXPECT_TRUE(compared->pairs(0).equivalence().equivalent());
  EXPECT_EQ(compared->pairs(0).equivalence().margin_ns(), 100);
  EXPECT_EQ(compared->pairs(0).equivalence().p_below_high(), 1.0 / 64);
  EXPECT_FALSE(compared->pairs(1).equivalence().equivalent());
  EXPECT_EQ(compared->pairs(1).equivalence().p_above_low(), 1.0 / 64);
  EXPECT_EQ(compared->pairs(1).equivalence().p_below_high(), 1.0);
  const auto undeclared = compare_cases(*store_, "c", "C", "F");
  for (const auto& pair : undeclared->pairs()) EXPECT_FALSE(pair.has_equivalence());
  // The other way round is computed: its tests change places.
  EXPECT_EQ(compare_cases(*store_, "c", "D", "C")->pairs(1).equivalence().p_below_high(), 1.0 / 64);
}

TEST_F(FiguresTest, GiveInteractionsOfBlocksInWhichAllFourPassed) {
  add_campaign("c", 4, 3);
  const int64_t ns[3][4] = {{10, 8, 9, 10}, {10, 7, 10, 11}, {5, 6, 7, 7}};
  for (uint32_t block = 0; block < 3; ++block) {
    for (size_t i = 0; i < 4; ++i) {
      const bool lost = block == 2 && i == 3;
      record(trial_id("c", kCases[i], block), "c", {0, 0, 0, ns[block][i]}, lost ? v1::INVALID : v1::PASSED);
    }
  }
  compute("c");
  const auto summary = summarise(*store_, "c");
  ASSERT_TRUE(summary.ok()) << summary.status();
  ASSERT_EQ(summary->interactions_size(), 1);
  const v1::InteractionFigure& one = summary->interactions(0);
  EXPECT_EQ(one.factorial(), "square");
  EXPECT_EQ(one.both(), "G");
  EXPECT_EQ(one.metric(), "complete_ns");
  EXPECT_EQ(one.n(), 2u);
  EXPECT_EQ(one.median_ns(), 3.5);  // 3 and 4
  EXPECT_EQ(one.positive(), 2u);
  EXPECT_EQ(one.p_value(), 0.5);
  EXPECT_EQ(compare_cases(*store_, "c", "C", "G")->interactions_size(), 1);
}

TEST_F(FiguresTest, OfACampaignThatGoesOnAreOfItsPresentSamples) {
  add_campaign("c", 2, 3);
  std::mt19937_64 random(1);
  for (uint32_t block = 0; block < 2; ++block) {
    for (size_t i = 0; i < 2; ++i) record(trial_id("c", kCases[i], block), "c", draw(random, i));
  }
  compute("c");
  EXPECT_EQ(compare_cases(*store_, "c", "C", "D")->pairs(0).n(), 2u);
  ASSERT_TRUE(store_->set_state("c", v1::RUNNING, "").ok());
  for (size_t i = 0; i < 2; ++i) record(trial_id("c", kCases[i], 2), "c", draw(random, i));
  EXPECT_EQ(compare_cases(*store_, "c", "C", "D")->pairs(0).n(), 3u);
  EXPECT_THAT(summarise(*store_, "c")->equivalences(), IsEmpty());
  compute("c");
  EXPECT_EQ(summarise(*store_, "c")->equivalences(0).n(), 3u);
}

TEST_F(FiguresTest, ThatAreStoppedAreNotStored) {
  fill_campaign("c", 4, 8);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(absl::IsCancelled(record_figures(*store_, "c", stop.get_token())));
  EXPECT_THAT(*store_->pairs("c", "C", "D"), IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(compare_cases(*store_, "c", "C", "X").status()));
}

}  // namespace
}  // namespace hopyard::run
