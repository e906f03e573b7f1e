// SPDX-License-Identifier: Apache-2.0
// Worker sessions on the kernel this program runs on. Run as a unit test on the machine, and by
// tests/guest/execute_host_path_test as an ordinary user in a guest, where fq and netem exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/fd.h"
#include "execute/execution.h"
#include "hopyard/v1/worker.pb.h"
#include "unit/execute/machine.h"

namespace hopyard::execute {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

base::Deadline soon() { return base::Deadline(std::chrono::seconds(60)); }

// Set where no other program changes the machine's folders.
bool alone() { return std::getenv("HOPYARD_TEST_ALONE") != nullptr; }

KernelOption host() {
  const auto kernels = list_kernels();
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  return kernels->at(0);
}

TEST(Starting, EndsAtOnceWhenItIsStopped) {
  const std::string silent = testing::TempDir() + "/silent-kernel-" + std::to_string(::getpid());
  ASSERT_TRUE(base::write_file(silent, "#!/bin/sh\nexec sleep 600\n", 0755).ok());
  std::stop_source stop;
  std::jthread stopper([&stop] {
    while (descendants(::getpid()).empty()) {
    }
    stop.request_stop();
  });
  const int64_t begin = base::monotonic_ns();
  const auto session = WorkerSession::start({.name = "silent", .program = silent}, soon(), stop.get_token());
  EXPECT_FALSE(session.ok());
  EXPECT_LT(base::monotonic_ns() - begin, 20'000'000'000) << "well before its deadline";
  EXPECT_THAT(still_running(descendants(::getpid())), IsEmpty());
  ::unlink(silent.c_str());
}

class Session : public testing::Test {
 protected:
  void SetUp() override {
    const KernelOption kernel = host();
    if (!kernel.unix_usable) GTEST_SKIP() << "this machine forbids namespaces: " << kernel.why_not;
    before_ = machine_state(alone());
    auto started = WorkerSession::start(kernel, soon());
    ASSERT_TRUE(started.ok()) << started.status();
    session_ = *std::move(started);
    // The guard is this program's only child.
    processes_ = descendants(::getpid());
    ASSERT_EQ(processes_.size(), 3u) << "guard, reaper, worker";
  }
  void expect_nothing_left() {
    session_.reset();
    EXPECT_THAT(still_running(processes_), IsEmpty());
    EXPECT_THAT(changes(before_, machine_state(alone())), IsEmpty());
  }
  MachineState before_;
  std::unique_ptr<WorkerSession> session_;
  std::vector<Process> processes_;
};

TEST_F(Session, GreetsWithTheHostsKernel) {
  utsname names{};
  ::uname(&names);
  EXPECT_EQ(session_->hello().kernel_release(), names.release);
  EXPECT_FALSE(session_->hello().guest());
  EXPECT_GT(session_->hello().boot_ns(), 0);
  expect_nothing_left();
}

TEST_F(Session, IsFilteredTakesNobodysPrivilegesAndWritesNoCore) {
  for (const Process& process : processes_) {
    const std::string folder = "/proc/" + std::to_string(process.pid);
    EXPECT_THAT(base::read_file(folder + "/status").value(),
                testing::AllOf(HasSubstr("NoNewPrivs:\t1"), HasSubstr("Seccomp:\t2")))
        << process.name;
    EXPECT_THAT(base::read_file(folder + "/limits").value(),
                testing::ContainsRegex("Max core file size +0 +0 "))
        << process.name;
  }
  expect_nothing_left();
}

TEST_F(Session, EmptyJobIsDoneAndTheWorkerEnds) {
  v1::ToWorker message;
  message.mutable_job()->set_job_id("empty");
  ASSERT_TRUE(session_->send(message).ok());
  const auto answer = session_->receive(soon());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->has_done());
  const auto end = session_->finish(soon());
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit.exit_code, 0) << end->log;
  EXPECT_THAT(still_running(processes_), IsEmpty());
  expect_nothing_left();
}

TEST_F(Session, TrialThatCannotRunIsAResultLikeAnyOther) {
  v1::ToWorker message;
  v1::TrialSpec& spec = *message.mutable_job()->add_trials();
  spec.set_trial_id("no-server");
  spec.mutable_path()->set_name("wire");
  spec.mutable_path()->set_kind("unix");
  spec.mutable_workload()->set_name("h1-1k");
  spec.mutable_workload()->set_protocol("h1");
  spec.mutable_workload()->add_requests()->set_body_bytes(1024);
  spec.mutable_build()->set_nginx_path("/no/such/nginx");
  ASSERT_TRUE(session_->send(message).ok());
  const auto started = session_->receive(soon());
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ(started->started().trial_id(), "no-server");
  const auto finished = session_->receive(soon());
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->result().trial_id(), "no-server");
  EXPECT_NE(finished->result().verdict(), v1::PASSED);
  EXPECT_THAT(finished->result().reason(), HasSubstr("/no/such/nginx"));
  const auto last = session_->receive(soon());
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_TRUE(last->has_done());
  expect_nothing_left();
}

