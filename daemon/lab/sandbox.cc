// SPDX-License-Identifier: Apache-2.0
// Namespaces of a host worker and of a guest's keeper.
#include "lab/sandbox.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "lab/cover.h"
#include "lab/guard.h"
#include "lab/guest_init.h"

namespace hopyard::lab {
namespace {

using base::errno_status;
using base::Fd;

constexpr ino_t kFirstUserNamespace = 0xEFFFFFFD;  // PROC_USER_INIT_INO, PROC_PID_INIT_INO in
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;   // include/linux/proc_ns.h, the same since Linux 3.8

// One user and one group, `inside` in the namespace just entered.
absl::Status map_user(uid_t inside_uid, uid_t uid, gid_t inside_gid, gid_t gid) {
  HOPYARD_RETURN_IF_ERROR(base::write_existing("/proc/self/setgroups", "deny"));
  HOPYARD_RETURN_IF_ERROR(
      base::write_existing("/proc/self/uid_map", fmt::format("{} {} 1", inside_uid, uid)));
  return base::write_existing("/proc/self/gid_map", fmt::format("{} {} 1", inside_gid, gid));
}

// Root in fresh namespaces `flags`. Real root does without a user namespace where it may not have one.
absl::Status unshare_as_root(int flags) {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER | flags) == 0) return map_user(0, uid, 0, gid);
  const int error = errno;
  if (uid == 0 && ::unshare(flags) == 0) return absl::OkStatus();
  return errno_status("enter namespaces",
                      "user, network, pid, mount, IPC, UTS (a chroot, a container or this machine's settings "
                      "may forbid user namespaces)",
                      error);
}

// Everything under "/" as it is here, but not to be written: what a server does by mistake stays inside.
absl::Status make_mounts_read_only() {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes) == 0)
    return absl::OkStatus();
  return errno == ENOSYS ? absl::OkStatus()  // before Linux 5.12
                         : errno_status("make mounts read-only", "/");
}

// Inside, as the pid namespace's own: the mounts a worker sees.
absl::Status make_own_mounts() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return errno_status("make mounts private", "/ (in a chroot it is no mount of its own)");
  }
  HOPYARD_RETURN_IF_ERROR(make_mounts_read_only());
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return errno_status("mount proc", "/proc");
  }
  HOPYARD_RETURN_IF_ERROR(cover_with_tmpfs("/run", Beneath::kHidden));
  return cover_with_tmpfs("/tmp", Beneath::kVisible);
}

// A tmpfs in no folder. Not from /dev/shm or /tmp: those may be small, full or not executable.
Fd detached_tmpfs() {
  const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context.valid() || ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
    return Fd();
  return Fd(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
}

// The same user in fresh pid and mount namespaces; false where that is not allowed.
absl::StatusOr<bool> unshare_as_same_user() {
  constexpr int kFlags = CLONE_NEWPID | CLONE_NEWNS;
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (uid == 0 && ::unshare(kFlags) == 0) return true;
  if (::unshare(CLONE_NEWUSER | kFlags) != 0) return false;
  HOPYARD_RETURN_IF_ERROR(map_user(uid, uid, gid, gid));
  return true;
}

std::vector<std::string> links_beside_loopback() {
  std::vector<std::string> names;
  struct if_nameindex* links = ::if_nameindex();
  for (auto* link = links; link != nullptr && link->if_index != 0; ++link) {
    if (std::string(link->if_name) != "lo") names.emplace_back(link->if_name);
  }
  if (links != nullptr) ::if_freenameindex(links);
  return names;
}

bool in_first_namespace(const char* file, ino_t first) {
  struct stat info {};
  return ::stat(file, &info) != 0 || info.st_ino == first;
}

}  // namespace

absl::Status enter_fresh_namespaces() {
  HOPYARD_RETURN_IF_ERROR(
      unshare_as_root(CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
  HOPYARD_RETURN_IF_ERROR(go_on_guarded(true));
  return make_own_mounts();
}

absl::StatusOr<Keep> enter_keeper() {
  Keep keep;
  HOPYARD_ASSIGN_OR_RETURN(keep.namespaces, unshare_as_same_user());
  HOPYARD_RETURN_IF_ERROR(go_on_guarded(keep.namespaces));
  if (keep.namespaces) keep.private_dir = detached_tmpfs();
  return keep;
}

absl::Status refuse_initial_namespace() {
  constexpr char kAdvice[] =
      "hopyard-worker makes links only in network namespaces of its own, and is started by hopyardd";
  if (const auto links = links_beside_loopback(); !links.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("start worker: this network namespace: it has the links {}: {}",
                    absl::StrJoin(links, ", "), kAdvice));
  }
  const bool own = !in_first_namespace("/proc/self/ns/user", kFirstUserNamespace) ||
                   !in_first_namespace("/proc/self/ns/pid", kFirstPidNamespace);
  if (own || on_guest_root()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("start worker: this network namespace: it is the machine's first: {}", kAdvice));
}

}  // namespace hopyard::lab
