// SPDX-License-Identifier: Apache-2.0
// The log in a process's memory: found, cut at its end, and told when it went round.
#include "server/memory_log.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fmt/format.h"

namespace hopyard::server {
namespace {

using namespace std::chrono_literals;

constexpr size_t kBytes = 4096;

std::string log_of(const std::string& lines) {
  std::string log = fmt::format("MEMLOG {} /x/nginx.conf:5\n{}", kBytes, lines);
  log.resize(kBytes, ' ');
  return log;
}

TEST(MemoryLog, IsWhatWasWritten) {
  const auto log = find_memory_log("before" + log_of("one\ntwo\n") + "after", kBytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(*log, "one\ntwo\n");
}

TEST(MemoryLog, IsEmptyBeforeTheFirstLineAndWhereThereIsNone) {
  EXPECT_EQ(find_memory_log(log_of(""), kBytes).value(), "");
  EXPECT_EQ(find_memory_log("", kBytes).value(), "");
  EXPECT_EQ(find_memory_log(log_of("one\n"), 2 * kBytes).value(), "");                    // another's
  EXPECT_EQ(find_memory_log(log_of("one\n").substr(0, kBytes - 1), kBytes).value(), "");  // cut short
}

TEST(MemoryLog, ThatWentRoundIsAnError) {
  const auto log = find_memory_log(log_of(std::string(2 * kBytes, 'x')), kBytes);
  EXPECT_TRUE(absl::IsOutOfRange(log.status())) << log.status();
  // Its last bytes may be spaces of a line.
  const auto spaced =
      find_memory_log(log_of(std::string(2 * kBytes, 'x')).substr(0, kBytes - 2) + "  ", kBytes);
  EXPECT_TRUE(absl::IsOutOfRange(spaced.status())) << spaced.status();
}

TEST(MemoryLog, IsReadOutOfAProcess) {
  // Kept, so that a child that is a copy of us has it.
  static std::string log = log_of("written\n");
  const pid_t child = ::fork();
  if (child == 0) {
    // What no server of ours has, and nobody could hold.
    ::mmap(nullptr, size_t{1} << 44, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
           0);
    ::pause();
    ::_exit(log.empty() ? 1 : 0);
  }
  EXPECT_EQ(read_memory_log(child, kBytes, 5s).value(), "written\n");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(MemoryLog, OfAProcessThatHasEndedIsEmpty) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(read_memory_log(child, kBytes, 5s).value(), "");
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(read_memory_log(child, kBytes, 0s).value(), "");
}

}  // namespace
}  // namespace hopyard::server
