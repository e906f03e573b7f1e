// SPDX-License-Identifier: Apache-2.0
// Children are started, passed descriptors, waited for, stopped and never left behind.
#include "base/child.h"

#include <signal.h>
#include <sys/wait.h>

#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

using namespace std::chrono_literals;

TEST(RunCommand, CollectsOutputAndExitStatus) {
  auto run = run_command({.argv = {"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}}, 10s);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->output, "out\nerr\n");
  EXPECT_EQ(run->exit.exit_code, 3);
  EXPECT_EQ(run->exit.describe(), "exit status 3");
}

TEST(RunCommand, EndsACommandThatIsNotDoneInTime) {
  EXPECT_TRUE(absl::IsDeadlineExceeded(run_command({.argv = {"/bin/sleep", "60"}}, 50ms).status()));
}

TEST(Child, NamesTheProgramThatCannotBeExecuted) {
  auto child = Child::start({.argv = {"/no/such/program"}});
  EXPECT_TRUE(absl::IsNotFound(child.status()));
  EXPECT_NE(std::string(child.status().message()).find("/no/such/program"), std::string::npos);
}

TEST(Child, IsKilledWhenItIgnoresTerm) {
  auto pipe = make_pipe();
  auto child = Child::start({.argv = {"/bin/sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"},
                             .stdout_fd = pipe->write.get()});
  ASSERT_TRUE(child.ok());
  char ready;
  ASSERT_EQ(::read(pipe->read.get(), &ready, 1), 1);
  auto exit = child->stop(50ms);
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_EQ(exit->signal, SIGKILL);
}

TEST(Child, IsAskedAgainWhereItMissedTheFirstSignal) {
  auto pipe = make_pipe();
  auto idle = make_pipe();
  constexpr char kHardOfHearing[] =
      "seen=; trap 'test -n \"$seen\" && exit 0; seen=once' QUIT; echo; while :; do read line; done";
  auto child = Child::start({.argv = {"/bin/bash", "-c", kHardOfHearing},
                             .stdin_fd = idle->read.get(),
                             .stdout_fd = pipe->write.get()});
  ASSERT_TRUE(child.ok());
  char ready;
  ASSERT_EQ(::read(pipe->read.get(), &ready, 1), 1);
  auto exit = child->stop(20s, SIGQUIT);
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_TRUE(exit->clean()) << exit->describe();
}

TEST(Child, SeesPassedDescriptorsUnderTheirNewNumbersEvenWhenTheyOverlap) {
  auto pipe = make_pipe();
  auto other = make_pipe();
  // Crosswise on purpose: each source number is likely another's target.
  const int a = pipe->write.get(), b = other->write.get();
  auto child =
      Child::start({.argv = {"/bin/sh", "-c", "echo a >&3; echo b >&4"}, .pass_fds = {{a, 3}, {b, 4}}});
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->wait(10s)->clean());
  char text[2];
  ASSERT_EQ(::read(pipe->read.get(), text, 2), 2);
  EXPECT_EQ(text[0], 'a');
  ASSERT_EQ(::read(other->read.get(), text, 2), 2);
  EXPECT_EQ(text[0], 'b');
}

TEST(RunCommand, EndsOneThatNeverStopsTalking) {
  const auto done = run_command({.argv = {"/usr/bin/yes"}}, 50ms);
  EXPECT_TRUE(absl::IsDeadlineExceeded(done.status())) << done.status();
}

TEST(EndOrphans, EndsWhatACommandLeftBehindHoweverDeep) {
  adopt_orphans();
  ASSERT_TRUE(
      run_command({.argv = {"/bin/sh", "-c",
                            "exec >/dev/null 2>&1; setsid sh -c 'sleep 600 & sleep 600 & wait' & exit 0"}},
                  10s)
          .ok());
  EXPECT_GE(end_orphans(), 1);
  EXPECT_EQ(end_orphans(), 0);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(Child, DiesWithItsOwner) {
  pid_t pid;
  {
    auto child = Child::start({.argv = {"/bin/sleep", "60"}});
    ASSERT_TRUE(child.ok());
    pid = child->pid();
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

}  // namespace
}  // namespace hopyard::base
