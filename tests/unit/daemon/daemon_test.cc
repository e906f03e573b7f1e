// SPDX-License-Identifier: Apache-2.0
// hopyardd as a service manager sees it: what it says, when, and how it ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "places.h"

namespace hopyard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class DaemonTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/daemon-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, notify().c_str());
    manager_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(manager_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string notify() const { return folder_ + "/notify"; }

  absl::StatusOr<base::Child> start(std::vector<std::string> options, const std::string& watchdog_usec = "") {
    auto log = base::open_file(folder_ + "/log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!log.ok()) return log.status();
    base::ChildOptions child;
    child.argv = {HOPYARD_BUILD_DIR "/bin/hopyardd", "--db", folder_ + "/test.db", "--socket",
                  folder_ + "/socket"};
    child.argv.insert(child.argv.end(), options.begin(), options.end());
    child.environment = {"PATH=/usr/bin:/bin", "HOME=" + folder_, "NOTIFY_SOCKET=" + notify()};
    if (!watchdog_usec.empty()) child.environment->push_back("WATCHDOG_USEC=" + watchdog_usec);
    child.stderr_fd = log->get();
    return base::Child::start(child);
  }
  // The next thing it says to the service manager.
  std::string heard() {
    pollfd entry{manager_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 60'000) != 1) return "nothing in a minute";
    char words[200];
    const ssize_t got = ::recv(manager_.get(), words, sizeof words, 0);
    return {words, got > 0 ? static_cast<size_t>(got) : 0};
  }
  std::string log() const { return base::read_file(folder_ + "/log").value_or("no log"); }

  std::string folder_;
  base::Fd manager_;
};

TEST_F(DaemonTest, SaysWhenItServesAndWhenItStopsAndExits0) {
  auto daemon = start({"--log-format", "json"});
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  EXPECT_EQ(heard(), "READY=1") << log();
  EXPECT_TRUE(std::filesystem::is_socket(folder_ + "/socket"));
  ASSERT_TRUE(daemon->signal(SIGTERM).ok());
  EXPECT_EQ(heard(), "STOPPING=1");
  const auto exit = daemon->wait(60s);
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_TRUE(exit->clean()) << exit->describe();
  EXPECT_THAT(log(), HasSubstr(R"("event":"listening","socket":")"));
  EXPECT_THAT(log(), HasSubstr(R"("event":"stopped"})"));
}

TEST_F(DaemonTest, FeedsTheWatchdogAsLongAsItLives) {
  auto daemon = start({}, "300000");
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  EXPECT_EQ(heard(), "READY=1") << log();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(heard(), "WATCHDOG=1");
}

TEST_F(DaemonTest, TlsNeedsAllItsFiles) {
  auto daemon = start({"--tls-listen", "127.0.0.1:0"});
  ASSERT_TRUE(daemon.ok()) << daemon.status();
  const auto exit = daemon->wait(60s);
  ASSERT_TRUE(exit.ok()) << exit.status();
  EXPECT_FALSE(exit->clean());
  EXPECT_THAT(log(), HasSubstr("--tls-"));
}

}  // namespace
}  // namespace hopyard
