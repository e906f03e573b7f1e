// SPDX-License-Identifier: Apache-2.0
// The host's kernel as an execution host, where fq and netem exist: an ordinary user of the guest runs the
// session tests, and a real path is made and left nothing of.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/child.h"
#include "base/fd.h"
#include "places.h"

namespace hopyard::execute {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr uid_t kUser = 4321;  // nobody the machine knows
const fs::path kCopies = "/tmp/ordinary-user";

// The build folder may be closed to other users, so the programs are copied to the guest's own /tmp.
void copy_program(const std::string& name) {
  fs::create_directories(kCopies);
  const fs::path copy = kCopies / name;
  if (!fs::exists(copy)) fs::copy_file(fs::path(HOPYARD_BUILD_DIR) / "bin" / name, copy);
}

void become_ordinary_user() {
  if (::setgroups(0, nullptr) != 0 || ::setgid(kUser) != 0 || ::setuid(kUser) != 0) ::_exit(125);
}

// Runs a copied program as the ordinary user; its output and how it ended.
std::string run_as_user(const std::vector<std::string>& words) {
  auto output = base::make_pipe();
  EXPECT_TRUE(output.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    become_ordinary_user();
    ::dup2(output->write.get(), STDOUT_FILENO);
    ::dup2(output->write.get(), STDERR_FILENO);
    std::vector<char*> argv;
    for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::setenv("HOPYARD_TEST_ALONE", "1", 1);
    ::setenv("HOPYARD_TEST_EXPECT_USABLE", "1", 1);
    ::execv((kCopies / words.front()).c_str(), argv.data());
    ::_exit(126);
  }
  output->write.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(output->read.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return text + (WIFEXITED(status) ? "\nexit " + std::to_string(WEXITSTATUS(status)) : "\nended by a signal");
}

TEST(HostPath, OrdinaryUserRunsSessionsThatLeaveNothing) {
  copy_program("hopyard-worker");
  copy_program("execute_session_test");
  const std::string output = run_as_user({"execute_session_test"});
  std::cout << output << "\n";
  EXPECT_THAT(output, HasSubstr("\nexit 0"));
  EXPECT_THAT(output, testing::ContainsRegex("PASSED  . [1-9][0-9] tests"));
  EXPECT_THAT(output, Not(HasSubstr("SKIPPED"))) << "namespaces exist in the guest";
}

TEST(HostPath, OrdinaryUserHasEveryCapability) {
  copy_program("hopyard-worker");
  const std::string output = run_as_user({"hopyard-worker", "--probe"});
  EXPECT_THAT(output, HasSubstr("\"netem\"\n  ok: true"));
  EXPECT_THAT(output, HasSubstr("\"fq\"\n  ok: true"));
  EXPECT_THAT(output, HasSubstr("\"veth\"\n  ok: true"));
  EXPECT_THAT(output, Not(HasSubstr("why_not"))) << output;
}

TEST(HostPath, WorkerByHandBesideTheMachinesLinksRefuses) {
  copy_program("hopyard-worker");
  ASSERT_TRUE(base::run_command({.argv = {"/sbin/ip", "link", "add", "machine0", "type", "veth"}},
                                std::chrono::seconds(20))
                  .ok());
  const std::string output = run_as_user({"hopyard-worker"});
  EXPECT_THAT(output, HasSubstr("it has the links"));
  EXPECT_THAT(output, HasSubstr("machine0"));
  EXPECT_THAT(output, HasSubstr("\nexit 2"));
  ASSERT_TRUE(
      base::run_command({.argv = {"/sbin/ip", "link", "del", "machine0"}}, std::chrono::seconds(20)).ok());
}

}  // namespace
}  // namespace hopyard::execute
