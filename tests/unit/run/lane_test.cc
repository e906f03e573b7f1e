// SPDX-License-Identifier: Apache-2.0
// Trials through real workers on this machine's kernel. The server binary is a stand-in that cannot serve: a
// trial then has no passing outcome, but an outcome it must have.
#include "run/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "fmt/format.h"
#include "run/ids.h"
#include "unit/run/temp_dir.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr char kId[] = "20260101-000000-lane-0000";

class LaneTest : public testing::Test {
 protected:
  void SetUp() override {
    auto kernel = execute::choose_kernel("host", {});
    if (!kernel.ok()) GTEST_SKIP() << kernel.status().message();
    kernels_["auto"] = *std::move(kernel);
    auto opened = store::Store::open(folder_ / "test.db");
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
  }

  // A campaign of `trials` trials over a Unix-domain socket, served by `program`.
  void plan(uint32_t trials, const std::string& program) {
    store::CampaignRow row{
        .id = kId, .file = "lane.yaml", .text = "name: lane", .text_sha256 = std::string(64, 'a')};
    row.campaign.set_name("lane");
    row.campaign.set_clock("real");
    auto* served = row.campaign.add_cases();
    served->set_name("A");
    served->set_variant("stand-in");
    auto* path = row.campaign.add_paths();
    path->set_name("local");
    path->set_kind("unix");
    auto* workload = row.campaign.add_workloads();
    workload->set_name("h1-one");
    workload->set_protocol("h1");
    auto* request = workload->add_requests();
    request->set_name("body");
    request->set_body_bytes(1024);
    for (uint32_t i = 0; i < trials; ++i) {
      store::PlannedRow planned{.trial_id = trial_id(kId, i)};
      planned.planned.set_index(i);
      planned.planned.set_block(i);
      planned.planned.set_case_name("A");
      planned.planned.set_path("local");
      planned.planned.set_workload("h1-one");
      planned.planned.set_kernel("auto");
      planned_.push_back(planned);
    }
    ASSERT_TRUE(store_->add_campaign(row, planned_).ok());
    recorder_.emplace(*store_, events_, row, "test");
    ReadyVariant ready{.inputs = {"nothing"}, .binary_sha256 = std::string(64, 'b')};
    ready.build.set_variant("stand-in");
    ready.build.set_sha256(std::string(64, 'c'));
    ready.build.set_nginx_path(program);
    ready.build.mutable_records()->set_fragment_bytes(16384);
    recorder_->add_variant("stand-in", ready);
    pool_.emplace(planned_, 8);
  }

  absl::Status run(std::stop_token stop = {}) {
    return Lane(*pool_, *recorder_, kernels_, needed_).run(stop);
  }

  std::string script(const std::string& text) {
    const std::string path = folder_ / "stand-in";
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  TempDir folder_;
  std::unique_ptr<store::Store> store_;
  Events events_;
  std::optional<Recorder> recorder_;
  std::vector<store::PlannedRow> planned_;
  std::optional<TrialPool> pool_;
  std::map<std::string, execute::KernelOption> kernels_;
  std::vector<std::string> needed_;
};

// Processes that this one started, the worker's guard among them.
std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  }
  return pids;
}

TEST_F(LaneTest, EveryPlannedTrialGetsOneOutcomeEvenIfNoneCanPass) {
  plan(5, script("exit 3"));
  EXPECT_TRUE(run().ok());
  const auto outcomes = *store_->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 5u);
  for (const auto& outcome : outcomes) {
    EXPECT_NE(outcome.verdict(), v1::PASSED);
    EXPECT_NE(outcome.reason(), "");
  }
  EXPECT_EQ(store_->without_outcome(kId)->size(), 0u);
  EXPECT_EQ(store_->status(kId)->execution(), "host");
}

TEST_F(LaneTest, AServerThatSpeaksBinaryIsBlamedInWordsThatCanBeKept) {
  plan(1, script("printf '\\377\\376 \\033[31mnoise\\n' >&2; exit 3"));
  EXPECT_TRUE(run().ok());
  const auto outcomes = *store_->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].verdict(), v1::FAILED);
  EXPECT_THAT(outcomes[0].reason(), HasSubstr("exit status 3: ?? ?[31mnoise"));
}

TEST_F(LaneTest, AWorkerThatDiesCostsOnlyTheTrialItHadBegun) {
  plan(3, script("exec sleep 600"));
  const auto watcher = events_.watch(kId);
  std::jthread killer([&] {
    for (int killed = 0; killed < 3;) {
      const auto event = watcher->next(30s);
      if (!event) return;
      if (!event->has_started()) continue;
      for (const pid_t pid : children()) ::kill(pid, SIGKILL);
      ++killed;
    }
  });
  EXPECT_TRUE(run().ok());
  const auto outcomes = *store_->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 3u);
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.verdict(), v1::FAILED);
    EXPECT_THAT(outcome.reason(), HasSubstr("worker ended: signal 9"));
  }
}

