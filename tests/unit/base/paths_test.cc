// SPDX-License-Identifier: Apache-2.0
// The XDG folders follow the environment; relative values are ignored, as the specification says.
#include "base/paths.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

TEST(CacheDir, FollowsTheEnvironmentAndIgnoresRelativeValues) {
  ::setenv("HOME", "/home/someone", 1);
  ::setenv("XDG_CACHE_HOME", "/elsewhere", 1);
  EXPECT_EQ(cache_dir(), "/elsewhere/hopyard");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_dir(), "/home/someone/.cache/hopyard");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(cache_dir(), "/home/someone/.cache/hopyard");
}

TEST(DefaultSocket, IsOnePerDatabaseHoweverItIsWritten) {
  ::setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
  const std::string socket = default_socket("/data/long/a.db");
  EXPECT_TRUE(socket.starts_with("/run/user/7/hopyard/")) << socket;
  EXPECT_EQ(default_socket("/data/long/../long/./a.db"), socket);
  EXPECT_NE(default_socket("/data/long/b.db"), socket);
  EXPECT_EQ(default_socket("/" + std::string(300, 'x')).size(), socket.size());
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(DataDir, CanBeNamed) {
  ::setenv("HOPYARD_DATA", "/data", 1);
  EXPECT_EQ(data_dir(), "/data");
  ::unsetenv("HOPYARD_DATA");
}

TEST(ProgramDir, IsWhereThisTestLies) { EXPECT_TRUE(program_dir().ends_with("/bin")); }

}  // namespace
}  // namespace hopyard::base
