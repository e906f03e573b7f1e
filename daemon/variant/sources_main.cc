// SPDX-License-Identifier: Apache-2.0
// hopyard-sources: the build's own program. Makes the pinned BoringSSL and, for tests, the server builds and
// guest kernels in the user's cache, and brings them into the build tree.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "variant/builder.h"
#include "variant/kernel_builder.h"

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

absl::Status make_link(const std::string& to, const fs::path& link) {
  std::error_code error;
  fs::create_directories(link.parent_path(), error);
  fs::remove(link, error);
  fs::create_symlink(to, link, error);
  return error ? base::errno_status("link", link.string(), error.value()) : absl::OkStatus();
}

// A link for each of the tree's variants, by name.
absl::Status make_servers(const std::string& variants_file, const fs::path& target) {
  HOPYARD_ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::load({variants_file}));
  Display display;
  for (const Variant& variant : catalogue.variants()) {
    auto build = Builder().build(variant, [&](const Progress& p) { display.show(p); });
    display.finish();
    if (!build.ok()) return build.status();
    HOPYARD_RETURN_IF_ERROR(make_link(build->nginx_path, target / variant.name));
  }
  return absl::OkStatus();
}

// The same for the kernels, which kernels.yaml beside it names. Only the first, which most tests run on, is
// built for them: another one costs minutes, and is brought where it is there.
absl::Status make_kernels(const std::string& variants_file, const fs::path& target) {
  const std::string kernels_file = fs::path(variants_file).parent_path() / "kernels.yaml";
  HOPYARD_ASSIGN_OR_RETURN(const Catalogue catalogue, Catalogue::load({variants_file, kernels_file}));
  Display display;
  for (const Kernel& kernel : catalogue.kernels()) {
    KernelBuilder builder;
    if (&kernel == &catalogue.kernels().front()) {
      const auto built = builder.build(kernel, [&](const Progress& p) { display.show(p); });
      display.finish();
      HOPYARD_RETURN_IF_ERROR(built.status());
    }
    const auto build = builder.cached(kernel);
    if (build) HOPYARD_RETURN_IF_ERROR(make_link(build->program, target / kernel.name));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace hopyard::variant

int main(int argc, char** argv) {
  using Make = absl::Status (*)(const std::string&, const std::string&);
  const std::map<std::string, Make> makers = {
      {"boringssl", [](auto& file, auto& target) { return hopyard::variant::make_boringssl(file, target); }},
      {"servers", [](auto& file, auto& target) { return hopyard::variant::make_servers(file, target); }},
      {"kernels", [](auto& file, auto& target) { return hopyard::variant::make_kernels(file, target); }}};
  const auto maker = makers.find(argc == 4 ? argv[1] : "");
  if (maker == makers.end()) {
    fmt::print(stderr, "usage: hopyard-sources boringssl|servers|kernels VARIANTS.YAML TARGET-FOLDER\n");
    return 2;
  }
  const absl::Status status = maker->second(argv[2], argv[3]);
  if (status.ok()) return 0;
  fmt::print(stderr, "hopyard-sources: {}\n", std::string(status.message()));
  return 1;
}