TEST_F(Session, MessageWithoutARequestIsFatal) {
  ASSERT_TRUE(session_->send(v1::ToWorker()).ok());
  const auto answer = session_->receive(soon());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->fatal().reason(), HasSubstr("asks for nothing"));
  const auto end = session_->finish(soon());
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->exit.exit_code, 1);
  EXPECT_THAT(end->log, HasSubstr("asks for nothing"));
  expect_nothing_left();
}

TEST_F(Session, CancelFromAnotherThreadEndsAReceive) {
  std::thread other([&] { EXPECT_TRUE(session_->cancel().ok()); });
  EXPECT_TRUE(absl::IsUnavailable(session_->receive(soon()).status()));
  other.join();
  EXPECT_TRUE(session_->cancel().ok());
  const auto end = session_->finish(soon());
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->exit.clean());
  EXPECT_TRUE(session_->cancel().ok()) << "also when it has ended";
  expect_nothing_left();
}

TEST_F(Session, FinishEndsAWorkerThatHasNotEnded) {
  const auto end = session_->finish(base::Deadline(std::chrono::seconds(0)));
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_FALSE(end->exit.clean());
  expect_nothing_left();
}

TEST_F(Session, SendingToAKilledWorkerIsAnError) {
  ASSERT_EQ(::kill(processes_.front().pid, SIGKILL), 0);
  ASSERT_THAT(still_running(processes_), IsEmpty());
  v1::ToWorker message;
  message.mutable_job();
  EXPECT_TRUE(absl::IsUnavailable(session_->send(message)));
}

TEST_F(Session, NothingIsLeftWhenAnyOfItsProcessesIsKilled) {
  for (size_t victim = 0; victim < 3; ++victim) {
    SCOPED_TRACE(victim);
    if (session_ == nullptr) SetUp();
    ASSERT_EQ(::kill(processes_[victim].pid, SIGKILL), 0);
    EXPECT_THAT(still_running(processes_), IsEmpty());
    EXPECT_TRUE(absl::IsUnavailable(session_->receive(soon()).status()));
    expect_nothing_left();
  }
}

TEST_F(Session, OutlivesTheThreadThatStartedIt) {
  session_.reset();
  const KernelOption kernel = host();
  std::thread starter([&] {
    auto started = WorkerSession::start(kernel, soon());
    ASSERT_TRUE(started.ok()) << started.status();
    session_ = *std::move(started);
  });
  starter.join();
  ASSERT_NE(session_, nullptr);
  v1::ToWorker message;
  message.mutable_job();
  ASSERT_TRUE(session_->send(message).ok());
  const auto answer = session_->receive(soon());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(answer->has_done());
}

// In another process, which holds a session and is then killed.
TEST_F(Session, NothingIsLeftWhenItsOwnerIsKilled) {
  session_.reset();
  auto ready = base::make_pipe();
  ASSERT_TRUE(ready.ok());
  const KernelOption kernel = host();
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto held = WorkerSession::start(kernel, soon());
    (void)!::write(ready->write.get(), held.ok() ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char started = 0;
  ASSERT_EQ(::read(ready->read.get(), &started, 1), 1);
  EXPECT_EQ(started, 'y');
  processes_ = descendants(owner);
  EXPECT_EQ(processes_.size(), 3u);
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  expect_nothing_left();
}

TEST(Kernels, RoutedPathsNeedTheHostToHaveFqAndNetem) {
  const KernelOption kernel = host();
  const auto chosen = choose_kernel("host", {.routed = true});
  EXPECT_EQ(chosen.ok(), kernel.usable) << chosen.status();
  // Who runs this where fq and netem are known to be says so.
  if (std::getenv("HOPYARD_TEST_EXPECT_USABLE") != nullptr) {
    EXPECT_TRUE(kernel.usable) << kernel.why_not;
    EXPECT_THAT(kernel.congestion_controls, testing::IsSupersetOf({"cubic", "bbr", "reno", "vegas"}));
    const auto automatic = choose_kernel("auto", {.congestion_controls = {"bbr"}, .routed = true});
    ASSERT_TRUE(automatic.ok()) << automatic.status();
    EXPECT_EQ(automatic->name, "host");
  }
}

}  // namespace
}  // namespace hopyard::execute
