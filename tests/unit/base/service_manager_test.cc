// SPDX-License-Identifier: Apache-2.0
// A manager that listens hears the words; without one nothing happens.
#include "base/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/fd.h"
#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

using namespace std::chrono_literals;

// Listens under `name`, which is a path or "@" and an abstract name, and hears one message.
std::string heard_under(const std::string& name, std::string_view words) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
            0);
  ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  tell_service_manager(words);
  ::unsetenv("NOTIFY_SOCKET");
  char bytes[100];
  const ssize_t got = ::recv(fd.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  return {bytes, got > 0 ? static_cast<size_t>(got) : 0};
}

TEST(ServiceManager, HearsUnderAPathAndUnderAnAbstractName) {
  const std::string path = testing::TempDir() + "/notify-" + std::to_string(::getpid());
  EXPECT_EQ(heard_under(path, "READY=1"), "READY=1");
  ::unlink(path.c_str());
  EXPECT_EQ(heard_under("@hopyard-" + std::to_string(::getpid()), "STOPPING=1"), "STOPPING=1");
}

TEST(ServiceManager, IsNotMissed) {
  ::unsetenv("NOTIFY_SOCKET");
  tell_service_manager("READY=1");
  ::setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
  tell_service_manager("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(Watchdog, IsFedOnlyByTheProcessItWatches) {
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_FALSE(watchdog_patience().has_value());
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(watchdog_patience(), 30s);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(watchdog_patience().has_value());
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(watchdog_patience(), 30s);
  ::setenv("WATCHDOG_USEC", "soon", 1);
  EXPECT_FALSE(watchdog_patience().has_value());
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace hopyard::base
