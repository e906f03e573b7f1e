// SPDX-License-Identifier: Apache-2.0
// Descriptors have one owner; whole-file helpers name what failed.
#include "base/fd.h"

#include <fcntl.h>

#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

TEST(Fd, ClosesWhenItsOwnerEndsAndMovesWithoutLeaking) {
  int number;
  {
    auto first = open_file("/dev/null", O_RDONLY);
    ASSERT_TRUE(first.ok());
    number = first->get();
    Fd second = std::move(*first);
    EXPECT_FALSE(first->valid());
    EXPECT_EQ(second.get(), number);
    EXPECT_NE(::fcntl(number, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST(ReadFile, RefusesMoreThanItsLimit) {
  EXPECT_TRUE(absl::IsResourceExhausted(read_file("/dev/zero", 100000).status()));
}

TEST(OpenFile, NamesThePathAndTheCause) {
  const auto status = open_file("/no/such/file", O_RDONLY).status();
  EXPECT_EQ(status.message(), "open: /no/such/file: No such file or directory");
}

TEST(WriteExisting, DoesNotCreate) { EXPECT_FALSE(write_existing("/tmp/hopyard-never-made", "x").ok()); }

}  // namespace
}  // namespace hopyard::base
