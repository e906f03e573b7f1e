// SPDX-License-Identifier: Apache-2.0
// Who may connect to the daemon's socket, judged with real sockets and, as root, a real second user.
#include "rpc/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace hopyard::rpc {
namespace {

class ListenerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/listener-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    options_.path = folder_ + "/d/hopyard.sock";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  base::Fd connect() const {
    base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options_.path.c_str(), sizeof address.sun_path - 1);
    if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return {};
    return fd;
  }

  // Serves with an echo of one byte: 'a' to whoever is accepted.
  void greet(Listener& listener) {
    listener.serve([](base::Fd fd) { (void)!::write(fd.get(), "a", 1); });
  }

  std::string folder_;
  ListenerOptions options_;
};

// 'a' from an accepted connection, 0 where it was closed at once, '?' where connecting failed.
char greeting(const base::Fd& fd) {
  if (!fd.valid()) return '?';
  char byte = 0;
  return ::read(fd.get(), &byte, 1) == 1 ? byte : 0;
}

TEST_F(ListenerTest, SocketIsPrivateToItsOwner) {
  auto listener = Listener::bind(options_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  struct stat info {};
  ASSERT_EQ(::stat(options_.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat((folder_ + "/d").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST_F(ListenerTest, OwnUserIsAccepted) {
  auto listener = Listener::bind(options_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  greet(**listener);
  EXPECT_EQ(greeting(connect()), 'a');
}

TEST_F(ListenerTest, PeerWithAnotherUidIsClosedWithoutAByte) {
  options_.allowed = ::geteuid() + 1;
  auto listener = Listener::bind(options_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  greet(**listener);
  EXPECT_EQ(greeting(connect()), 0);
}

TEST_F(ListenerTest, AnotherUserIsRefusedEvenThroughAWorldWritableSocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  options_.path = folder_ + "/open.sock";
  options_.mode = 0666;
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  auto listener = Listener::bind(options_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  greet(**listener);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    if (::setresuid(65534, 65534, 65534) != 0) ::_exit('!');
    ::_exit(greeting(connect()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "expected a connection closed without a byte";
  EXPECT_EQ(greeting(connect()), 'a') << "the owner must still get in";
}

TEST_F(ListenerTest, ASecondListenerOnOnePathIsRefused) {
  auto first = Listener::bind(options_);
  ASSERT_TRUE(first.ok()) << first.status();
  const pid_t other = ::fork();
  if (other == 0) ::_exit(Listener::bind(options_).status().code() == absl::StatusCode::kUnavailable ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST_F(ListenerTest, SocketOfAKilledDaemonIsReplaced) {
  const pid_t dead = ::fork();
  if (dead == 0) {
    auto listener = Listener::bind(options_);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(dead, &status, 0), dead);
  ASSERT_TRUE(std::filesystem::exists(options_.path));
  auto listener = Listener::bind(options_);
  ASSERT_TRUE(listener.ok()) << listener.status();
  greet(**listener);
  EXPECT_EQ(greeting(connect()), 'a');
}

TEST_F(ListenerTest, AFileThatIsNoSocketIsLeftAlone) {
  options_.path = folder_ + "/notes.txt";
  std::ofstream(options_.path) << "keep me";
  EXPECT_EQ(Listener::bind(options_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(base::read_file(options_.path).value(), "keep me");
}

TEST_F(ListenerTest, APathTooLongForASocketIsRefusedWithItsLimit) {
  options_.path = folder_ + "/" + std::string(120, 'x');
  const auto status = Listener::bind(options_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("1 to 107 bytes"));
}

TEST_F(ListenerTest, SocketIsGoneAfterwards) {
  { auto listener = Listener::bind(options_); }
  EXPECT_FALSE(std::filesystem::exists(options_.path));
}

}  // namespace
}  // namespace hopyard::rpc
