// SPDX-License-Identifier: Apache-2.0
// Guest tests that end in every way a test can; run one at a time by execute_machine_test, never by ctest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

TEST(Harness, Passes) {}
TEST(Harness, Fails) { FAIL() << "on purpose"; }
TEST(Harness, Crashes) { ::raise(SIGSEGV); }
TEST(Harness, Leaves) { ::_exit(3); }
TEST(Harness, Hangs) { ::pause(); }
TEST(Harness, PrintsALot) {
  for (int i = 0; i < 20000; ++i) std::printf("line %d of the output, which is long enough to matter\n", i);
}
TEST(Harness, LeavesAProcessBehind) {
  if (::fork() == 0) {
    ::pause();
    ::_exit(0);
  }
}
TEST(Harness, KillsTheFirstProcess) {
  // Into the kernel's own hands: a panic.
  if (FILE* trigger = std::fopen("/proc/sysrq-trigger", "w")) {
    std::fputs("c", trigger);
    std::fclose(trigger);
  }
  FAIL() << "the kernel did not panic";
}
TEST(Harness, SeesTheEnvironment) { EXPECT_STREQ(std::getenv("HOPYARD_HARNESS"), "a value = with spaces"); }

}  // namespace
