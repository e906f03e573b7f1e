// SPDX-License-Identifier: Apache-2.0
// A campaign's life with the real store, reader and builder. A variant whose tarball never arrives keeps a
// campaign in PREPARING for as long as a test needs.
#include "run/runner.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <stop_token>

#include "base/clock.h"
#include "fmt/format.h"
#include "unit/run/temp_dir.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;

using testing::HasSubstr;

// A web server that accepts and then says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/nginx.tar.gz", port_); }
  // Waits for the next client, and keeps it waiting.
  bool await_client() {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 20'000) != 1) return false;
    clients_.emplace_back(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return true;
  }

 private:
  base::Fd socket_;
  uint16_t port_ = 0;
  std::vector<base::Fd> clients_;
};

constexpr char kCampaign[] = R"(name: life
question: Does a campaign live as it should?
repetitions: 3
cases: [{{name: A, variant: {}}}]
paths: [{{name: local, kind: unix}}]
workloads: [{{name: h1-one, protocol: h1, requests: [{{name: body, body: 1KiB}}]}}]
)";

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    write_catalogue();
    auto opened = store::Store::open(folder_ / "test.db");
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
    variant::BuilderOptions options{.cache_dir = folder_ / "cache"};
    workshop_ =
        std::make_unique<Workshop>(options, std::vector{folder_ / "variants.yaml"},
                                   [](const v1::GateJob&, std::stop_token) -> absl::StatusOr<v1::GateResult> {
                                     return absl::InternalError("no build ever gets as far as its gate");
                                   });
    start();
  }

  // "never": its tarball is promised by a server that is silent. "nowhere": its tarball is nowhere.
  void write_catalogue() {
    const std::string no_such_hash(64, '0');
    std::ofstream(folder_ / "recipe.txt") << "project(none)";
    std::ofstream(folder_ / "variants.yaml") << fmt::format(
        "pins:\n  silent: {{file: silent.tar.gz, sha256: '{0}', url: '{1}', recipe: recipe.txt}}\n"
        "  nowhere: {{file: nowhere.tar.gz, sha256: '{2}', path: {3}, recipe: recipe.txt}}\n"
        "defaults: {{nginx: silent, boringssl: silent, configure: [--with-debug]}}\n"
        "variants:\n  never: {{note: n, records: {{fragment_bytes: 16384}}}}\n"
        "  nowhere: {{note: n, nginx: nowhere, boringssl: nowhere, records: {{fragment_bytes: 16384}}}}\n",
        no_such_hash, silent_.url(), std::string(64, '1'), folder_ / "nowhere.tar.gz");
  }

  void start(RunnerOptions options = {.tool_version = "test"}) {
    auto runner = Runner::start(*store_, *workshop_, machine_, std::move(options));
    ASSERT_TRUE(runner.ok()) << runner.status();
    runner_ = *std::move(runner);
  }

  v1::SubmitRequest request(const std::string& variant) const {
    v1::SubmitRequest request;
    request.mutable_campaign()->set_file("life.yaml");
    request.mutable_campaign()->set_yaml(fmt::format(kCampaign, variant));
    return request;
  }

  std::string submit(const std::string& variant) {
    const auto planned = runner_->submit(request(variant));
    EXPECT_TRUE(planned.ok()) << planned.status();
    EXPECT_TRUE(planned->problems.empty());
    return planned->campaign_id;
  }

  static v1::ExtendRequest extension(const std::string& id, uint32_t repetitions) {
    v1::ExtendRequest request;
    request.set_campaign_id(id);
    request.mutable_extension()->set_repetitions(repetitions);
    return request;
  }

  v1::CampaignState state(const std::string& id) const { return store_->status(id)->state(); }

  // Events until the end; the last one's status.
  v1::CampaignStatus await_end(const std::string& id) {
    const auto watcher = *runner_->watch(id);
    const base::Deadline deadline(30s);
    while (watcher->ending() == Watcher::Ending::kOpen && !deadline.passed()) watcher->next(100ms);
    return *store_->status(id);
  }

  TempDir folder_;
  SilentServer silent_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Workshop> workshop_;
  Machine machine_;
  std::unique_ptr<Runner> runner_;
};

