// SPDX-License-Identifier: Apache-2.0
// Makes and visits network namespaces with unshare(2) and setns(2). Knows nothing of what is put into them.
#include "lab/namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

namespace hopyard::lab {
namespace {

// The thread's, not the process's: /proc/self is the main thread's view.
constexpr char kOwnNamespace[] = "/proc/thread-self/ns/net";

}  // namespace

absl::StatusOr<NamespaceVisit> NamespaceVisit::enter(int namespace_fd) {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd home, base::open_file(kOwnNamespace, O_RDONLY));
  if (::setns(namespace_fd, CLONE_NEWNET) != 0) return base::errno_status("enter", "network namespace");
  return NamespaceVisit(std::move(home));
}

NamespaceVisit::~NamespaceVisit() {
  if (!home_.valid() || ::setns(home_.get(), CLONE_NEWNET) == 0) return;
  std::perror("cannot return to the network namespace this thread came from");
  std::abort();
}

absl::StatusOr<NetNamespace> NetNamespace::make() {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd home, base::open_file(kOwnNamespace, O_RDONLY));
  if (::unshare(CLONE_NEWNET) != 0) return base::errno_status("make", "network namespace");
  auto made = base::open_file(kOwnNamespace, O_RDONLY);
  if (::setns(home.get(), CLONE_NEWNET) != 0) {
    std::perror("cannot return from a new network namespace");
    std::abort();
  }
  HOPYARD_RETURN_IF_ERROR(made.status());
  struct stat seen = {};
  if (::fstat(made->get(), &seen) != 0) return base::errno_status("inspect", "network namespace");
  return NetNamespace(std::move(made).value(), seen.st_ino);
}

}  // namespace hopyard::lab
