// SPDX-License-Identifier: Apache-2.0
// One key's work in the cache: the lock that makes it the only one, a folder to work in, and the atomic
// rename that makes the result visible whole. Does not know what is built.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::variant {

class WorkPlace {
 public:
  // Waits until no other thread or process works on `name`; `on_wait` is called once if it has to. Leftovers
  // of an interrupted attempt are removed. CANCELLED once `stop` is requested.
  static absl::StatusOr<WorkPlace> enter(const std::string& cache_dir, const std::string& name,
                                         const std::stop_token& stop,
                                         const std::function<void()>& on_wait = {});

  WorkPlace(WorkPlace&& other) noexcept = default;
  // Removes the folder and lets the next one in.
  ~WorkPlace();

  const std::string& folder() const { return folder_; }  // absolute, empty, this place's alone
  // Moves folder()/`from` to `target`; an older `target` is replaced. Everything is on disk before it shows.
  absl::Status publish(const std::string& from, const std::string& target) const;

 private:
  WorkPlace(base::Fd lock, std::string folder) : lock_(std::move(lock)), folder_(std::move(folder)) {}
  base::Fd lock_;
  std::string folder_;
};

// mkdir -p; errors name the folder.
absl::Status make_folders(const std::string& path);

}  // namespace hopyard::variant
