// SPDX-License-Identifier: Apache-2.0
// Namespaces, covered folders, a chroot and the loss of privileges, all in a child.
#include "guest/confined.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "fmt/format.h"
#include "lab/cover.h"

namespace hopyard::execute {
namespace {

constexpr char kMark[] = "HOPYARD_TEST_CONFINED";
constexpr int kNotAllowed = 125;

bool enter_own_mounts() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0 && ::unshare(CLONE_NEWNS) == 0) return true;
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return base::write_existing("/proc/self/setgroups", "deny").ok() &&
         base::write_existing("/proc/self/uid_map", fmt::format("{0} {0} 1", uid)).ok() &&
         base::write_existing("/proc/self/gid_map", fmt::format("{0} {0} 1", gid)).ok();
}

bool cover_folders() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return lab::cover_with_tmpfs("/tmp", lab::Beneath::kVisible).ok() &&
         lab::cover_with_tmpfs("/run", lab::Beneath::kHidden).ok() &&
         lab::cover_with_tmpfs("/dev/shm", lab::Beneath::kHidden).ok();
}

// The kernel gives no user namespace to a process whose root is not its mount namespace's.
bool enter_chroot() {
  const std::string root = "/run/root";
  return std::filesystem::create_directory(root) &&
         ::mount("/", root.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0 && ::chroot(root.c_str()) == 0 &&
         ::chdir("/") == 0;
}

// Takes effect with the exec. A user other than root loses all it has there anyway.
void drop_privileges() {
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability);
  }
}

[[noreturn]] void run_again(Confinement confinement, const std::string& filter, int output) {
  // Opened now: /proc is not to be relied on later.
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  if (!enter_own_mounts() || !cover_folders()) ::_exit(kNotAllowed);
  if (confinement == Confinement::kNoNamespaces) {
    if (!enter_chroot()) ::_exit(kNotAllowed);
    drop_privileges();
  }
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::setenv(kMark, "1", 1);
  const std::string option = "--gtest_filter=" + filter;
  ::execl(self.c_str(), self.c_str(), option.c_str(), nullptr);
  ::_exit(126);
}

}  // namespace

bool is_confined() { return std::getenv(kMark) != nullptr; }

std::string run_confined(Confinement confinement, const std::string& filter) {
  auto output = base::make_pipe();
  EXPECT_TRUE(output.ok());
  const pid_t child = ::fork();
  if (child == 0) run_again(confinement, filter, output->write.get());
  output->write.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(output->read.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) return "";
  return fmt::format("{}\nexit {}", text, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

}  // namespace hopyard::execute
