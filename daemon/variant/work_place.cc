// SPDX-License-Identifier: Apache-2.0
// flock on <cache>/locks/<name>, work in <cache>/making/<name>.
#include "variant/work_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "fmt/format.h"

namespace hopyard::variant {
namespace fs = std::filesystem;
namespace {

constexpr auto kLockRetry = std::chrono::milliseconds(200);

// Linux offers no file lock that can be polled, so a busy one is tried again now and then.
absl::Status take_lock(int fd, const std::string& name, const std::stop_token& stop,
                       const std::function<void()>& on_wait) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock guard(mutex);
  bool told = false;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return base::errno_status("flock", name);
    if (!std::exchange(told, true) && on_wait) on_wait();
    stopped.wait_for(guard, stop, kLockRetry, [] { return false; });
    if (stop.stop_requested()) return absl::CancelledError("lock: " + name + ": stopped on request");
  }
  return absl::OkStatus();
}

absl::Status remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? base::errno_status("remove", path, error.value()) : absl::OkStatus();
}

}  // namespace

absl::Status make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? base::errno_status("make folder", path, error.value()) : absl::OkStatus();
}

absl::StatusOr<WorkPlace> WorkPlace::enter(const std::string& cache_dir, const std::string& name,
                                           const std::stop_token& stop,
                                           const std::function<void()>& on_wait) {
  HOPYARD_RETURN_IF_ERROR(make_folders(cache_dir + "/locks"));
  HOPYARD_ASSIGN_OR_RETURN(base::Fd lock,
                           base::open_file(cache_dir + "/locks/" + name, O_RDWR | O_CREAT, 0644));
  HOPYARD_RETURN_IF_ERROR(take_lock(lock.get(), name, stop, on_wait));
  std::string folder = fs::absolute(cache_dir + "/making/" + name).lexically_normal();
  HOPYARD_RETURN_IF_ERROR(remove_all(folder));
  HOPYARD_RETURN_IF_ERROR(make_folders(folder));
  return WorkPlace(std::move(lock), std::move(folder));
}

WorkPlace::~WorkPlace() {
  if (!lock_.valid()) return;
  std::error_code ignored;  // what stays is removed by the next one to enter
  fs::remove_all(folder_, ignored);
}

absl::Status WorkPlace::publish(const std::string& from, const std::string& target) const {
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd folder, base::open_file(folder_, O_RDONLY | O_DIRECTORY));
  if (::syncfs(folder.get()) != 0) return base::errno_status("syncfs", folder_);
  HOPYARD_RETURN_IF_ERROR(make_folders(fs::path(target).parent_path()));
  std::error_code error;
  if (fs::exists(target, error)) {  // rename(2) replaces files, but no filled folder
    fs::rename(target, folder_ + "/replaced", error);
    if (error) return base::errno_status("replace", target, error.value());
  }
  fs::rename(folder_ + "/" + from, target, error);
  return error ? base::errno_status("rename", target, error.value()) : absl::OkStatus();
}

}  // namespace hopyard::variant
