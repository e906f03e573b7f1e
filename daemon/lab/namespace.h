// SPDX-License-Identifier: Apache-2.0
// One unnamed network namespace, held by a descriptor. Knows nothing of what is put into it.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::lab {

// The calling thread's visit to another network namespace. Leaving brings it home again; a thread that cannot
// get home would go on to change the wrong network, so that ends the process.
class NamespaceVisit {
 public:
  // Errors: PERMISSION_DENIED without CAP_SYS_ADMIN over the namespace; whatever opening /proc gives.
  static absl::StatusOr<NamespaceVisit> enter(int namespace_fd);

  NamespaceVisit(NamespaceVisit&&) noexcept = default;
  NamespaceVisit& operator=(NamespaceVisit&&) = delete;
  ~NamespaceVisit();

 private:
  explicit NamespaceVisit(base::Fd home) : home_(std::move(home)) {}
  base::Fd home_;
};

// A namespace lives until nothing holds it: no descriptor, no process inside, no socket made inside. Sockets
// count even when their process has left or died with data unsent.
class NetNamespace {
 public:
  // A fresh namespace: one loopback link, down. The calling thread stays where it was. /proc must be mounted
  // and the caller root of its user namespace; PERMISSION_DENIED says so otherwise.
  static absl::StatusOr<NetNamespace> make();

  int fd() const { return fd_.get(); }
  // The number the kernel knows it by: the inode of its /proc entry ("net:[4026532281]").
  uint64_t inode() const { return inode_; }

  // Runs `action` inside. What it returns must be able to hold an absl::Status (Status or StatusOr): the
  // visit itself can fail. Sockets made inside stay usable outside.
  template <typename Action>
  std::invoke_result_t<Action> run(Action&& action) const {
    auto visit = NamespaceVisit::enter(fd_.get());
    if (!visit.ok()) return visit.status();
    return std::forward<Action>(action)();
  }

 private:
  NetNamespace(base::Fd fd, uint64_t inode) : fd_(std::move(fd)), inode_(inode) {}
  base::Fd fd_;
  uint64_t inode_;
};

}  // namespace hopyard::lab
