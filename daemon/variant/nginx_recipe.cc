// SPDX-License-Identifier: Apache-2.0
// nginx: configure, patch, make, strip, and the checks that need no run. All paths in commands that could
// leave a trace in the binary are relative to the source folder.
#include <algorithm>

#include "base/fd.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "variant/command.h"
#include "variant/recipe.h"

namespace hopyard::variant {
namespace {

// make prints each compile command over several lines, one of which names the object.
bool names_object(std::string_view line) {
  return line.find("-o objs/") != std::string_view::npos && line.find(".o") != std::string_view::npos;
}

Command make(const Workshop& shop, const std::string& attempt, const std::string& folder,
             const std::string& option) {
  return {.attempt = attempt,
          .argv = {"make", "-f", "objs/Makefile", option, fmt::format("-j{}", shop.jobs), "binary"},
          .working_directory = folder + "/nginx"};
}

// The lines of patch(1)'s output that matter: which file, which hunk.
std::string hunk_report(std::string_view output) {
  std::string report;
  std::string file;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    if (line.starts_with("patching file ") || line.starts_with("checking file "))
      file = line.substr(14);
    else if (line.starts_with("Hunk #") || line.find("patch: ****") != std::string_view::npos ||
             line.find("previously applied") != std::string_view::npos ||
             line.find("find file to patch") != std::string_view::npos)
      report += fmt::format("{}{}: {}", report.empty() ? "" : "; ", file.empty() ? "patch" : file, line);
  }
  return report;
}

}  // namespace

absl::Status configure_nginx(Workshop& shop, const Variant& variant, const std::string& folder) {
  shop.step("configure", variant.nginx.name);
  Command command{.attempt = "configure " + variant.nginx.name,
                  .argv = {"/bin/sh", "./configure", "--with-cc=" + shop.tools.cc},
                  .working_directory = folder + "/nginx"};
  command.argv.insert(command.argv.end(), variant.configure.begin(), variant.configure.end());
  command.argv.push_back(
      fmt::format("--with-cc-opt=-I../boringssl/include {}", fmt::join(variant.cflags, " ")));
  command.argv.push_back("--with-ld-opt=-L../boringssl/lib -Wl,--build-id=none -pthread");
  return run(command, shop.stop, [&](std::string_view line) {
    if (line.starts_with("checking")) shop.note(fmt::format("{}: {}", variant.nginx.name, line));
  });
}

absl::Status make_nginx(Workshop& shop, const Variant& variant, const std::string& folder) {
  const std::string attempt = "compile " + variant.nginx.name;
  uint32_t total = 0;
  HOPYARD_RETURN_IF_ERROR(run(make(shop, attempt, folder, "--dry-run"), shop.stop,
                              [&total](std::string_view line) { total += names_object(line) ? 1 : 0; }));
  shop.step("compile", variant.nginx.name, total);
  uint32_t done = 0;
  return run(make(shop, attempt, folder, "--no-print-directory"), shop.stop, [&](std::string_view line) {
    if (names_object(line)) shop.count(std::min(++done, total), total);
  });
}

absl::Status copy_tree(Workshop& shop, const std::string& from, const std::string& to) {
  return run({.attempt = "copy " + from, .argv = {"cp", "-a", "--reflink=auto", from, to}}, shop.stop);
}

absl::Status apply_patch(Workshop& shop, const std::string& patch, const std::string& source_folder) {
  const std::string name = patch.substr(patch.find_last_of('/') + 1);
  shop.step("patch", name);
  std::string output;
  const absl::Status status =
      run({.attempt = "apply patch",
           .argv = {"patch", "-p1", "--fuzz=0", "--forward", "--batch", "--no-backup-if-mismatch", "-d",
                    source_folder, "-i", patch}},
          shop.stop, [&output](std::string_view line) { output.append(line).append("\n"); });
  const std::string report = hunk_report(output);
  if (status.ok()) {
    if (!report.empty()) shop.step("patch", fmt::format("{}: {}", name, report));
    return status;
  }
  if (!absl::IsInternal(status)) return base::annotate(status, "apply patch", patch);
  return absl::InvalidArgumentError(fmt::format("apply patch: {}: does not apply without fuzz: {}", patch,
                                                report.empty() ? output : report));
}

bool touches_configuration(std::string_view patch_text) {
  for (size_t at = 0; at < patch_text.size();) {
    const size_t end = std::min(patch_text.find('\n', at), patch_text.size());
    const std::string_view line = patch_text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("+++ ") && !line.starts_with("--- ")) continue;
    const size_t slash = line.find('/');
    const std::string_view file = slash == std::string_view::npos ? "" : line.substr(slash + 1);
    if (file.starts_with("auto/") || file == "configure") return true;
  }
  return false;
}

absl::Status strip_binary(Workshop& shop, const std::string& from, const std::string& to) {
  return run({.attempt = "strip " + from, .argv = {"strip", "--strip-debug", "-o", to, from}}, shop.stop);
}

std::vector<std::string> needed_libraries(std::string_view output) {
  std::vector<std::string> libraries;
  constexpr std::string_view kNeeded = "(NEEDED)";
  for (size_t at = output.find(kNeeded); at != std::string_view::npos; at = output.find(kNeeded, at + 1)) {
    const size_t open = output.find('[', at);
    const size_t close = output.find(']', at);
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) break;
    libraries.emplace_back(output.substr(open + 1, close - open - 1));
  }
  return libraries;
}

absl::Status check_static_tls(Workshop& shop, const std::string& binary) {
  std::string listing;
  HOPYARD_RETURN_IF_ERROR(run({.attempt = "list dynamic libraries", .argv = {"readelf", "-d", "-W", binary}},
                              shop.stop,
                              [&listing](std::string_view line) { listing.append(line).append("\n"); }));
  const auto libraries = needed_libraries(listing);
  if (libraries.empty())
    return absl::InternalError("check: " + binary + ": readelf lists no dynamic libraries, not even libc");
  for (const auto& library : libraries) {
    if (library.starts_with("libssl") || library.starts_with("libcrypto")) {
      return absl::FailedPreconditionError(fmt::format(
          "check: {}: it loads {} at run time instead of holding the pinned BoringSSL", binary, library));
    }
  }
  return absl::OkStatus();
}

}  // namespace hopyard::variant
