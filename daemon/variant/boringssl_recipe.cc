// SPDX-License-Identifier: Apache-2.0
// BoringSSL through a pin's own CMake recipe; ninja's counts are the progress.
#include <charconv>
#include <filesystem>
#include <optional>

#include "fmt/format.h"
#include "variant/command.h"
#include "variant/recipe.h"

namespace hopyard::variant {
namespace {

// "[12/283] Building …"
std::optional<std::pair<uint32_t, uint32_t>> ninja_count(std::string_view line) {
  if (!line.starts_with('[')) return std::nullopt;
  const char* const end = line.data() + line.size();
  std::pair<uint32_t, uint32_t> count;
  const auto done = std::from_chars(line.data() + 1, end, count.first);
  if (done.ec != std::errc() || done.ptr == end || *done.ptr != '/') return std::nullopt;
  const auto total = std::from_chars(done.ptr + 1, end, count.second);
  if (total.ec != std::errc() || total.ptr == end || *total.ptr != ']') return std::nullopt;
  return count;
}

}  // namespace

absl::Status build_boringssl(Workshop& shop, const Pin& pin, const std::string& folder) {
  std::error_code error;
  std::filesystem::copy_file(pin.recipe, folder + "/CMakeLists.txt", error);
  if (error) return base::errno_status("copy", pin.recipe, error.value());
  shop.step("configure", pin.name);
  HOPYARD_RETURN_IF_ERROR(
      run({.attempt = "configure " + pin.name,
           .argv = {"cmake", "-S", folder, "-B", folder + "/out", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_INSTALL_PREFIX=" + folder + "/prefix", "-DCMAKE_C_COMPILER=" + shop.tools.cc,
                    "-DCMAKE_CXX_COMPILER=" + shop.tools.cxx}},
          shop.stop));
  shop.step("compile", pin.name);
  const auto count = [&shop](std::string_view line) {
    if (const auto seen = ninja_count(line)) shop.count(seen->first, seen->second);
  };
  HOPYARD_RETURN_IF_ERROR(run({.attempt = "compile " + pin.name,
                               .argv = {"ninja", "-C", folder + "/out", fmt::format("-j{}", shop.jobs)}},
                              shop.stop, count));
  return run({.attempt = "install " + pin.name, .argv = {"cmake", "--install", folder + "/out"}}, shop.stop);
}

}  // namespace hopyard::variant