TEST_F(LaneTest, WorkersThatEachTakeATrialWithThemAreGivenUp) {
  plan(8, script("exec sleep 600"));
  const auto watcher = events_.watch(kId);
  std::jthread killer([&](std::stop_token done) {
    while (!done.stop_requested()) {
      const auto event = watcher->next(100ms);
      if (!event || !event->has_started()) continue;
      for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    }
  });
  const absl::Status status = run();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("5 trials in a row were lost"));
  EXPECT_EQ(store_->outcomes(kId)->size(), 5u);
  EXPECT_EQ(store_->without_outcome(kId)->size(), 3u) << "the rest is left for a resume";
}

// Everything below `pid`.
std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> all;
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", pid));
  for (pid_t child = 0; list >> child;) {
    all.push_back(child);
    for (const pid_t below : descendants(child)) all.push_back(below);
  }
  return all;
}

TEST_F(LaneTest, AWorkerThatHangsCostsOnlyTheTrialItHadBegun) {
  plan(2, script("exec sleep 600"));
  const auto watcher = events_.watch(kId);
  std::jthread stopper([&] {
    for (int stopped = 0; stopped < 2;) {
      const auto event = watcher->next(30s);
      if (!event) return;
      if (!event->has_started()) continue;
      for (const pid_t guard : children()) {
        for (const pid_t pid : descendants(guard)) ::kill(pid, SIGSTOP);
      }
      ++stopped;
    }
  });
  Lane lane(*pool_, *recorder_, kernels_, needed_, [](const v1::TrialSpec&) { return 1s; });
  EXPECT_TRUE(lane.run({}).ok());
  const auto outcomes = *store_->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 2u);
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.verdict(), v1::FAILED);
    EXPECT_THAT(outcome.reason(), HasSubstr("hung"));
  }
  EXPECT_TRUE(children().empty()) << "a hung worker is ended all the same";
}

TEST_F(LaneTest, StopDropsTheTrialUnderWayWithinTwoSeconds) {
  plan(2, script("exec sleep 600"));
  const auto watcher = events_.watch(kId);
  std::stop_source stop;
  int64_t stopped_ns = 0;
  std::jthread stopper([&] {
    while (const auto event = watcher->next(30s)) {
      if (!event->has_started()) continue;
      stopped_ns = base::monotonic_ns();
      stop.request_stop();
      return;
    }
  });
  EXPECT_TRUE(run(stop.get_token()).ok());
  const int64_t ended_ns = base::monotonic_ns();
  stopper.join();
  EXPECT_LT(ended_ns - stopped_ns, 2'000'000'000);
  EXPECT_EQ(store_->outcomes(kId)->size(), 0u);
  EXPECT_EQ(store_->without_outcome(kId)->size(), 2u);
}

TEST_F(LaneTest, AClosedPoolLetsTheTrialUnderWayEndAndStartsNoOther) {
  plan(4, script("exit 3"));
  const auto watcher = events_.watch(kId);
  std::jthread closer([&] {
    while (const auto event = watcher->next(30s)) {
      if (event->has_started()) return pool_->close();
    }
  });
  EXPECT_TRUE(run().ok());
  const size_t outcomes = store_->outcomes(kId)->size();
  EXPECT_GE(outcomes, 1u);
  EXPECT_EQ(store_->without_outcome(kId)->size(), 4 - outcomes);
}

TEST_F(LaneTest, WorkersThatNeverStartBlameNoTrial) {
  plan(4, script("exit 3"));
  std::jthread killer([](std::stop_token done) {
    while (!done.stop_requested()) {
      for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    }
  });
  const absl::Status status = run();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("3 in a row"));
  EXPECT_EQ(store_->outcomes(kId)->size(), 0u);
}

TEST_F(LaneTest, AKernelWithoutTheNeededCongestionControlIsRefusedBeforeAnyTrial) {
  plan(1, script("exit 3"));
  needed_ = {"frob"};
  const absl::Status status = run();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("frob"));
  EXPECT_EQ(store_->outcomes(kId)->size(), 0u);
}

TEST_F(LaneTest, EvidenceTheStoreRefusesIsAnInvalidOutcome) {
  plan(1, script("exit 3"));
  v1::TrialResult result;
  result.set_trial_id(planned_[0].trial_id);
  result.set_verdict(v1::PASSED);
  result.mutable_client()->add_records()->set_seq(7);
  EXPECT_TRUE(recorder_->on_result(planned_[0], result, {}).ok());
  const auto outcomes = *store_->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].verdict(), v1::INVALID);
  EXPECT_THAT(outcomes[0].reason(), HasSubstr("evidence refused"));
}

}  // namespace
}  // namespace hopyard::run
