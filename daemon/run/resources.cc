// SPDX-License-Identifier: Apache-2.0
// statvfs, getrlimit and /proc.
#include "run/resources.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>

#include "base/paths.h"
#include "base/status.h"
#include "base/text.h"
#include "fmt/format.h"
#include "run/room.h"

namespace hopyard::run {
namespace {

constexpr uint64_t kDatabaseRoom = 1u << 30;  // some 10,000 trials of 128 KiB bodies
constexpr uint64_t kCacheRoom = 3ull << 30;   // sources, objects and builds of every variant and kernel
constexpr rlim_t kFewestFiles = 1024;
constexpr rlim_t kFewestProcesses = 256;

v1::DoctorFinding finding(const std::string& subject, bool ok, const std::string& message) {
  v1::DoctorFinding out;
  out.set_subject(subject);
  out.set_ok(ok);
  out.set_message(base::printable(message));
  return out;
}

// The nearest folder above `path` that is there.
std::filesystem::path existing(std::filesystem::path path) {
  std::error_code error;
  while (!path.empty() && !std::filesystem::exists(path, error) && path != path.root_path())
    path = path.parent_path();
  return path;
}

v1::DoctorFinding disk(const std::string& subject, const std::string& path, uint64_t wanted) {
  struct statvfs info {};
  const std::filesystem::path place = existing(path);
  if (::statvfs(place.c_str(), &info) != 0)
    return finding(subject, false, std::string(base::errno_status("look at", place.native()).message()));
  const uint64_t free_bytes = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  const double gib = static_cast<double>(free_bytes) / (1 << 30);
  if ((info.f_flag & ST_RDONLY) != 0) return finding(subject, false, fmt::format("{}: read-only.", path));
  if (free_bytes >= wanted) return finding(subject, true, fmt::format("{}: {:.1f} GiB free.", path, gib));
  return finding(
      subject, false,
      fmt::format("{}: {:.1f} GiB free, {:.0f} GiB are a good measure: make room, or set another place.",
                  path, gib, static_cast<double>(wanted) / (1 << 30)));
}

v1::DoctorFinding memory() {
  const Room room = room_here();
  const std::string text = fmt::format("{} MiB to spare and {} processors: room for {} guests at once.",
                                       room.memory_bytes >> 20, room.processors, most_guests(room));
  return finding("memory", room.memory_bytes >= guest_bytes(), text);
}

std::string limit_text(rlim_t value) {
  return value == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value);
}

v1::DoctorFinding limits() {
  rlimit files{}, processes{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NPROC, &processes);
  uint64_t namespaces = 0;
  std::ifstream("/proc/sys/user/max_user_namespaces") >> namespaces;
  std::string text = fmt::format("{} open files, {} processes, {} user namespaces.",
                                 limit_text(files.rlim_cur), limit_text(processes.rlim_cur), namespaces);
  std::string missing;
  if (files.rlim_cur < kFewestFiles)
    missing += fmt::format(" At least {} open files: ulimit -n.", kFewestFiles);
  if (processes.rlim_cur < kFewestProcesses)
    missing += fmt::format(" At least {} processes: ulimit -u.", kFewestProcesses);
  return finding("limits", missing.empty(), text + missing);
}

}  // namespace

std::vector<v1::DoctorFinding> resource_findings(const std::string& database) {
  return {disk("disk for the database", database, kDatabaseRoom),
          disk("disk for builds", base::cache_dir(), kCacheRoom), memory(), limits()};
}

}  // namespace hopyard::run
