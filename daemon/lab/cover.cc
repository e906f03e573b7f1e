// SPDX-License-Identifier: Apache-2.0
// tmpfs mounts and the bind mounts that keep what they cover in sight.
#include "lab/cover.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <memory>

#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::lab {
namespace {

using base::errno_status;
using base::Fd;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Recursive, since a less privileged mount namespace may not take a mount apart from those below it.
absl::Status bind_mount(const std::string& source, const std::string& target) {
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return errno_status("bind mount", target);
  }
  return absl::OkStatus();
}

// Shows one entry of the covered folder again. Single files stay hidden: programs lie in folders. So do
// entries that vanish meanwhile: other programs of the machine use the folder too.
absl::Status show_entry(int covered, const std::string& name, const std::string& folder) {
  const std::string target = folder + "/" + name;
  struct stat info {};
  if (::fstatat(covered, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return absl::OkStatus();
  if (S_ISLNK(info.st_mode)) {
    char link[PATH_MAX];
    const ssize_t n = ::readlinkat(covered, name.c_str(), link, sizeof link - 1);
    if (n > 0) (void)!::symlink(std::string(link, static_cast<size_t>(n)).c_str(), target.c_str());
    return absl::OkStatus();
  }
  if (!S_ISDIR(info.st_mode)) return absl::OkStatus();
  if (::mkdir(target.c_str(), 0755) != 0) return errno_status("mkdir", target);
  const absl::Status bound = bind_mount(fmt::format("/proc/self/fd/{}/{}", covered, name), target);
  return absl::IsNotFound(bound) ? absl::OkStatus() : bound;
}

absl::Status show_entries(const Fd& covered, const std::string& folder) {
  // A second open file description: the directory stream owns and moves its own.
  const int again = ::openat(covered.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return errno == EACCES ? absl::OkStatus() : errno_status("open", folder);
  const Directory directory(::fdopendir(again));
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    HOPYARD_RETURN_IF_ERROR(show_entry(covered.get(), name, folder));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status cover_with_tmpfs(const std::string& folder, Beneath beneath) {
  HOPYARD_ASSIGN_OR_RETURN(const Fd covered, base::open_file(folder, O_PATH | O_DIRECTORY));
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
    return errno_status("mount tmpfs", folder);
  }
  return beneath == Beneath::kVisible ? show_entries(covered, folder) : absl::OkStatus();
}

}  // namespace hopyard::lab
