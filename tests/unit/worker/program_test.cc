// SPDX-License-Identifier: Apache-2.0
// The program hopyard-worker itself: what it links, and what it says to someone who starts it by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/prctl.h>

#include "base/child.h"
#include "lab/sandbox.h"
#include "places.h"
#include "unit/base/in_child.h"

namespace hopyard::worker {
namespace {

using testing::HasSubstr;
using testing::Not;

base::CommandOutput run(std::vector<std::string> argv) {
  auto done = base::run_command({.argv = std::move(argv)}, std::chrono::seconds(20));
  EXPECT_TRUE(done.ok()) << done.status();
  return done.value_or(base::CommandOutput());
}

const std::string kWorker = HOPYARD_BUILD_DIR "/bin/hopyard-worker";

TEST(WorkerProgram, NeedsNoLibraryOfTheDaemons) {
  const auto needed = run({"/usr/bin/ldd", kWorker});  // those of its libraries, too
  ASSERT_TRUE(needed.exit.clean()) << needed.output;
  EXPECT_THAT(needed.output, HasSubstr("libc.so"));
  for (const char* library : {"libssl.so", "libcrypto.so", "libgrpc", "libsqlite3"}) {
    EXPECT_THAT(needed.output, Not(HasSubstr(library)));
  }
}

TEST(WorkerProgram, WithoutAModeItOnlySaysHowItIsUsed) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, {"--now"}, {"--host", "more"}}) {
    std::vector<std::string> argv = {kWorker};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const auto done = run(argv);
    EXPECT_EQ(done.exit.exit_code, 2);
    EXPECT_THAT(done.output, HasSubstr("usage: hopyard-worker"));
    // The sentence comes wherever this test, too, may not make links.
    if (!lab::refuse_initial_namespace().ok()) {
      EXPECT_THAT(done.output, HasSubstr("start worker: this network namespace: "));
    }
  }
}

TEST(WorkerProgram, IsNoGuestsFirstProcessOutsideOne) {
  const auto done = run({kWorker, "--guest-init"});
  EXPECT_EQ(done.exit.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("not the first process of a guest"));
}

TEST(WorkerProgram, ProbeNamesEveryCapability) {
  const auto done = run({kWorker, "--probe"});
  EXPECT_TRUE(done.exit.clean());
  EXPECT_THAT(done.output, HasSubstr("\"namespaces\""));
  EXPECT_THAT(done.output, HasSubstr("congestion_controls: \"reno\""));
}

TEST(WorkerProgram, KeeperPassesTheExitStatusOn) {
  EXPECT_EQ(run({kWorker, "--keep-guest", "/bin/sh", "-c", "exit 7"}).exit.exit_code, 7);
  EXPECT_EQ(run({kWorker, "--keep-guest", "/bin/sh", "-c", "kill -9 $$"}).exit.exit_code, 137);
}

TEST(WorkerProgram, KeeperNamesWhatItCannotRun) {
  const auto done = run({kWorker, "--keep-guest", "/no/such/kernel"});
  EXPECT_EQ(done.exit.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("/no/such/kernel"));
}

// As on a kernel that takes no filter, which another filter plays.
std::string run_where_no_filter_is_taken(const std::vector<std::string>& argv) {
  return base::in_child([&argv]() -> std::string {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const scmp_filter_ctx filter = ::seccomp_init(SCMP_ACT_ALLOW);
    ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0);
    ::seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                       SCMP_CMP(0, SCMP_CMP_EQ, PR_SET_SECCOMP));
    if (::seccomp_load(filter) != 0) return "no filter";
    const base::CommandOutput done = run(argv);
    return done.output + " " + done.exit.describe();
  });
}

TEST(WorkerProgram, GoesNoFurtherWhereTheKernelTakesNoFilter) {
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{kWorker, "--host"}, {kWorker, "--keep-guest", "/bin/echo", "went on"}}) {
    const std::string said = run_where_no_filter_is_taken(argv);
    EXPECT_THAT(said, HasSubstr("install: filter of system calls: "));
    EXPECT_THAT(said, HasSubstr("exit status 1"));
    EXPECT_THAT(said, Not(HasSubstr("went on")));
  }
  const std::string probe = run_where_no_filter_is_taken({kWorker, "--probe"});
  EXPECT_THAT(probe, HasSubstr("name: \"filter\"\n  why_not: \"install: filter of system calls: "));
}

}  // namespace
}  // namespace hopyard::worker