// Tests that hold a campaign in preparation need a program that fetches.
class HeldRunnerTest : public RunnerTest {
  void SetUp() override {
    if (::access("/usr/bin/curl", X_OK) != 0 && ::access("/usr/bin/wget", X_OK) != 0)
      GTEST_SKIP() << "needs curl or wget: a build then waits for a tarball";
    RunnerTest::SetUp();
  }
};

TEST_F(RunnerTest, ABrokenCampaignIsRefusedWithItsPlaceAndNothingIsStored) {
  v1::SubmitRequest broken = request("nowhere");
  broken.mutable_campaign()->mutable_yaml()->append("repititions: 4\n");
  const auto planned = runner_->submit(broken);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_EQ(planned->problems.size(), 1u);
  EXPECT_EQ(planned->problems[0].file(), "life.yaml");
  EXPECT_EQ(planned->problems[0].line(), 7u);
  EXPECT_EQ(planned->problems[0].column(), 1u);
  EXPECT_EQ(planned->campaign_id, "");
  EXPECT_TRUE(store_->list()->empty());
}

TEST_F(RunnerTest, WorkersWithoutNumberAreRefused) {
  v1::SubmitRequest many = request("nowhere");
  many.set_jobs(65);
  const absl::Status refused = runner_->submit(many).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("65 workers at once: at most 64"));
  EXPECT_TRUE(store_->list()->empty());
}

TEST_F(RunnerTest, AnUnknownVariantIsAProblemOfTheFile) {
  const auto planned = runner_->validate(request("adaptve").campaign());
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_EQ(planned->problems.size(), 1u);
  EXPECT_THAT(planned->problems[0].expected(), HasSubstr("never"));
}

TEST_F(RunnerTest, ACampaignWhoseVariantCannotBeBuiltIsAbortedWithTheReason) {
  const std::string id = submit("nowhere");
  const auto status = await_end(id);
  EXPECT_EQ(status.state(), v1::ABORTED);
  EXPECT_THAT(status.reason(), HasSubstr("nowhere.tar.gz"));
  EXPECT_EQ(store_->without_outcome(id)->size(), 3u);
  EXPECT_TRUE(runner_->idle());
}

TEST_F(RunnerTest, AnAbortedCampaignCanBeResumedOnceItsCauseIsGone) {
  const std::string id = submit("nowhere");
  ASSERT_EQ(await_end(id).state(), v1::ABORTED);
  EXPECT_TRUE(runner_->resume(id).ok());
  EXPECT_EQ(await_end(id).state(), v1::ABORTED);
}

TEST_F(RunnerTest, AnExtensionFollowsWhatWasPlannedAndIsQueued) {
  const std::string id = submit("nowhere");
  ASSERT_EQ(await_end(id).state(), v1::ABORTED);
  const auto before = *store_->planned(id);
  auto request = extension(id, 2);
  request.mutable_extension()->set_seed(99);
  request.set_jobs(2);
  const auto planned = runner_->extend(request);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_TRUE(planned->problems.empty()) << planned->problems[0].message();
  EXPECT_EQ(planned->campaign_id, id);
  EXPECT_EQ(planned->left, 3u) << "its own trials did not run";
  EXPECT_EQ(planned->plan.trials(), 5u);
  EXPECT_EQ(await_end(id).state(), v1::ABORTED) << "it was run, as far as it goes";
  const auto after = *store_->planned(id);
  ASSERT_EQ(after.size(), 5u);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].trial_id, before[i].trial_id);
    EXPECT_EQ(after[i].planned.SerializeAsString(), before[i].planned.SerializeAsString());
  }
  for (size_t i = before.size(); i < after.size(); ++i) {
    EXPECT_EQ(after[i].trial_id, fmt::format("{}.{:05}", id, i));
    EXPECT_EQ(after[i].planned.phase(), "extension-1");
    EXPECT_EQ(after[i].planned.block(), i);
  }
  EXPECT_EQ(store_->campaign(id)->campaign.extensions(0).seed(), 99u);
  EXPECT_EQ(store_->campaign(id)->jobs, 2u);
}

