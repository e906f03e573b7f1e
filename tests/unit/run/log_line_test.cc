// SPDX-License-Identifier: Apache-2.0
// Log lines carry campaign and trial, and stay one line whatever a server said.
#include "run/log_line.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

namespace hopyard::run {
namespace {

v1::CampaignEvent failed_trial() {
  v1::CampaignEvent event;
  v1::TrialOutcome& outcome = *event.mutable_finished();
  outcome.set_trial_id("c.00003");
  outcome.set_verdict(v1::FAILED);
  outcome.set_reason("server said \"no\"\nand ended");
  outcome.set_wall_ns(1'500'000'000);
  return event;
}

TEST(LogLine, NamesCampaignTrialAndVerdict) {
  EXPECT_EQ(as_text(log_fields("c", failed_trial())),
            "event=finished campaign=c trial=c.00003 verdict=failed wall_ms=1500 "
            R"(reason="server said \"no\"\nand ended")");
  EXPECT_TRUE(is_bad_news(failed_trial()));
}

TEST(LogLine, IsReadAsJson) {
  google::protobuf::Struct read;
  const std::string line = "{" + as_json(log_fields("c", failed_trial())) + "}";
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &read).ok()) << line;
  EXPECT_EQ(read.fields().at("trial").string_value(), "c.00003");
  EXPECT_EQ(read.fields().at("reason").string_value(), failed_trial().finished().reason());
}

TEST(LogLine, TellsAStartANoteAndAnEndApart) {
  v1::CampaignEvent event;
  event.mutable_started()->set_index(7);
  EXPECT_EQ(as_text(log_fields("c", event)), "event=started campaign=c trial=c.00007");
  event.set_log("running on host");
  EXPECT_EQ(as_text(log_fields("c", event)), R"(event=note campaign=c message="running on host")");
  event.clear_event();
  event.mutable_status()->set_state(v1::INTERRUPTED);
  event.mutable_status()->set_reason("disk full");
  EXPECT_EQ(as_text(log_fields("c", event)),
            R"(event=ended campaign=c state=interrupted reason="disk full")");
  EXPECT_TRUE(is_bad_news(event));
  event.set_log("set campaign state: disk full");
  EXPECT_EQ(
      as_text(log_fields("c", event)),
      R"(event=ended campaign=c message="set campaign state: disk full" state=interrupted reason="disk full")");
  EXPECT_TRUE(is_bad_news(event));
}

}  // namespace
}  // namespace hopyard::run
