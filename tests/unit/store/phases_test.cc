// SPDX-License-Identifier: Apache-2.0
// Extensions are added behind what is stored and change none of it; figures know which samples came from
// which.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "store/embedded_sql.h"
#include "store/migrate.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// All columns of all that an extension must leave alone.
constexpr char kStored[] =
    "SELECT trial.*, cell.path, cell.workload, cell.case_name, cell.kernel_name, outcome.verdict,"
    " outcome.recorded_unix_ns FROM trial JOIN cell USING (cell_no) LEFT JOIN outcome USING (trial_no)"
    " WHERE block < 2 ORDER BY trial_no";

class Phases : public StoreTest {
 protected:
  // `blocks` more of case A's h1 trials, and of a cell that did not run before.
  std::vector<PlannedRow> added(unsigned blocks, unsigned first = 2) {
    std::vector<PlannedRow> rows;
    for (unsigned block = first; block < first + blocks; ++block) {
      for (const char* case_name : {"A", "B"}) {
        PlannedRow& row = rows.emplace_back();
        row.trial_id = trial_id("c1", case_name, "h1-128k", block);
        row.planned.set_index(static_cast<uint32_t>(8 + rows.size() - 1));
        row.planned.set_block(block);
        row.planned.set_position(*case_name == 'A' ? 0 : 1);
        row.planned.set_case_name(case_name);
        row.planned.set_path("clean");
        row.planned.set_workload("h1-128k");
        row.planned.set_kernel(*case_name == 'A' ? "auto" : "host");
        row.planned.set_seed(block);
        row.planned.set_phase("more");
      }
    }
    return rows;
  }

  ExtensionRow more() {
    ExtensionRow row;
    row.file = "more.yaml";
    row.text = "name: more # \"quoted\"\n";
    row.text_sha256 = "def456";
    row.options = {"--repetitions 3", "--cases A,B"};
    row.campaign = small_campaign("c1").campaign;
    v1::Extension& extension = *row.campaign.add_extensions();
    extension.set_name("more");
    extension.set_repetitions(3);
    extension.set_seed(7);
    extension.set_note("a look");
    row.added_unix_ns = 1800000000000000001;
    return row;
  }

  void extend(unsigned blocks) {
    ASSERT_OK(store_->set_state("c1", v1::DONE, ""));
    ASSERT_OK(store_->extend_campaign("c1", more(), added(blocks)));
  }

  void record(const std::string& case_name, unsigned block, int64_t complete_ns) {
    ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", case_name, "h1-128k", block), complete_ns),
                                   guest_provenance()));
  }

  v1::CellFigure figure_of_a() {
    const auto cells = store_->cells("c1");
    EXPECT_TRUE(cells.ok()) << cells.status();
    for (const v1::CellFigure& cell : *cells) {
      if (cell.case_name() == "A" && cell.metric() == "complete_ns") return cell;
    }
    ADD_FAILURE() << "A has no figure";
    return {};
  }
};

TEST_F(Phases, AnExtensionChangesNothingThatIsStored) {
  record("A", 0, 10);
  const auto before = query(path(), kStored);
  const auto planned = *store_->planned("c1");
  ASSERT_EQ(before.size(), 8u);
  extend(3);
  EXPECT_EQ(query(path(), kStored), before);
  const auto after = *store_->planned("c1");
  ASSERT_EQ(after.size(), 14u);
  for (size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(after[i].trial_id, planned[i].trial_id);
    EXPECT_TRUE(MessageDifferencer::Equals(after[i].planned, planned[i].planned));
  }
  for (size_t i = 8; i < 14; ++i)
    EXPECT_TRUE(MessageDifferencer::Equals(after[i].planned, added(3)[i - 8].planned)) << i;
  EXPECT_EQ(store_->without_outcome("c1")->size(), 13u);
  EXPECT_THAT(store_->check()->problems(), IsEmpty());
}

