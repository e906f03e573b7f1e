// SPDX-License-Identifier: Apache-2.0
// Settings are changed inside one namespace only, by allow-list, and read back.
#include "lab/sysctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/namespace.h"

namespace hopyard::lab {
namespace {

using ::testing::HasSubstr;

std::string message(const absl::Status& status) { return std::string(status.message()); }

TEST(Sysctl, IsWrittenInsideTheNamespaceOnly) {
  const auto home = read_sysctl("net.ipv4.tcp_ecn");
  ASSERT_TRUE(home.ok()) << home.status();
  const std::string other = *home == "1" ? "0" : "1";
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  EXPECT_TRUE(made->run([&] { return write_sysctl("net.ipv4.tcp_ecn", other); }).ok());
  EXPECT_EQ(made->run([] { return read_sysctl("net.ipv4.tcp_ecn"); }).value(), other);
  EXPECT_EQ(read_sysctl("net.ipv4.tcp_ecn").value(), *home);
}

TEST(Sysctl, OfSeveralWordsIsComparedWordByWord) {
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  const absl::Status written =
      made->run([] { return write_sysctl("net.ipv4.tcp_rmem", "4096  131072 6291456"); });
  EXPECT_TRUE(written.ok()) << written;
  EXPECT_EQ(made->run([] { return read_sysctl("net.ipv4.tcp_rmem"); }).value(), "4096 131072 6291456");
}

TEST(Sysctl, RefusesWhatIsNotOnTheList) {
  const absl::Status refused = write_sysctl("net.core.somaxconn", "4096");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(message(refused), HasSubstr("net.core.somaxconn"));
}

TEST(Sysctl, RefusesToClimbOutOfTheTree) {
  EXPECT_EQ(write_sysctl("net.ipv4.../kernel.hostname", "x").code(), absl::StatusCode::kInvalidArgument);
}

TEST(Sysctl, NamesTheValueTheKernelRefused) {
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  const absl::Status refused =
      made->run([] { return write_sysctl("net.ipv4.tcp_congestion_control", "nosuchcontrol"); });
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(refused), HasSubstr("net.ipv4.tcp_congestion_control to 'nosuchcontrol'"));
}

TEST(Sysctl, SaysWhatTheKernelReadsBackInstead) {
  const auto made = NetNamespace::make();
  ASSERT_TRUE(made.ok());
  // Taken as octal by the kernel, so that it reads back as 8.
  const absl::Status differs = made->run([] { return write_sysctl("net.ipv4.tcp_orphan_retries", "010"); });
  EXPECT_EQ(differs.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(differs), HasSubstr("wrote '010', the kernel reads back '8'"));
}

TEST(Sysctl, MissingOnesAreNotFound) {
  EXPECT_EQ(read_sysctl("net.ipv4.no_such_setting").status().code(), absl::StatusCode::kNotFound);
}

TEST(Sysctl, RecordsCongestionControlAndBuffers) {
  const auto names = recorded_sysctls();
  EXPECT_THAT(
      std::vector<std::string_view>(names.begin(), names.end()),
      ::testing::IsSupersetOf({"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_available_congestion_control",
                               "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}));
}

}  // namespace
}  // namespace hopyard::lab
