// SPDX-License-Identifier: Apache-2.0
// Which trials a report carries, and what of each.
#include "report/timelines.h"

#include "gmock/gmock.h"
#include "report/trial_json.h"
#include "unit/store/fixture.h"

namespace hopyard::report {
namespace {

using store::guest_provenance;
using store::h1_result;
using store::lost_result;
using store::trial_id;
using testing::ElementsAre;
using testing::HasSubstr;

class TimelinesOf : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    ASSERT_OK(store_->add_campaign(store::small_campaign("c3"), store::small_plan("c3", 5)));
    const int64_t times[] = {30, 10, 50, 20, 40};
    for (unsigned block = 0; block < 5; ++block)
      ASSERT_OK(store_->record_trial("c3", h1_result(trial_id("c3", "A", "h1-128k", block), times[block]),
                                     guest_provenance()));
    for (unsigned block = 0; block < 2; ++block)
      ASSERT_OK(store_->record_trial("c3", lost_result(trial_id("c3", "B", "h1-128k", block), v1::INVALID),
                                     guest_provenance()));
    rows_ = store_->report_rows("c3").value();
  }
  std::vector<std::string> labels(const Timelines& timelines) {
    std::vector<std::string> all;
    for (const Timeline& one : timelines.all) all.push_back(one.trial_id + " " + one.label);
    return all;
  }
  store::ReportRows rows_;
  const Figures none_{};
};

TEST_F(TimelinesOf, ACellAreItsMedianExtremesAndFirstLostTrial) {
  const Model model = arrange(rows_, none_);
  const auto chosen = choose_timelines(model, *store_);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(labels(*chosen), ElementsAre("c3/A/h1-128k/0 A, median", "c3/B/h1-128k/0 B, invalid",
                                           "c3/A/h1-128k/2 A, slowest", "c3/A/h1-128k/1 A, fastest"));
}

TEST_F(TimelinesOf, ManyTrialsEndWithTheSpaceSetAside) {
  const Model model = arrange(rows_, none_);
  const auto chosen = choose_timelines(model, *store_, 1);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(labels(*chosen), ElementsAre("c3/A/h1-128k/0 A, median"));
  EXPECT_EQ(chosen->wanted, 4u);
  std::string text;
  const store::Sink sink = [&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  };
  Output out(sink);
  write_timelines(model, *chosen, out);
  ASSERT_OK(out.finish());
  EXPECT_THAT(text, HasSubstr("carries 1 of 20 trials"));
  EXPECT_THAT(text, HasSubstr("until 1 of 4 had filled the space"));
}

TEST(TrialJson, CountsMicrosecondsFromTheFirstRequest) {
  v1::TrialResult result;
  result.set_verdict(v1::PASSED);
  v1::ClientEvidence& client = *result.mutable_client();
  client.set_connect_start_ns(1'000'000);
  client.set_connected_ns(21'000'499);
  v1::Response& response = *client.add_responses();
  response.set_role("body");
  response.set_stream(1);
  response.set_request_start_ns(41'000'000);
  response.set_first_decrypted_ns(61'000'500);
  response.set_complete_ns(81'000'000);
  response.set_body_bytes(7);
  for (int64_t at : {50'000'000, 61'000'500}) {
    v1::TlsRecord& record = *client.add_records();
    record.set_content(v1::DATA);
    record.set_plaintext_bytes(4096);
    record.set_received_ns(at);
  }
  v1::H2Frame& frame = *client.add_frames();
  frame.set_type("DATA");
  frame.set_stream(1);
  frame.set_length(9);
  frame.set_first_byte_ns(60'000'000);
  frame.set_complete_ns(62'000'000);
  client.add_frames()->set_type("SETTINGS");
  for (uint64_t drops : {2, 5}) {
    v1::QdiscSnapshot& queue = *result.add_qdiscs();
    queue.set_kind("netem");
    queue.set_namespace_("router");
    queue.set_link("toclient");
    queue.set_drops(drops);
  }
  v1::RouterTraffic& traffic = *result.add_router();
  traffic.set_direction("to_client");
  v1::Drop& drop = *traffic.add_drops();
  drop.set_ordinal(7);
  drop.set_arrived_ns(50'000'000);
  drop.set_sequence(2897);
  drop.set_payload_bytes(1448);
  drop.set_repeated(true);
  EXPECT_EQ(trial_json(result, ".1", "clean"),
            "{\"id\":\".1\",\"about\":\"clean\",\"verdict\":\"passed\",\"reason\":\"\","
            "\"connection\":[-40000,-20000,null,null],"
            "\"responses\":[{\"role\":\"body\",\"stream\":1,\"start\":0,\"bytes\":7,"
            "\"at\":[20001,null,null,null,null,null,40000]}],"
            "\"records\":{\"at\":[9000,11001],\"bytes\":[4096,4096],\"kind\":[2,2]},"
            "\"frames\":[[1,19000,21000,9]],\"sockets\":[],"
            "\"queues\":[{\"link\":\"router/toclient\",\"packets\":0,\"bytes\":0,\"drops\":3}],"
            "\"drops\":[{\"what\":\"to the client, packet 7: 1448 bytes of payload from 2897, sent "
            "before\",\"at\":9000}]}");
}

}  // namespace
}  // namespace hopyard::report