TEST_F(Phases, AnExtensionIsStoredWithItsTextAndTheCampaignIsQueued) {
  extend(3);
  const auto campaign = *store_->campaign("c1");
  EXPECT_EQ(campaign.text, small_campaign("c1").text);
  EXPECT_TRUE(MessageDifferencer::Equals(campaign.campaign, more().campaign));
  EXPECT_EQ(campaign.jobs, 2u) << "as before";
  EXPECT_EQ(store_->status("c1")->state(), v1::QUEUED);
  EXPECT_EQ(store_->status("c1")->finished_unix_ns(), 0);
  EXPECT_EQ(store_->status("c1")->trials(), 14u);
  EXPECT_THAT(
      query(path(),
            "SELECT file, yaml, options, yaml_sha256, added_unix_ns, seed, note, blocks FROM v_phase"
            " WHERE phase = 'more'"),
      ElementsAre(ElementsAre("more.yaml", "name: more # \"quoted\"\n", "--repetitions 3\n--cases A,B",
                              "def456", "1800000000000000001", "7", "a look", "3")));
  EXPECT_THAT(query(path(), "SELECT phases_json FROM v_campaign"),
              ElementsAre(ElementsAre("[\"initial\",\"more\"]")));
  EXPECT_THAT(query(path(), "SELECT phase, COUNT(*) FROM v_trial GROUP BY 1 ORDER BY 1"),
              ElementsAre(ElementsAre("initial", "8"), ElementsAre("more", "6")));
}

TEST_F(Phases, AreCountedWithWhatCameOfTheirTrials) {
  extend(3);
  record("A", 0, 10);
  record("A", 2, 30);
  record("A", 3, 40);
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "B", "h1-128k", 3), v1::INVALID),
                                 guest_provenance()));
  const auto phases = *store_->phases("c1");
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].name(), "initial");
  EXPECT_EQ(phases[0].cells(), 4u);
  EXPECT_EQ(phases[0].trials(), 8u);
  EXPECT_EQ(phases[0].passed(), 1u);
  EXPECT_EQ(phases[0].seed(), ~0ull);
  EXPECT_EQ(phases[1].first_block(), 2u);
  EXPECT_EQ(phases[1].blocks(), 3u);
  EXPECT_EQ(phases[1].cells(), 2u);
  EXPECT_EQ(phases[1].trials(), 6u);
  EXPECT_EQ(phases[1].passed(), 2u);
  EXPECT_EQ(phases[1].invalid(), 1u);
  EXPECT_EQ(phases[1].seed(), 7u);
}

TEST_F(Phases, ShareOneFigureThatSaysWhichSamplesCameFromWhich) {
  extend(3);
  record("A", 0, 10);
  record("A", 1, 20);
  record("A", 2, 400);
  record("A", 3, 300);
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "A", "h1-128k", 4), v1::FAILED),
                                 guest_provenance()));
  const v1::CellFigure figure = figure_of_a();
  EXPECT_EQ(figure.n(), 4u);
  EXPECT_DOUBLE_EQ(figure.median_ns(), 160);
  ASSERT_EQ(figure.phases_size(), 2);
  EXPECT_EQ(figure.phases(0).phase(), "initial");
  EXPECT_EQ(figure.phases(0).n(), 2u);
  EXPECT_EQ(figure.phases(0).failed(), 0u);
  EXPECT_DOUBLE_EQ(figure.phases(0).median_ns(), 15);
  EXPECT_EQ(figure.phases(1).phase(), "more");
  EXPECT_EQ(figure.phases(1).n(), 2u);
  EXPECT_EQ(figure.phases(1).failed(), 1u);
  EXPECT_DOUBLE_EQ(figure.phases(1).median_ns(), 350);
}

// As in the cell's own figure, where it counts beside every kernel.
TEST_F(Phases, CountWhatEndedBeforeItsKernelWasKnown) {
  extend(3);
  record("A", 0, 10);
  record("A", 2, 20);
  Provenance unknown = guest_provenance();
  unknown.kernel_release.clear();
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "A", "h1-128k", 3), v1::FAILED), unknown));
  const v1::CellFigure figure = figure_of_a();
  EXPECT_EQ(figure.kernel(), "6.1.0-test");
  EXPECT_EQ(figure.failed(), 1u);
  ASSERT_EQ(figure.phases_size(), 2);
  EXPECT_EQ(figure.phases(0).failed(), 0u);
  EXPECT_EQ(figure.phases(1).n(), 1u);
  EXPECT_EQ(figure.phases(1).failed(), 1u);
}

