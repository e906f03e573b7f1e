// SPDX-License-Identifier: Apache-2.0
// A guest's order is there as long as somebody waits for the guest, and no longer.
#include "execute/order_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace hopyard::execute {
namespace {

class OrderFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = testing::TempDir() + "/order-XXXXXX";
};

TEST_F(OrderFiles, IsForItsOwnerAloneAndGoneWithItsObject) {
  std::string path;
  {
    const auto order = OrderFile::make("bytes");
    ASSERT_TRUE(order.ok()) << order.status();
    path = order->path();
    EXPECT_EQ(base::read_file(path).value_or(""), "bytes");
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(OrderFiles, OfAKilledDaemonIsRemovedAndThatOfALivingOneIsNot) {
  const auto held = OrderFile::make("held");
  ASSERT_TRUE(held.ok()) << held.status();
  const pid_t daemon = ::fork();
  ASSERT_GE(daemon, 0);
  if (daemon == 0) {
    const auto left = OrderFile::make("left");
    ::_exit(left.ok() ? 0 : 1);  // without its destructor, as if killed
  }
  int status = 0;
  ASSERT_EQ(::waitpid(daemon, &status, 0), daemon);
  ASSERT_EQ(status, 0);
  const auto count = [this] {
    return std::distance(std::filesystem::directory_iterator(folder_ + "/hopyard"), {});
  };
  ASSERT_EQ(count(), 2);
  remove_stale_orders();
  EXPECT_EQ(count(), 1);
  EXPECT_TRUE(std::filesystem::exists(held->path()));
}

}  // namespace
}  // namespace hopyard::execute
