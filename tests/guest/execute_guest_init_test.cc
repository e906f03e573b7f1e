// SPDX-License-Identifier: Apache-2.0
// The guest as its first process leaves it to what runs there.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "lab/guest_init.h"
#include "places.h"

namespace hopyard::lab {
namespace {

using testing::HasSubstr;

std::string run(std::vector<std::string> argv) {
  base::ChildOptions options;
  options.argv = std::move(argv);
  const auto done = base::run_command(options, std::chrono::seconds(20));
  if (!done.ok()) return std::string(done.status().message());
  return done->output + (done->exit.clean() ? "" : done->exit.describe());
}

TEST(GuestInit, RunsTestsBelowTheFirstProcess) {
  EXPECT_EQ(::getppid(), 1);
  EXPECT_FALSE(is_guest_init());
}

TEST(GuestInit, BringsNoLinkUp) {
  struct if_nameindex* links = ::if_nameindex();
  ASSERT_NE(links, nullptr);
  EXPECT_STREQ(links[0].if_name, "lo");
  EXPECT_EQ(links[1].if_index, 0u);
  ::if_freenameindex(links);
  EXPECT_THAT(run({"/sbin/ip", "link", "show", "lo"}), HasSubstr("state DOWN"));
}

TEST(GuestInit, KernelHasWhatPathsNeed) {
  EXPECT_EQ(run({"/sbin/ip", "link", "add", "left", "type", "veth", "peer", "name", "right"}), "");
  EXPECT_EQ(run({"/sbin/tc", "qdisc", "add", "dev", "left", "root", "fq"}), "");
  EXPECT_EQ(
      run({"/sbin/tc", "qdisc", "add", "dev", "right", "root", "netem", "delay", "10ms", "rate", "20mbit"}),
      "");
  EXPECT_EQ(run({"/sbin/ip", "link", "del", "left"}), "");
  const auto controls = base::read_file("/proc/sys/net/ipv4/tcp_available_congestion_control");
  ASSERT_TRUE(controls.ok());
  EXPECT_THAT(*controls, HasSubstr("bbr"));
  EXPECT_THAT(*controls, HasSubstr("vegas"));
}

TEST(GuestInit, MachineFilesAreReadOnly) {
  const auto made = base::open_file("/usr/hopyard-made-this", O_WRONLY | O_CREAT, 0600);
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("Read-only file system"));
}

TEST(GuestInit, TemporaryFoldersAreTheGuestsOwn) {
  for (const char* folder : {"/tmp", "/run", "/dev/shm"}) {
    const std::string file = std::string(folder) + "/own";
    EXPECT_TRUE(base::write_file(file, "x").ok()) << file;
    struct stat info {};
    ASSERT_EQ(::stat(folder, &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 01777u) << folder;
  }
}

TEST(GuestInit, ThisProgramIsVisibleWhereverItLies) {
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(HOPYARD_BUILD_DIR) / "CMakeCache.txt"));
}

TEST(GuestInit, LoadingWhatIsThereOrMissing) {
  EXPECT_TRUE(load_modules({"veth"}).ok());
  EXPECT_TRUE(absl::IsNotFound(load_modules({"no-such-module"})));
}

TEST(GuestInit, OrphansAreReaped) {
  auto hold = base::make_pipe();
  auto tell = base::make_pipe();
  ASSERT_TRUE(hold.ok() && tell.ok());
  const pid_t middle = ::fork();
  if (middle == 0) {
    hold->write.reset();
    const pid_t orphan = ::fork();
    if (orphan == 0) {
      char byte;
      (void)!::read(hold->read.get(), &byte, 1);  // until the test lets go
      ::_exit(0);
    }
    (void)!::write(tell->write.get(), &orphan, sizeof orphan);
    ::_exit(0);
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(tell->read.get(), &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_EQ(::waitpid(middle, nullptr, 0), middle);
  hold->write.reset();
  // Killing with signal 0 works on zombies too: it fails only once the first process has reaped.
  const base::Deadline deadline(std::chrono::seconds(10));
  while (::kill(orphan, 0) == 0 && !deadline.passed()) ::sched_yield();
  EXPECT_EQ(::kill(orphan, 0), -1);
}

}  // namespace
}  // namespace hopyard::lab
