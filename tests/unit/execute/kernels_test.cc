// SPDX-License-Identifier: Apache-2.0
// Listing and choosing kernels, and the guest's command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>

#include "execute/execution.h"
#include "execute/guest.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::execute {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(Kernels, HostAndGuestAreListedWhetherUsableOrNot) {
  const auto kernels = list_kernels();
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 2u);
  utsname names{};
  ::uname(&names);
  EXPECT_EQ(kernels->at(0).name, "host");
  EXPECT_EQ(kernels->at(0).release, names.release);
  EXPECT_EQ(kernels->at(1).name, "debian-uml");
  for (const auto& kernel : *kernels) EXPECT_EQ(kernel.usable, kernel.why_not.empty()) << kernel.name;
}

TEST(Kernels, UnknownNameIsRefusedWithTheKnownOnes) {
  const auto chosen = choose_kernel("plan9", {.routed = true});
  EXPECT_TRUE(absl::IsInvalidArgument(chosen.status()));
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("auto, host, debian-uml"));
}

TEST(Kernels, CongestionControlNobodyHasIsNamed) {
  const auto chosen = choose_kernel("auto", {.congestion_controls = {"warp"}});
  EXPECT_TRUE(absl::IsFailedPrecondition(chosen.status()));
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("host"));
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("debian-uml"));
}

TEST(Kernels, VirtualClockTakesABuiltKernelAndSaysWhyNot) {
  const KernelOption built{
      .name = "uml-x", .usable = true, .unix_usable = true, .virtual_clock = true, .program = "/x/linux"};
  const auto chosen = choose_kernel("auto", {.virtual_clock = true}, {built});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->program, "/x/linux");
  const KernelOption unbuilt{.name = "uml-x", .why_not = "not built", .virtual_clock = true};
  const auto none = choose_kernel("auto", {.virtual_clock = true}, {unbuilt});
  EXPECT_TRUE(absl::IsFailedPrecondition(none.status()));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("uml-x (not built)"));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("virtual clock"));
}

std::vector<std::string> command_for(const GuestSpec& spec) {
  const auto command = uml_command(spec);
  EXPECT_TRUE(command.ok()) << command.status();
  return command.value_or(std::vector<std::string>());
}

TEST(Guest, FirstProcessAndItsArgumentsEndTheCommandLine) {
  GuestSpec spec;
  spec.init_path = "/a folder/worker";
  spec.init_args = {"--guest-init", "more"};
  spec.memory_mib = 128;
  spec.kernel_options = {"norandmaps"};
  const auto command = command_for(spec);
  EXPECT_THAT(command, Contains("init=\"/a folder/worker\""));
  EXPECT_THAT(command, Contains("mem=128M"));
  EXPECT_THAT(command, Contains("norandmaps"));
  ASSERT_GE(command.size(), 3u);
  EXPECT_EQ(command[command.size() - 3], "--");
  EXPECT_EQ(command.back(), "more");
}

TEST(Guest, MachinesFilesAreReadOnly) {
  GuestSpec spec;
  spec.init_path = "/worker";
  const auto command = command_for(spec);
  EXPECT_THAT(command, Contains("ro"));
  EXPECT_EQ(std::count(command.begin(), command.end(), "rw"), 0);
}

TEST(Guest, FirstProcessThatACommandLineCannotNameIsRefused) {
  for (const char* path : {"worker", "", "/a\"b", "/a\nb"}) {
    GuestSpec spec;
    spec.init_path = path;
    EXPECT_TRUE(absl::IsInvalidArgument(uml_command(spec).status())) << path;
  }
}

TEST(Guest, MissingKernelIsNamed) {
  GuestSpec spec;
  spec.kernel = "/no/such/linux.uml";
  spec.init_path = "/worker";
  spec.keeper = {"/bin/true"};
  const auto started = start_guest(spec);
  EXPECT_TRUE(absl::IsNotFound(started.status()));
  EXPECT_THAT(std::string(started.status().message()), HasSubstr("/no/such/linux.uml"));
}

}  // namespace
}  // namespace hopyard::execute
