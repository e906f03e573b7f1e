// SPDX-License-Identifier: Apache-2.0
// Requests fall due when their workload says so, and impossible workloads are refused.
#include "probe/schedule.h"

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "hopyard/v1/campaign.pb.h"
#include "tls_server.h"

namespace hopyard::probe {
namespace {

v1::Workload workload(const std::string& text) {
  v1::Workload out;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &out));
  return out;
}

class ScheduleTest : public testing::Test {
 protected:
  void use(const std::string& text) {
    const v1::Workload parsed = workload(text);
    auto made = Schedule::make(parsed);
    ASSERT_TRUE(made.ok()) << made.status();
    schedule_ = *std::move(made);
    for (const auto& request : parsed.requests()) {
      meters_.emplace_back(request.name(), parsed.protocol(), request.body_bytes());
    }
  }
  void decrypt(size_t index, uint64_t bytes, int64_t ns) {
    ResponseMeter& meter = meters_[index];
    if (meter.content_length() == 0) {
      ASSERT_TRUE(meter.head(200, meter.expected_bytes()).ok());
    }
    const std::string body = fixture(bytes, meter.body_bytes());
    ASSERT_TRUE(meter.body(std::span(reinterpret_cast<const uint8_t*>(body.data()), body.size())).ok());
    if (meter.body_bytes() == meter.expected_bytes()) {
      ASSERT_TRUE(meter.finished(ns).ok());
    }
    schedule_->observe(meters_, ns);
  }
  std::optional<Schedule> schedule_;
  std::vector<ResponseMeter> meters_;
};

TEST_F(ScheduleTest, SendsAllWithoutAfterAtOnceInOrderOnHttp2) {
  use("protocol: 'h2' requests { name: 'a' body_bytes: 1 } requests { name: 'b' body_bytes: 1 }");
  EXPECT_EQ(schedule_->take_due(meters_, 1), 0u);
  EXPECT_EQ(schedule_->take_due(meters_, 1), 1u);
  EXPECT_EQ(schedule_->take_due(meters_, 1), std::nullopt);
}

TEST_F(ScheduleTest, SendsOneAtATimeOnHttp1) {
  use("protocol: 'h1' requests { name: 'a' body_bytes: 9 } requests { name: 'b' body_bytes: 1 }");
  EXPECT_EQ(schedule_->take_due(meters_, 1), 0u);
  EXPECT_EQ(schedule_->take_due(meters_, 1), std::nullopt);
  decrypt(0, 9, 5);
  EXPECT_EQ(schedule_->take_due(meters_, 5), 1u);
}

TEST_F(ScheduleTest, WaitsForBodyBytesAndNotOneLess) {
  use("protocol: 'h2' requests { name: 'bulk' body_bytes: 1000 }"
      "requests { name: 'late' body_bytes: 1 after { request: 'bulk' body_bytes: 100 } }");
  EXPECT_EQ(schedule_->take_due(meters_, 1), 0u);
  decrypt(0, 99, 2);
  EXPECT_EQ(schedule_->take_due(meters_, 2), std::nullopt);
  decrypt(0, 30, 3);
  EXPECT_EQ(schedule_->take_due(meters_, 3), 1u);
  EXPECT_TRUE(schedule_->is_later(1));
  EXPECT_EQ(schedule_->awaited_bytes(1, meters_), 129u);
}

TEST_F(ScheduleTest, PausesFromTheAwaitedResponsesEnd) {
  use("protocol: 'h2' requests { name: 'a' body_bytes: 10 }"
      "requests { name: 'b' body_bytes: 1 after { request: 'a' pause_ns: 250 } }");
  EXPECT_EQ(schedule_->take_due(meters_, 1), 0u);
  EXPECT_EQ(schedule_->next_timer_ns(meters_), std::nullopt);
  decrypt(0, 10, 1000);
  schedule_->observe(meters_, 1100);
  EXPECT_EQ(schedule_->next_timer_ns(meters_), 1250);
  EXPECT_EQ(schedule_->take_due(meters_, 1249), std::nullopt);
  EXPECT_EQ(schedule_->take_due(meters_, 1250), 1u);
  EXPECT_EQ(schedule_->awaited_bytes(1, meters_), 0u);
}

TEST(ScheduleMake, RefusesWorkloadsThatCannotBePerformed) {
  const char* const refused[] = {
      "protocol: 'h2'",
      "protocol: 'h2' requests { name: 'a' body_bytes: 1 after { request: 'a' } }",
      "protocol: 'h2' requests { name: 'a' body_bytes: 1 after { request: 'b' } }"
      "requests { name: 'b' body_bytes: 1 }",
      "protocol: 'h1' requests { name: 'a' body_bytes: 9 }"
      "requests { name: 'b' body_bytes: 1 after { request: 'a' body_bytes: 5 } }",
      "protocol: 'h2' requests { name: 'a' body_bytes: 9 }"
      "requests { name: 'b' body_bytes: 1 after { request: 'a' body_bytes: 10 } }",
  };
  for (const char* text : refused) {
    EXPECT_TRUE(absl::IsInvalidArgument(Schedule::make(workload(text)).status())) << text;
  }
}

}  // namespace
}  // namespace hopyard::probe
