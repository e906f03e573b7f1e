// SPDX-License-Identifier: Apache-2.0
// Campaigns come back as they were submitted; states, look-ups and what is left to run.
#include <sys/stat.h>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;
using testing::HasSubstr;

class Campaigns : public StoreTest {};

TEST_F(Campaigns, ComeBackAsSubmittedWithEveryField) {
  CampaignRow row = small_campaign("full");
  const v1::Campaign small = row.campaign;
  fill(row.campaign);
  ASSERT_OK(store_->add_campaign(row, {}));
  const auto back = store_->campaign("full");
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(MessageDifferencer::Equals(back->campaign, row.campaign)) << back->campaign.DebugString();
  EXPECT_EQ(back->text, row.text);
  EXPECT_EQ(back->text_sha256, row.text_sha256);
  EXPECT_EQ(back->file, row.file);
  EXPECT_EQ(back->overrides, row.overrides);
  EXPECT_EQ(back->jobs, 2u);
  EXPECT_EQ(back->submitted_unix_ns, row.submitted_unix_ns);
  const auto other = store_->campaign("c1");
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(MessageDifferencer::Equals(other->campaign, small));
}

TEST_F(Campaigns, PlannedTrialsComeBackInOrderOfExecution) {
  const auto planned = store_->planned("c1");
  ASSERT_TRUE(planned.ok());
  const auto expected = small_plan("c1", 2);
  ASSERT_EQ(planned->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*planned)[i].trial_id, expected[i].trial_id);
    EXPECT_TRUE(MessageDifferencer::Equals((*planned)[i].planned, expected[i].planned));
  }
}

TEST_F(Campaigns, TellEachBuildThatServedThemOnce) {
  EXPECT_TRUE(store_->builds("c1")->empty());
  Provenance provenance = guest_provenance();
  provenance.build.set_variant("stock");
  for (const char* sha256 : {"aa", "bb"}) {
    provenance.build.set_sha256(sha256);
    const unsigned block = sha256[0] == 'b';
    for (const char* name : {"A", "B"})
      ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", name, "h1-128k", block), 5), provenance));
  }
  const std::vector<std::pair<std::string, std::string>> both = {{"stock", "aa"}, {"stock", "bb"}};
  EXPECT_EQ(*store_->builds("c1"), both);
}

TEST_F(Campaigns, AreFoundByIdByPrefixAndAsTheLastSubmitted) {
  ASSERT_OK(store_->add_campaign(small_campaign("c1-again"), {}));
  ASSERT_OK(store_->add_campaign(small_campaign("d_%"), {}));
  EXPECT_EQ(store_->resolve("c1").value(), "c1");
  EXPECT_EQ(store_->resolve("c1-").value(), "c1-again");
  EXPECT_EQ(store_->resolve("last").value(), "d_%");
  EXPECT_EQ(store_->resolve("").value(), "d_%");
  const auto ambiguous = store_->resolve("c").status();
  EXPECT_TRUE(absl::IsInvalidArgument(ambiguous));
  EXPECT_EQ(ambiguous.message(), "find campaign: " + path() + ": campaign \"c\" could be c1-again, c1");
  EXPECT_TRUE(absl::IsNotFound(store_->resolve("%").status()));
  EXPECT_TRUE(absl::IsNotFound(store_->status("nothing").status()));
}

TEST_F(Campaigns, AreListedNewestFirst) {
  ASSERT_OK(store_->add_campaign(small_campaign("c0"), {}));
  const auto list = store_->list();
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[0].campaign_id(), "c0");
  EXPECT_EQ((*list)[1].trials(), 8u);
}

TEST_F(Campaigns, SayTheirStateAndWhenTheyEnded) {
  auto status = store_->status("last");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->state(), v1::QUEUED);
  EXPECT_EQ(status->question(), "Which is earlier?");
  EXPECT_EQ(status->clock(), "real");
  EXPECT_EQ(status->finished_unix_ns(), 0);
  ASSERT_OK(store_->set_execution("c1", "guest", "debian-uml"));
  ASSERT_OK(store_->set_state("c1", v1::ABORTED, "variant adaptive does not build"));
  status = store_->status("c1");
  EXPECT_EQ(status->state(), v1::ABORTED);
  EXPECT_EQ(status->reason(), "variant adaptive does not build");
  EXPECT_EQ(status->kernel(), "debian-uml");
  EXPECT_EQ(status->execution(), "guest");
  EXPECT_GT(status->finished_unix_ns(), 0);
  ASSERT_OK(store_->set_state("c1", v1::RUNNING, ""));
  EXPECT_EQ(store_->status("c1")->finished_unix_ns(), 0);
  EXPECT_TRUE(absl::IsNotFound(store_->set_state("c", v1::DONE, "")));  // writing wants the whole id
}

