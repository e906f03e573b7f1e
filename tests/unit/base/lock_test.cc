// SPDX-License-Identifier: Apache-2.0
// A lock excludes others, tells who holds it, and ends with its holder.
#include "base/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

namespace hopyard::base {
namespace {

using namespace std::chrono_literals;

std::string lock_path() {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  return testing::TempDir() + "/" + info->name() + std::to_string(::getpid()) + ".lock";
}

// A process that holds the lock until the returned pipe's write end is closed.
struct Holder {
  pid_t pid;
  Fd release;
};

Holder hold_in_child(const std::string& path) {
  Pipe go = make_pipe().value();
  Pipe ready = make_pipe().value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    go.write.reset();
    auto lock = FileLock::take(path, "process one");
    char byte = lock.ok() ? 'y' : 'n';
    (void)!::write(ready.write.get(), &byte, 1);
    (void)!::read(go.read.get(), &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  EXPECT_EQ(::read(ready.read.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  return {pid, std::move(go.write)};
}

TEST(FileLock, ASecondProcessIsRefusedAndToldWhoHoldsIt) {
  Holder holder = hold_in_child(lock_path());
  const auto second = FileLock::take(lock_path(), "process two");
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), testing::HasSubstr("held by process one"));
  holder.release.reset();
  ::waitpid(holder.pid, nullptr, 0);
}

TEST(FileLock, IsFreeOnceItsHolderWasKilled) {
  Holder holder = hold_in_child(lock_path());
  ::kill(holder.pid, SIGKILL);
  ::waitpid(holder.pid, nullptr, 0);
  EXPECT_TRUE(FileLock::take(lock_path(), "process two").ok());
}

TEST(FileLock, AWaitEndsWhenTheHolderLetsGo) {
  Holder holder = hold_in_child(lock_path());
  holder.release.reset();
  EXPECT_TRUE(FileLock::take(lock_path(), "process two", 10s).ok());
  ::waitpid(holder.pid, nullptr, 0);
}

TEST(FileLock, AWaitIsBounded) {
  Holder holder = hold_in_child(lock_path());
  const int64_t begin = monotonic_ns();
  EXPECT_FALSE(FileLock::take(lock_path(), "process two", 250ms).ok());
  const int64_t took = monotonic_ns() - begin;
  EXPECT_GE(took, 250'000'000);
  EXPECT_LT(took, 5'000'000'000);
  holder.release.reset();
  ::waitpid(holder.pid, nullptr, 0);
}

}  // namespace
}  // namespace hopyard::base
