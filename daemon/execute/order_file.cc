// SPDX-License-Identifier: Apache-2.0
// mkstemp in the runtime folder.
#include "execute/order_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "base/paths.h"

namespace hopyard::execute {

absl::StatusOr<OrderFile> OrderFile::make(const std::string& bytes) {
  const std::string folder = base::runtime_dir();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return base::errno_status("make folder", folder, error.value());
  std::string path = folder + "/order-XXXXXX";
  const base::Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return base::errno_status("make file", path);
  OrderFile order(path);
  HOPYARD_RETURN_IF_ERROR(base::annotate(base::write_all(file.get(), bytes), "write order", path));
  return order;
}

OrderFile::~OrderFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace hopyard::execute