TEST_F(RunnerTest, ExtensionsFollowOneAnother) {
  const std::string id = submit("nowhere");
  for (int i = 1; i <= 3; ++i) {
    await_end(id);
    const auto planned = runner_->extend(extension(id, 1));
    ASSERT_TRUE(planned.ok()) << planned.status();
    ASSERT_TRUE(planned->problems.empty());
    EXPECT_EQ(planned->plan.phases_size(), 1 + i);
    EXPECT_EQ(planned->plan.trials(), 3u + i);
  }
  await_end(id);
  EXPECT_EQ(store_->phases(id)->size(), 4u);
}

TEST_F(RunnerTest, AWrongExtensionIsRefusedAndNothingIsStored) {
  const std::string id = submit("nowhere");
  await_end(id);
  auto request = extension(id, 2);
  request.mutable_extension()->add_cases("Z");
  const auto planned = runner_->extend(request);
  ASSERT_TRUE(planned.ok()) << planned.status();
  ASSERT_EQ(planned->problems.size(), 1u);
  EXPECT_EQ(planned->problems[0].file(), "--cases Z");
  EXPECT_THAT(planned->problems[0].message(), HasSubstr("no case is called `Z`"));
  EXPECT_EQ(state(id), v1::ABORTED);
  EXPECT_EQ(store_->planned(id)->size(), 3u);
  EXPECT_TRUE(absl::IsNotFound(runner_->extend(extension("20200101", 1)).status()));
  auto many = extension(id, 2);
  many.set_jobs(65);
  EXPECT_TRUE(absl::IsInvalidArgument(runner_->extend(many).status()));
  EXPECT_EQ(store_->planned(id)->size(), 3u);
}

TEST_F(HeldRunnerTest, OnlyAnEndedCampaignIsExtended) {
  const std::string id = submit("never");
  ASSERT_TRUE(silent_.await_client());
  const std::string waiting = submit("never");
  EXPECT_TRUE(absl::IsFailedPrecondition(runner_->extend(extension(id, 1)).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(runner_->extend(extension(waiting, 1)).status()));
  EXPECT_EQ(store_->planned(id)->size(), 3u);
  EXPECT_TRUE(runner_->cancel(waiting).ok());
  EXPECT_TRUE(runner_->extend(extension(waiting, 1)).ok()) << "cancelled is ended";
  EXPECT_EQ(state(waiting), v1::QUEUED);
}

TEST_F(RunnerTest, WatchingAnEndedCampaignEndsAtOnce) {
  const std::string id = submit("nowhere");
  await_end(id);
  EXPECT_EQ((*runner_->watch(id))->ending(), Watcher::Ending::kDone);
}

TEST_F(RunnerTest, UnknownCampaignsAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(runner_->cancel("20200101")));
  EXPECT_TRUE(absl::IsNotFound(runner_->resume("20200101")));
  EXPECT_TRUE(absl::IsNotFound(runner_->watch("20200101").status()));
}

// Every trial has its outcome; the figures alone are missing.
TEST_F(RunnerTest, CancelEndsTheComputingOfFigures) {
  const std::string id = submit("nowhere");
  await_end(id);
  runner_.reset();
  const auto left = store_->without_outcome(id);
  ASSERT_TRUE(left.ok()) << left.status();
  for (const auto& row : *left) {
    v1::TrialResult result;
    result.set_trial_id(row.trial_id);
    result.set_verdict(v1::INVALID);
    result.set_reason("not run");
    ASSERT_TRUE(store_->record_trial(id, result, {.execution = "host"}).ok());
  }
  ASSERT_TRUE(store_->set_state(id, v1::RUNNING, "").ok());
  std::promise<std::string> computing;
  const auto until_stopped = [&](const std::string& of, std::stop_token stop) -> absl::Status {
    computing.set_value(of);
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any().wait(lock, stop, [] { return false; });
    return absl::CancelledError("stopped");
  };
  start({.tool_version = "test", .record_figures = until_stopped});
  EXPECT_EQ(computing.get_future().get(), id);
  EXPECT_TRUE(runner_->cancel(id).ok());
  EXPECT_EQ(state(id), v1::CANCELLED);
}

