// SPDX-License-Identifier: Apache-2.0
// A guest's kernel: unpacked, configured over tinyconfig, made. Knows neither cache nor keys.
#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_split.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "variant/command.h"
#include "variant/recipe.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace fs = std::filesystem;
namespace {

// Who, where and when would be in the kernel's bytes and so in its hash.
const std::vector<std::string> kNobody = {"KBUILD_BUILD_TIMESTAMP=@0", "KBUILD_BUILD_USER=hopyard",
                                          "KBUILD_BUILD_HOST=hopyard", "KBUILD_BUILD_VERSION=1"};

Command make(const Workshop& shop, const Kernel& kernel, const std::string& folder,
             const std::vector<std::string>& words) {
  Command command{.attempt = fmt::format("make {} of {}", words.back(), kernel.source.name),
                  .argv = {"make", "ARCH=um", "O=" + folder + "/out", "CC=" + shop.tools.cc,
                           fmt::format("-j{}", shop.jobs)},
                  .working_directory = folder + "/source"};
  command.argv.insert(command.argv.end(), kNobody.begin(), kNobody.end());
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  return command;
}

// The one tarball in an unpacked linux-source package.
absl::StatusOr<std::string> tarball_in(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder + "/usr/src", error)) {
    if (entry.path().string().find(".tar") != std::string::npos) return entry.path().string();
  }
  return absl::NotFoundError("unpack: " + folder + "/usr/src: no tarball in it");
}

absl::StatusOr<std::set<std::string>> lines_of(const std::string& file) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string text, base::read_file(file));
  std::set<std::string> lines;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) lines.emplace(line);
  return lines;
}

// A line is an option, or "# CONFIG_… is not set"; other comments say nothing to a kernel.
bool is_option(const std::string& line) {
  return line.starts_with("CONFIG_") ||
         (line.starts_with("# CONFIG_") && line.find(" is not set") != std::string::npos);
}

absl::Status check_options(const Kernel& kernel, const std::string& config) {
  HOPYARD_ASSIGN_OR_RETURN(const auto wanted, lines_of(kernel.config));
  HOPYARD_ASSIGN_OR_RETURN(const auto got, lines_of(config));
  std::vector<std::string> lost;
  for (const auto& line : wanted) {
    // What cannot be set at all is not mentioned either.
    const bool off = line.starts_with("# ");
    const std::string on = off ? line.substr(2, line.find(' ', 2) - 2) + "=y" : line;
    if (is_option(line) && got.contains(on) == off) lost.push_back(line);
  }
  if (lost.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("configure kernel: {}: {} does not take {}", kernel.config,
                                                   kernel.source.name, fmt::join(lost, ", ")));
}

absl::Status configure(Workshop& shop, const Kernel& kernel, const std::string& folder) {
  shop.step("configure", kernel.source.name);
  HOPYARD_RETURN_IF_ERROR(run(make(shop, kernel, folder, {"tinyconfig"}), shop.stop));
  const std::string config = folder + "/out/.config";
  HOPYARD_ASSIGN_OR_RETURN(const std::string tiny, base::read_file(config));
  HOPYARD_ASSIGN_OR_RETURN(const std::string ours, base::read_file(kernel.config));
  HOPYARD_RETURN_IF_ERROR(base::write_file(config, tiny + ours));  // of two lines the later one counts
  HOPYARD_RETURN_IF_ERROR(run(make(shop, kernel, folder, {"olddefconfig"}), shop.stop));
  return check_options(kernel, config);
}

// kbuild's short lines: "  CC      net/core/dev.o".
bool is_kbuild_line(std::string_view line) {
  return line.starts_with("  CC ") || line.starts_with("  AS ") || line.starts_with("  HOSTCC ");
}

}  // namespace

absl::Status unpack_kernel(Workshop& shop, const Kernel& kernel, const std::string& file,
                           const std::string& folder) {
  if (!file.ends_with(".deb")) return unpack(shop, file, folder + "/source");
  shop.step("unpack", kernel.source.file);
  const std::string package = folder + "/package";
  HOPYARD_RETURN_IF_ERROR(make_folders(package));
  HOPYARD_RETURN_IF_ERROR(
      run({.attempt = "unpack " + file, .argv = {"dpkg-deb", "--extract", file, package}}, shop.stop));
  HOPYARD_ASSIGN_OR_RETURN(const std::string tarball, tarball_in(package));
  HOPYARD_RETURN_IF_ERROR(unpack(shop, tarball, folder + "/source"));
  std::error_code ignored;  // the work folder goes as a whole
  fs::remove_all(package, ignored);
  return absl::OkStatus();
}

absl::Status build_kernel(Workshop& shop, const Kernel& kernel, const std::string& label,
                          const std::string& folder) {
  HOPYARD_RETURN_IF_ERROR(make_folders(folder + "/out"));
  HOPYARD_RETURN_IF_ERROR(configure(shop, kernel, folder));
  shop.step("compile", kernel.source.name, kernel.objects);
  uint32_t done = 0;
  return run(make(shop, kernel, folder, {"LOCALVERSION=-" + label, "linux"}), shop.stop,
             [&](std::string_view line) {
               if (is_kbuild_line(line) && kernel.objects != 0)
                 shop.count(std::min(++done, kernel.objects), kernel.objects);
             });
}

}  // namespace hopyard::variant
