// SPDX-License-Identifier: Apache-2.0
// hopyard-sources: the build's own program. Makes the pinned BoringSSL and, for tests, the server builds in
// the user's cache, and brings them into the build tree.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "variant/builder.h"

namespace hopyard::variant {
namespace {
namespace fs = std::filesystem;

// One line that changes on a terminal; in a log a line per step, and one every few seconds.
class Display {
 public:
  void show(const Progress& progress) {
    const std::string count = progress.total == 0 ? "" : fmt::format(" {}/{}", progress.done, progress.total);
    const std::string line =
        fmt::format("{}: {} {}{}", progress.variant, progress.step, progress.message, count);
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{:.{}}", line, 110);
      std::fflush(stderr);
    } else if (progress.step + progress.message != shown_ || base::monotonic_ns() - shown_ns_ > kEveryNs) {
      fmt::print(stderr, "{}\n", line);
      shown_ns_ = base::monotonic_ns();
    }
    shown_ = progress.step + progress.message;
  }
  void finish() const {
    if (terminal_ && !shown_.empty()) fmt::print(stderr, "\n");
  }

 private:
  static constexpr int64_t kEveryNs = 10'000'000'000;
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::string shown_;
  int64_t shown_ns_ = 0;
};

bool same_content(const fs::path& a, const fs::path& b) {
  const auto left = base::read_file(a);
  const auto right = base::read_file(b);
  return left.ok() && right.ok() && *left == *right;
}

// Copies what differs or is missing, with the present time: what is compiled against it must notice a change,
// and must not notice a second run.
absl::Status copy_changed(const fs::path& from, const fs::path& to) {
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(from, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path target = to / entry->path().lexically_relative(from);
    if (entry->is_directory())
      fs::create_directories(target, error);
    else if (!same_content(entry->path(), target))
      fs::copy_file(entry->path(), target, fs::copy_options::overwrite_existing, error);
    if (error) return base::errno_status("copy", target.string(), error.value());
  }
  return error ? base::errno_status("read", from.string(), error.value()) : absl::OkStatus();
}

absl::Status make_boringssl(const std::string& variants_file, const std::string& target) {
  HOPYARD_ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::load({variants_file}));
  Display display;
  auto prefix = Builder().boringssl(catalogue.boringssl(), [&](const Progress& p) { display.show(p); });
  display.finish();
  if (!prefix.ok()) return prefix.status();
  return copy_changed(*prefix, target);
}

// A link for each of the tree's variants, by name.
absl::Status make_servers(const std::string& variants_file, const fs::path& target) {
  HOPYARD_ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::load({variants_file}));
  std::error_code error;
  fs::create_directories(target, error);
  Display display;
  for (const Variant& variant : catalogue.variants()) {
    auto build = Builder().build(variant, [&](const Progress& p) { display.show(p); });
    display.finish();
    if (!build.ok()) return build.status();
    fs::remove(target / variant.name, error);
    fs::create_symlink(build->nginx_path, target / variant.name, error);
    if (error) return base::errno_status("link", (target / variant.name).string(), error.value());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace hopyard::variant

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[1] : "";
  if (what != "boringssl" && what != "servers") {
    fmt::print(stderr, "usage: hopyard-sources boringssl|servers VARIANTS.YAML TARGET-FOLDER\n");
    return 2;
  }
  const absl::Status status = what == "boringssl" ? hopyard::variant::make_boringssl(argv[2], argv[3])
                                                  : hopyard::variant::make_servers(argv[2], argv[3]);
  if (status.ok()) return 0;
  fmt::print(stderr, "hopyard-sources: {}\n", std::string(status.message()));
  return 1;
}
