// SPDX-License-Identifier: Apache-2.0
// Namespaces are fresh, visited and left again.
#include "lab/namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <set>

namespace hopyard::lab {
namespace {

uint64_t current_inode() {
  struct stat seen = {};
  EXPECT_EQ(::stat("/proc/thread-self/ns/net", &seen), 0);
  return seen.st_ino;
}

TEST(NetNamespace, MakingOneLeavesTheCallerWhereItWas) {
  const uint64_t before = current_inode();
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(current_inode(), before);
  EXPECT_NE(made->inode(), before);
}

TEST(NetNamespace, EachIsAnother) {
  const auto a = NetNamespace::make();
  const auto b = NetNamespace::make();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(a->inode(), b->inode());
}

TEST(NetNamespace, RunsInsideAndComesHome) {
  const uint64_t home = current_inode();
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  const absl::StatusOr<uint64_t> inside =
      made->run([]() -> absl::StatusOr<uint64_t> { return current_inode(); });
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(*inside, made->inode());
  EXPECT_EQ(current_inode(), home);
}

TEST(NetNamespace, ComesHomeWhenTheActionFails) {
  const uint64_t home = current_inode();
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  const absl::Status failed = made->run([] { return absl::DataLossError("on purpose"); });
  EXPECT_EQ(failed.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(current_inode(), home);
}

TEST(NetNamespace, HoldsNothingButLoopback) {
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  const absl::StatusOr<std::set<std::string>> names =
      made->run([]() -> absl::StatusOr<std::set<std::string>> {
        std::set<std::string> seen;
        struct if_nameindex* const list = ::if_nameindex();
        for (auto* entry = list; entry != nullptr && entry->if_index != 0; ++entry)
          seen.insert(entry->if_name);
        ::if_freenameindex(list);
        return seen;
      });
  ASSERT_TRUE(names.ok());
  // Some kernels put the fallback tunnels of their built-in drivers into every namespace.
  EXPECT_TRUE(names->contains("lo"));
  EXPECT_FALSE(names->contains("eth0"));
}

TEST(NamespaceVisit, RefusesWhatIsNoNamespace) {
  const auto file = base::open_file("/dev/null", O_RDONLY);
  ASSERT_TRUE(file.ok());
  const auto visit = NamespaceVisit::enter(file->get());
  EXPECT_FALSE(visit.ok());
  EXPECT_NE(visit.status().message().find("enter: network namespace"), absl::string_view::npos)
      << visit.status();
}

}  // namespace
}  // namespace hopyard::lab
