// SPDX-License-Identifier: Apache-2.0
// The worker's loop over real pipes: order of messages, and what it does with a broken other side.
#include "worker/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "base/fd.h"
#include "base/frames.h"

namespace hopyard::worker {
namespace {

using testing::HasSubstr;

class Loop : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    to_ = *base::make_pipe();
    from_ = *base::make_pipe();
    work_.trial = [this](const v1::TrialSpec& spec, const Work::Steps& steps) {
      if (steps) steps("path");
      ran_.push_back(spec.trial_id());
      v1::TrialResult result;
      result.set_trial_id(spec.trial_id());
      result.set_verdict(v1::FAILED);
      return result;
    };
    work_.gate = [](const v1::GateJob& job) {
      v1::GateResult result;
      result.add_checks()->set_name(job.build().variant());
      return result;
    };
  }
  void give(std::string_view payload) { ASSERT_TRUE(base::write_frame(to_.write.get(), payload).ok()); }
  absl::Status run() {
    v1::Hello hello;
    hello.set_kernel_release("9.9");
    const absl::Status status = serve(to_.read.get(), from_.write.get(), hello, work_);
    from_.write.reset();
    return status;
  }
  // Everything the loop said.
  std::vector<v1::FromWorker> said() {
    std::vector<v1::FromWorker> messages;
    base::FrameDecoder decoder;
    while (true) {
      const auto frame =
          base::read_frame(from_.read.get(), decoder, base::Deadline(std::chrono::seconds(10)));
      if (!frame.ok()) {
        EXPECT_TRUE(absl::IsOutOfRange(frame.status())) << frame.status();
        return messages;
      }
      messages.emplace_back();
      EXPECT_TRUE(messages.back().ParseFromString(*frame));
    }
  }
  base::Pipe to_;
  base::Pipe from_;
  Work work_;
  std::vector<std::string> ran_;
};

TEST_F(Loop, EveryTrialIsAnnouncedAndAnsweredInOrder) {
  v1::ToWorker job;
  job.mutable_job()->add_trials()->set_trial_id("a");
  job.mutable_job()->add_trials()->set_trial_id("b");
  give(job.SerializeAsString());
  ASSERT_TRUE(run().ok());
  EXPECT_THAT(ran_, testing::ElementsAre("a", "b"));
  const auto messages = said();
  ASSERT_EQ(messages.size(), 6u);
  EXPECT_EQ(messages[0].hello().kernel_release(), "9.9");
  EXPECT_EQ(messages[1].started().trial_id(), "a");
  EXPECT_EQ(messages[2].result().trial_id(), "a");
  EXPECT_EQ(messages[3].started().trial_id(), "b");
  EXPECT_EQ(messages[4].result().verdict(), v1::FAILED);
  EXPECT_TRUE(messages[5].has_done());
}

TEST_F(Loop, StepsAreToldWhereTheJobAsksForThem) {
  v1::ToWorker job;
  job.mutable_job()->add_trials()->set_trial_id("a");
  job.mutable_job()->set_tell_steps(true);
  give(job.SerializeAsString());
  ASSERT_TRUE(run().ok());
  const auto messages = said();
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_TRUE(messages[1].has_started());
  EXPECT_EQ(messages[2].step().name(), "path");
  EXPECT_TRUE(messages[3].has_result());
}

TEST_F(Loop, GateIsAnsweredOnce) {
  v1::ToWorker job;
  job.mutable_gate()->mutable_build()->set_variant("stock");
  give(job.SerializeAsString());
  ASSERT_TRUE(run().ok());
  const auto messages = said();
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1].gate().checks(0).name(), "stock");
  EXPECT_TRUE(messages[2].has_done());
}

TEST_F(Loop, BytesThatAreNoMessageAreFatal) {
  give("\xff\xff\xff");
  EXPECT_TRUE(absl::IsDataLoss(run()));
  const auto messages = said();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[1].fatal().reason(), HasSubstr("not a ToWorker message"));
  EXPECT_TRUE(ran_.empty());
}

TEST_F(Loop, FrameLongerThanAllowedIsFatal) {
  ASSERT_TRUE(base::write_all(to_.write.get(), "\xff\xff\xff\xff").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(run()));
  EXPECT_THAT(said().back().fatal().reason(), HasSubstr("length 4294967295"));
}

TEST_F(Loop, EmptyMessageIsFatal) {
  give("");
  EXPECT_TRUE(absl::IsInvalidArgument(run()));
  EXPECT_THAT(said().back().fatal().reason(), HasSubstr("asks for nothing"));
}

TEST_F(Loop, OtherSideThatLeavesBeforeAJobIsNotAnswered) {
  to_.write.reset();
  EXPECT_TRUE(absl::IsOutOfRange(run()));
  EXPECT_EQ(said().size(), 1u);
}

TEST_F(Loop, NoTrialIsBegunOnceNobodyReads) {
  v1::ToWorker job;
  job.mutable_job()->add_trials()->set_trial_id("a");
  give(job.SerializeAsString());
  from_.read.reset();
  EXPECT_FALSE(run().ok());
  EXPECT_TRUE(ran_.empty());
}

TEST_F(Loop, OrderAtHandIsObeyedWithoutReading) {
  v1::ToWorker job;
  job.mutable_job()->add_trials()->set_trial_id("a");
  v1::Hello hello;
  hello.set_kernel_release("9.9");
  ASSERT_TRUE(serve_order(job, from_.write.get(), hello, work_).ok());
  from_.write.reset();
  const auto messages = said();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].hello().kernel_release(), "9.9");
  EXPECT_EQ(messages[2].result().trial_id(), "a");
  EXPECT_TRUE(messages[3].has_done());
}

TEST_F(Loop, OrderThatCannotBeReadIsFatal) {
  ASSERT_FALSE(serve_order(parse_order("no message"), from_.write.get(), v1::Hello(), work_).ok());
  from_.write.reset();
  EXPECT_THAT(said().back().fatal().reason(), HasSubstr("not a ToWorker message"));
}

TEST_F(Loop, ResultsLargerThanAPipeArePassed) {
  work_.trial = [](const v1::TrialSpec&, const Work::Steps&) {
    v1::TrialResult result;
    result.set_reason(std::string(1 << 20, 'x'));
    return result;
  };
  v1::ToWorker job;
  job.mutable_job()->add_trials();
  give(job.SerializeAsString());
  std::vector<v1::FromWorker> messages;
  std::thread reader([&] { messages = said(); });
  EXPECT_TRUE(run().ok());
  reader.join();
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[2].result().reason().size(), 1u << 20);
}

TEST(Hello, NamesTheRunningKernel) {
  const v1::Hello hello = make_hello(true);
  EXPECT_FALSE(hello.kernel_release().empty());
  EXPECT_TRUE(hello.guest());
  EXPECT_GT(hello.congestion_controls_size(), 0);
}

}  // namespace
}  // namespace hopyard::worker
