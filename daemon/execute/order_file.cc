// SPDX-License-Identifier: Apache-2.0
// mkstemp in the runtime folder, under a lock that ends with its holder.
#include "execute/order_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/paths.h"

namespace hopyard::execute {
namespace {

constexpr char kPrefix[] = "order-";

// Makes and locks a file; `path` is empty afterwards if somebody took it for left behind in between.
absl::StatusOr<base::Fd> make_locked(std::string& path) {
  base::Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return base::errno_status("make file", path);
  if (::flock(file.get(), LOCK_EX) != 0) return base::errno_status("lock", path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return base::errno_status("look at", path);
  if (info.st_nlink == 0) path.clear();
  return file;
}

}  // namespace

absl::StatusOr<OrderFile> OrderFile::make(const std::string& bytes) {
  const std::string folder = base::runtime_dir();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::errno_status("make folder", folder, error.value());
  while (true) {
    std::string path = folder + "/" + kPrefix + "XXXXXX";
    HOPYARD_ASSIGN_OR_RETURN(base::Fd file, make_locked(path));
    if (path.empty()) continue;
    OrderFile order(path, std::move(file));
    HOPYARD_RETURN_IF_ERROR(base::annotate(base::write_all(order.held_.get(), bytes), "write order", path));
    return order;
  }
}

OrderFile::~OrderFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

void remove_stale_orders() {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(base::runtime_dir(), error)) {
    if (entry.path().filename().string().starts_with(kPrefix)) found.push_back(entry.path());
  }
  for (const auto& path : found) {
    const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

}  // namespace hopyard::execute
