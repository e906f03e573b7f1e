// SPDX-License-Identifier: Apache-2.0
// A trial's evidence comes back as it was sent, once, and never changes.
#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

class Evidence : public StoreTest {
 protected:
  const std::string trial_ = trial_id("c1", "A", "h2-competition", 1);

  void expect_round_trip(const v1::TrialResult& result) {
    ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
    const auto back = store_->trial(result.trial_id());
    ASSERT_TRUE(back.ok()) << back.status();
    MessageDifferencer differencer;
    std::string difference;
    differencer.ReportDifferencesToString(&difference);
    EXPECT_TRUE(differencer.Compare(result, back->result())) << difference;
    EXPECT_EQ(back->planned().case_name(), "A");
    EXPECT_EQ(back->planned().block(), 1u);
  }
};

// Fails when a field is added to the message and not to the tables.
TEST_F(Evidence, ComesBackWithEveryFieldOfTheMessage) {
  v1::TrialResult result;
  fill(result);
  result.set_trial_id(trial_);
  expect_round_trip(result);
}

TEST_F(Evidence, OfATrialThatEndedBeforeAnythingComesBackAsEmptyAsItWas) {
  expect_round_trip(lost_result(trial_, v1::FAILED));
}

TEST_F(Evidence, WithEmptyPartsIsNotTakenForMissingParts) {
  v1::TrialResult result = lost_result(trial_, v1::FAILED);
  result.mutable_client();
  result.mutable_server();
  result.mutable_environment();
  result.add_sockets();
  result.add_qdiscs();
  result.add_checks();
  expect_round_trip(result);
}

TEST_F(Evidence, ComesWithWhatTheTrialRanWith) {
  Provenance recorded = guest_provenance();
  fill(*recorded.build.mutable_records());
  ASSERT_OK(store_->record_trial("c1", h1_result(trial_, 5), recorded));
  const auto back = store_->provenance(trial_);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->execution, recorded.execution);
  EXPECT_EQ(back->kernel_release, recorded.kernel_release);
  EXPECT_EQ(back->tool_version, recorded.tool_version);
  EXPECT_EQ(back->inputs, recorded.inputs);
  EXPECT_EQ(back->binary_sha256, recorded.binary_sha256);
  EXPECT_TRUE(MessageDifferencer::Equals(back->build, recorded.build));
  EXPECT_TRUE(absl::IsNotFound(store_->provenance(trial_id("c1", "A", "h1-128k", 0)).status()));
}

TEST_F(Evidence, OfAPlannedTrialWithoutOutcomeIsAbsent) {
  const auto planned = store_->trial(trial_);
  ASSERT_TRUE(planned.ok()) << planned.status();
  EXPECT_FALSE(planned->has_result());
  EXPECT_TRUE(absl::IsNotFound(store_->trial("never planned").status()));
}

TEST_F(Evidence, IsNeverOverwritten) {
  ASSERT_OK(store_->record_trial("c1", lost_result(trial_, v1::FAILED), guest_provenance()));
  const absl::Status second = store_->record_trial("c1", h1_result(trial_, 5), guest_provenance());
  EXPECT_TRUE(absl::IsAlreadyExists(second));
  EXPECT_EQ(second.message(), "record trial: " + path() + ": trial \"" + trial_ +
                                  "\" has an outcome (failed), which is never overwritten");
  EXPECT_EQ(store_->trial(trial_)->result().verdict(), v1::FAILED);
  // Not by other programs either.
  EXPECT_EQ(refusal(path(), "UPDATE outcome SET verdict = 'passed'"), "an outcome is never overwritten");
  EXPECT_EQ(refusal(path(), "DELETE FROM outcome"), "an outcome is never removed");
}

TEST_F(Evidence, OfAnUnplannedTrialOrWithoutVerdictIsRefusedAndLeavesNothing) {
  ASSERT_OK(store_->add_campaign(small_campaign("c2"), small_plan("c2", 1)));
  EXPECT_TRUE(absl::IsNotFound(store_->record_trial("c2", h1_result(trial_, 5), guest_provenance())));
  EXPECT_TRUE(absl::IsNotFound(store_->record_trial("c1", h1_result("unknown", 5), guest_provenance())));
  v1::TrialResult undecided = h1_result(trial_, 5);
  undecided.set_verdict(v1::VERDICT_UNSPECIFIED);
  EXPECT_TRUE(absl::IsInvalidArgument(store_->record_trial("c1", undecided, guest_provenance())));
  EXPECT_FALSE(store_->trial(trial_)->has_result());
}

TEST_F(Evidence, WithAGapInItsNumberingIsRefusedAndTheTrialCanStillBeRecorded) {
  v1::TrialResult result;
  fill(result);
  result.set_trial_id(trial_);
  result.mutable_client()->mutable_records(2)->set_seq(3);
  const absl::Status refused = store_->record_trial("c1", result, guest_provenance());
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("TLS record number 2 says it is number 3"));
  EXPECT_FALSE(store_->trial(trial_)->has_result());
  result.mutable_client()->mutable_records(2)->set_seq(2);
  expect_round_trip(result);
  EXPECT_TRUE(store_->check()->problems().empty());
}

TEST_F(Evidence, CanBeReadByOtherThreadsWhileSeveralWrite) {
  constexpr unsigned kBlocks = 20;
  ASSERT_OK(store_->add_campaign(small_campaign("busy"), small_plan("busy", kBlocks)));
  std::atomic<unsigned> writing = 2;
  const auto write = [&](const char* case_name) {
    for (unsigned block = 0; block < kBlocks; ++block) {
      const std::string trial = trial_id("busy", case_name, "h1-128k", block);
      EXPECT_OK(store_->record_trial("busy", h1_result(trial, 100 + block), guest_provenance()));
    }
    --writing;
  };
  std::thread first(write, "A");
  std::thread second(write, "B");
  size_t exported = 0;
  while (writing > 0) {
    EXPECT_OK(store_->status("busy").status());
    EXPECT_OK(store_->cells("busy").status());
    EXPECT_OK(store_->export_rows("busy", v1::JSONL, "v_response", [&](std::string_view piece) {
      exported += piece.size();
      return store_->status("busy").status();  // a sink may ask the store
    }));
  }
  first.join();
  second.join();
  EXPECT_EQ(store_->status("busy")->passed(), 2 * kBlocks);
  EXPECT_THAT(store_->check()->problems(), testing::IsEmpty());
}

}  // namespace
}  // namespace hopyard::store
