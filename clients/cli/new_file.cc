// SPDX-License-Identifier: Apache-2.0
// See new_file.h. The parts lie beside the file: a name can only be given within one file system.
#include "cli/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "fmt/format.h"

namespace hopyard::cli {

absl::StatusOr<NewFile> NewFile::make(const std::string& name) {
  NewFile made(name == "-" ? "" : name);
  if (made.name_.empty()) return made;
  // Said at once, before anybody works for it; publish() holds it against a race.
  if (::faccessat(AT_FDCWD, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
    return base::errno_status("make file", name, EEXIST);
  const std::string part = fmt::format("{}.part-{}", name, ::getpid());
  auto file = base::open_file(part, O_CREAT | O_EXCL | O_WRONLY, 0666);
  if (!file.ok()) return file.status();
  made.part_ = part;
  made.file_ = *std::move(file);
  return made;
}

NewFile::~NewFile() {
  if (file_.valid()) ::unlink(part_.c_str());
}

absl::Status NewFile::write(std::string_view bytes) {
  if (file_.valid()) return base::annotate(base::write_all(file_.get(), bytes), "write", name_);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return absl::OkStatus();
  return base::errno_status("write", "standard output");
}

absl::Status NewFile::publish() {
  if (!file_.valid())
    return std::fflush(stdout) == 0 ? absl::OkStatus() : base::errno_status("write", "standard output");
  if (::fsync(file_.get()) != 0) return base::errno_status("write", name_);
  // Unlike a rename this replaces nothing.
  if (::link(part_.c_str(), name_.c_str()) != 0) return base::errno_status("make file", name_);
  return absl::OkStatus();
}

}  // namespace hopyard::cli