TEST_F(HeldRunnerTest, CancelEndsPreparationWithinTwoSeconds) {
  const std::string id = submit("never");
  ASSERT_TRUE(silent_.await_client());
  EXPECT_EQ(state(id), v1::PREPARING);
  const int64_t begin = base::monotonic_ns();
  EXPECT_TRUE(runner_->cancel(id).ok());
  EXPECT_LT(base::monotonic_ns() - begin, 2'000'000'000);
  EXPECT_EQ(state(id), v1::CANCELLED);
  EXPECT_TRUE(absl::IsFailedPrecondition(runner_->cancel(id)));
}

TEST_F(HeldRunnerTest, OneCampaignRunsAtATimeInOrderOfSubmission) {
  const std::string first = submit("never");
  ASSERT_TRUE(silent_.await_client());
  const std::string second = submit("never"), third = submit("never");
  EXPECT_EQ(state(second), v1::QUEUED);
  EXPECT_TRUE(runner_->cancel(third).ok());
  EXPECT_EQ(state(third), v1::CANCELLED);
  EXPECT_TRUE(runner_->cancel(first).ok());
  ASSERT_TRUE(silent_.await_client());
  EXPECT_EQ(state(second), v1::PREPARING);
}

TEST_F(HeldRunnerTest, AFullQueueRefusesWithItsReasonAndStoresNothing) {
  runner_.reset();
  start({.tool_version = "test", .longest_queue = 1});
  const std::string first = submit("never");
  ASSERT_TRUE(silent_.await_client());
  const std::string second = submit("never");
  const absl::Status refused = runner_->submit(request("never")).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("1 campaigns wait already"));
  EXPECT_EQ(store_->list()->size(), 2u);
  EXPECT_TRUE(runner_->cancel(second).ok());
  submit("never");
  EXPECT_TRUE(absl::IsResourceExhausted(runner_->resume(second)));
}

TEST_F(RunnerTest, EveryEventIsToldBesides) {
  runner_.reset();
  std::mutex mutex;
  std::vector<std::string> states;
  start({.tool_version = "test", .on_event = [&](const std::string&, const v1::CampaignEvent& event) {
           const std::lock_guard lock(mutex);
           if (event.event_case() == v1::CampaignEvent::EVENT_NOT_SET)
             states.push_back(v1::CampaignState_Name(event.status().state()));
         }});
  await_end(submit("nowhere"));
  runner_.reset();
  EXPECT_THAT(states, testing::ElementsAre("ABORTED"));
}

TEST_F(HeldRunnerTest, ACampaignThatHasNotEndedCannotBeResumed) {
  const std::string id = submit("never");
  ASSERT_TRUE(silent_.await_client());
  EXPECT_TRUE(absl::IsFailedPrecondition(runner_->resume(id)));
}

TEST_F(HeldRunnerTest, TheNextRunnerTakesUpWhatWasUnfinishedFirstThingsFirst) {
  const std::string first = submit("never");
  ASSERT_TRUE(silent_.await_client());
  const std::string second = submit("never");
  runner_.reset();
  EXPECT_EQ(state(first), v1::PREPARING);
  EXPECT_EQ(state(second), v1::QUEUED);
  start();
  ASSERT_TRUE(silent_.await_client());
  EXPECT_EQ(state(first), v1::PREPARING);
  EXPECT_EQ(state(second), v1::QUEUED);
}

TEST_F(HeldRunnerTest, DrainingDoesNotWaitForPreparation) {
  const std::string id = submit("never");
  ASSERT_TRUE(silent_.await_client());
  const int64_t begin = base::monotonic_ns();
  runner_->drain(20s);
  EXPECT_LT(base::monotonic_ns() - begin, 5'000'000'000);
  EXPECT_EQ(state(id), v1::PREPARING) << "the next runner takes it up";
}

}  // namespace
}  // namespace hopyard::run
