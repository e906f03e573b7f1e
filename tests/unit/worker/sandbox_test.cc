// SPDX-License-Identifier: Apache-2.0
// What a worker finds in its fresh namespaces, and when making links is refused.
#include "lab/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "fmt/format.h"

namespace hopyard::worker {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Seen {
  std::string text;  // what `look` gave, or why the namespaces could not be entered
  int exit_code = -1;
  bool forbidden = false;
};

// Enters fresh namespaces in a child and looks around there. Its standard input stays open until it has
// ended.
Seen look_inside(const std::function<std::string()>& look, int exit_code = 0) {
  auto output = base::make_pipe();
  auto input = base::make_pipe();
  EXPECT_TRUE(output.ok() && input.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(input->read.get(), STDIN_FILENO);
    input->write.reset();
    const absl::Status entered = lab::enter_fresh_namespaces();
    const std::string text = entered.ok() ? look() : std::string(entered.message());
    (void)base::write_all(output->write.get(), text);
    ::_exit(entered.ok() ? exit_code : 99);
  }
  output->write.reset();
  Seen seen;
  char buffer[4096];
  for (ssize_t n; (n = ::read(output->read.get(), buffer, sizeof buffer)) > 0;) {
    seen.text.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  seen.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  seen.forbidden = seen.exit_code == 99;
  return seen;
}

#define SKIP_IF_FORBIDDEN(seen) \
  if ((seen).forbidden) GTEST_SKIP() << "this machine forbids namespaces: " << (seen).text

TEST(Sandbox, RootOfItsOwnWithOnlyLoopback) {
  const Seen seen = look_inside([] {
    std::string links;
    struct if_nameindex* all = ::if_nameindex();
    for (auto* link = all; link->if_index != 0; ++link) links += link->if_name;
    return fmt::format("uid {} links {} may make links: {}", ::getuid(), links,
                       lab::refuse_initial_namespace().ok());
  });
  SKIP_IF_FORBIDDEN(seen);
  EXPECT_EQ(seen.text, "uid 0 links lo may make links: true");
  EXPECT_EQ(seen.exit_code, 0);
}

TEST(Sandbox, ProcessesOfTheMachineAreOutOfSight) {
  const Seen seen = look_inside([] {
    size_t processes = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") == std::string::npos) ++processes;
    }
    return fmt::format("{} processes, this is {}", processes, ::getpid());
  });
  SKIP_IF_FORBIDDEN(seen);
  EXPECT_EQ(seen.text, "2 processes, this is 2");
}

TEST(Sandbox, TemporaryFilesStayInsideAndFoldersStayVisible) {
  std::string folder = "/tmp/hopyard-sandbox-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(base::write_file(folder + "/program", "x").ok());
  const std::string own = folder + "-own";
  const Seen seen = look_inside([&] {
    return fmt::format("{} {} {}", base::write_file(own, "y").ok(), base::write_file("/run/own", "z").ok(),
                       base::read_file(folder + "/program").value_or("hidden"));
  });
  const bool leaked = fs::exists(own) || fs::exists("/run/own");
  fs::remove_all(folder);
  SKIP_IF_FORBIDDEN(seen);
  EXPECT_EQ(seen.text, "true true x");
  EXPECT_FALSE(leaked);
}

TEST(Sandbox, NothingOfTheMachineCanBeChangedFromInside) {
  std::string folder = "/tmp/hopyard-sandbox-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  ASSERT_TRUE(base::write_file(folder + "/kept", "x").ok());
  const Seen seen = look_inside([&] {
    std::error_code error;
    const bool removed = fs::remove(folder + "/kept", error);
    return fmt::format("removed: {}, {}", removed,
                       std::string(base::write_file(folder + "/new", "y").message()));
  });
  const bool kept = fs::exists(folder + "/kept") && !fs::exists(folder + "/new");
  fs::remove_all(folder);
  SKIP_IF_FORBIDDEN(seen);
  EXPECT_TRUE(kept);
  EXPECT_THAT(seen.text, HasSubstr("removed: false"));
  EXPECT_THAT(seen.text, HasSubstr("Read-only file system"));
}

TEST(Sandbox, ExitStatusComesThroughTheGuard) {
  const Seen seen = look_inside([] { return "leaving"; }, 23);
  SKIP_IF_FORBIDDEN(seen);
  EXPECT_EQ(seen.exit_code, 23);
}

TEST(Sandbox, LinksAreRefusedBesideThoseOfTheMachine) {
  struct if_nameindex* all = ::if_nameindex();
  ASSERT_NE(all, nullptr);
  std::string other;
  for (auto* link = all; link->if_index != 0; ++link) {
    if (std::string(link->if_name) != "lo") other = link->if_name;
  }
  ::if_freenameindex(all);
  const absl::Status refused = lab::refuse_initial_namespace();
  if (other.empty()) GTEST_SKIP() << "this machine has no link but loopback";
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr(other));
}

}  // namespace
}  // namespace hopyard::worker
