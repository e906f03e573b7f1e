// SPDX-License-Identifier: Apache-2.0
// Progress of a build's steps, and unpacking.
#include "base/clock.h"
#include "variant/command.h"
#include "variant/recipe.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace {
constexpr int64_t kShowEveryNs = 1'000'000'000;  // each may become a line of a log
}

void Workshop::step(const std::string& name, const std::string& message, uint32_t total) {
  progress.step = name;
  progress.message = message;
  progress.done = 0;
  progress.total = total;
  shown_ns_ = base::monotonic_ns();
  if (sink) sink(progress);
}

void Workshop::count(uint32_t done, uint32_t total) {
  progress.done = done;
  progress.total = total;
  show();
}

void Workshop::note(const std::string& message) {
  progress.message = message;
  show();
}

void Workshop::show() {
  const int64_t now = base::monotonic_ns();
  const bool last = progress.total != 0 && progress.done == progress.total;
  if (!sink || (!last && now - shown_ns_ < kShowEveryNs)) return;
  shown_ns_ = now;
  sink(progress);
}

absl::Status unpack(Workshop& shop, const std::string& tarball, const std::string& folder) {
  const std::string file = tarball.substr(tarball.find_last_of('/') + 1);
  shop.step("unpack", file);
  HOPYARD_RETURN_IF_ERROR(make_folders(folder));
  return run({.attempt = "unpack " + tarball,
              .argv = {"tar", "-x", "-f", tarball, "-C", folder, "--strip-components=1", "--no-same-owner"}},
             shop.stop);
}

}  // namespace hopyard::variant