TEST_F(Phases, FiguresAreForgottenBecauseTheyWereOfFewerSamples) {
  v1::PairFigure pair;
  pair.set_case_a("A");
  pair.set_case_b("B");
  v1::InteractionFigure interaction;
  interaction.set_factorial("two-by-two");
  ASSERT_OK(store_->record_figures("c1", {pair}, {interaction}));
  ASSERT_EQ(store_->pairs("c1", "A", "B")->size(), 1u);
  ASSERT_EQ(store_->interactions("c1")->size(), 1u);
  extend(1);
  EXPECT_THAT(*store_->pairs("c1", "A", "B"), IsEmpty());
  EXPECT_THAT(*store_->interactions("c1"), IsEmpty());
}

TEST_F(Phases, AreRefusedWholeWhereTheyDoNotFit) {
  EXPECT_TRUE(absl::IsFailedPrecondition(store_->extend_campaign("c1", more(), added(1))))
      << "it has not ended";
  ASSERT_OK(store_->set_state("c1", v1::CANCELLED, "cancelled"));
  const auto stored = query(path(), "SELECT * FROM campaign, phase, trial");
  EXPECT_TRUE(absl::IsNotFound(store_->extend_campaign("c", more(), added(1))));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->extend_campaign("c1", more(), {})));
  const absl::Status gap = store_->extend_campaign("c1", more(), added(1, 3));
  EXPECT_TRUE(absl::IsInvalidArgument(gap));
  EXPECT_THAT(std::string(gap.message()), HasSubstr("begins at block 2, not 3"));
  auto taken = added(1);
  for (PlannedRow& row : taken) row.planned.set_phase("initial");
  EXPECT_TRUE(absl::IsAlreadyExists(store_->extend_campaign("c1", more(), taken)));
  taken = added(1);
  taken[1].trial_id = trial_id("c1", "A", "h1-128k", 0);
  EXPECT_TRUE(absl::IsAlreadyExists(store_->extend_campaign("c1", more(), taken)));
  taken = added(1);
  taken[1].planned.set_phase("other");
  EXPECT_TRUE(absl::IsInvalidArgument(store_->extend_campaign("c1", more(), taken)));
  EXPECT_EQ(query(path(), "SELECT * FROM campaign, phase, trial"), stored);
}

TEST_F(Phases, OfTheCampaignFileAreStoredWithTheCampaign) {
  auto planned = small_plan("c2", 5);
  for (PlannedRow& row : planned) {
    if (row.planned.block() >= 2) row.planned.set_phase("in-file");
  }
  ASSERT_OK(store_->add_campaign(small_campaign("c2"), planned));
  EXPECT_THAT(
      query(path(),
            "SELECT p.seq, p.phase, p.first_block, p.blocks, p.trials FROM v_phase p"
            " WHERE campaign_id = 'c2' ORDER BY p.seq"),
      ElementsAre(ElementsAre("0", "initial", "0", "2", "8"), ElementsAre("1", "in-file", "2", "3", "12")));
}

// Version 1 as it was released, with what it could hold.
TEST(PhasesOfVersionOne, AreTheInitialOneOnce) {
  const TempFolder folder;
  const std::string path = folder.file("old.db");
  query(path,
        absl::StrCat(
            kSchemaSql,
            "INSERT INTO campaign VALUES (1, 'old', 'f', 'y', 'h', '{}', 1, 'done', '', '', '', 17, 18);"
            "INSERT INTO campaign VALUES (2, 'bare', 'f', 'y', 'h', '{}', 1, 'queued', '', '', '', 19, NULL);"
            "INSERT INTO cell VALUES (1, 1, 'p', 'w', 'c', 'auto');"
            "INSERT INTO trial VALUES (1, 'old.0', 1, 0, 0, 0, 5), (2, 'old.1', 1, 1, 1, 0, 6);"
            "PRAGMA user_version = 1; PRAGMA application_id = ",
            kApplicationId));
  const auto store = Store::open(path);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_THAT(
      query(path, "SELECT campaign_id, phase, first_block, blocks, trials, added_unix_ns FROM v_phase"),
      ElementsAre(ElementsAre("old", "initial", "0", "2", "2", "17"),
                  ElementsAre("bare", "initial", "0", "0", "0", "19")));
  EXPECT_THAT(query(path, "SELECT DISTINCT phase FROM v_trial"), ElementsAre(ElementsAre("initial")));
  EXPECT_EQ(query(path, "PRAGMA user_version")[0][0], std::to_string(kSchemaVersion));
}

}  // namespace
}  // namespace hopyard::store