TEST_F(Campaigns, ListWhatIsLeftToRunAndWhatCameOut) {
  const std::string first = trial_id("c1", "A", "h1-128k", 0);
  const std::string second = trial_id("c1", "B", "h1-128k", 0);
  ASSERT_OK(store_->record_trial("c1", h1_result(first, 7), guest_provenance()));
  ASSERT_OK(store_->record_trial("c1", lost_result(second, v1::INVALID), guest_provenance()));
  const auto left = store_->without_outcome("c1");
  ASSERT_TRUE(left.ok());
  ASSERT_EQ(left->size(), 6u);
  EXPECT_EQ((*left)[0].trial_id, trial_id("c1", "B", "h2-competition", 0));
  const auto outcomes = store_->outcomes("c1");
  ASSERT_TRUE(outcomes.ok());
  ASSERT_EQ(outcomes->size(), 2u);
  EXPECT_EQ((*outcomes)[0].trial_id(), second);
  EXPECT_EQ((*outcomes)[0].verdict(), v1::INVALID);
  EXPECT_EQ((*outcomes)[0].reason(), "the worker ended early");
  EXPECT_EQ((*outcomes)[1].wall_ns(), 2007);
  const auto status = store_->status("c1");
  EXPECT_THAT((std::vector{status->passed(), status->failed(), status->invalid()}), ElementsAre(1u, 0u, 1u));
}

TEST_F(Campaigns, SayHowFastTheirTrialsRanOnceTwoHave) {
  const auto record = [this](const std::string& case_name, int64_t complete_ns) {
    v1::TrialResult result = h1_result(trial_id("c1", case_name, "h1-128k", 0), complete_ns);
    const int64_t start_ns = result.client().responses(0).request_start_ns();
    result.mutable_client()->set_connect_start_ns(start_ns - 40);
    return store_->record_trial("c1", result, guest_provenance());
  };
  ASSERT_OK(record("A", 500));
  EXPECT_FALSE(store_->status_with_pace("c1")->has_pace());
  ASSERT_OK(record("B", 70));
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_id("c1", "A", "h1-128k", 1), v1::FAILED),
                                 guest_provenance()));
  const auto status = store_->status_with_pace("c1");
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->pace().trials(), 2u);
  EXPECT_EQ(status->pace().connection_ns(), 110) << "the first recorded one is left out, on both sides";
  EXPECT_GT(status->pace().wall_ns(), 0);
  EXPECT_EQ(status->failed(), 1u);
}

TEST_F(Campaigns, AreAddedWholeOrNotAtAll) {
  EXPECT_TRUE(absl::IsAlreadyExists(store_->add_campaign(small_campaign("c1"), {})));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->add_campaign(small_campaign("last"), {})));
  // The third repeats a cell's block.
  auto planned = small_plan("c2", 1);
  planned.push_back(planned.front());
  planned.back().trial_id = "c2/other";
  const absl::Status twice = store_->add_campaign(small_campaign("c2"), planned);
  EXPECT_TRUE(absl::IsAlreadyExists(twice));
  EXPECT_THAT(std::string(twice.message()), HasSubstr("\"c2/other\""));
  planned.pop_back();
  planned.back().planned.set_workload("h3-unknown");
  EXPECT_TRUE(absl::IsInvalidArgument(store_->add_campaign(small_campaign("c2"), planned)));
  EXPECT_EQ(store_->list()->size(), 1u);
  // Numbers given to texts and metrics before the failure must not be remembered.
  ASSERT_OK(store_->add_campaign(small_campaign("c2"), small_plan("c2", 1)));
  EXPECT_TRUE(store_->check()->problems().empty());
}

TEST(Database, IsMadeForItsOwnerAloneWithItsFolders) {
  const TempFolder folder;
  const std::string path = folder.file("new/deep/hopyard.db");
  const auto store = Store::open(path);
  ASSERT_TRUE(store.ok()) << store.status();
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder.file("new/deep").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat((path + "-wal").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(Campaigns, AreStillThereWhenTheDatabaseIsOpenedAgain) {
  store_.reset();
  const auto again = Store::open(path());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->status("c1")->trials(), 8u);
}

}  // namespace
}  // namespace hopyard::store
