// SPDX-License-Identifier: Apache-2.0
// The steps that turn unpacked sources into libraries and a binary, inside one work folder, free of its path.
// Knows neither cache nor keys.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "variant/catalogue.h"
#include "variant/progress.h"
#include "variant/toolchain.h"

namespace hopyard::variant {

// Part of every key: raise it when a recipe changes what comes out.
inline constexpr int kRecipeVersion = 1;

// What every step needs: where progress goes, when to stop, which tools.
class Workshop {
 public:
  Workshop(const std::string& variant, ProgressSink progress_sink, std::stop_token token, Toolchain toolchain,
           unsigned processors)
      : sink(std::move(progress_sink)),
        stop(std::move(token)),
        tools(std::move(toolchain)),
        jobs(processors) {
    progress.variant = variant;
  }

  // Starts a step: the message is shown at once.
  void step(const std::string& name, const std::string& message, uint32_t total = 0);
  // Progress within the step; shown once a second, and at the end.
  void count(uint32_t done, uint32_t total);
  void note(const std::string& message);

  const ProgressSink sink;
  const std::stop_token stop;
  const Toolchain tools;
  const unsigned jobs;
  Progress progress;

 private:
  void show();
  int64_t shown_ns_ = 0;
};

// `folder`/ gets the tarball's one top-level folder's content.
absl::Status unpack(Workshop& shop, const std::string& tarball, const std::string& folder);

// `folder` holds drop/ (the unpacked source); afterwards also prefix/include and prefix/lib.
absl::Status build_boringssl(Workshop& shop, const Pin& pin, const std::string& folder);

// `folder` holds nginx/ (the unpacked source) and boringssl/ (a prefix, or a link to one).
absl::Status configure_nginx(Workshop& shop, const Variant& variant, const std::string& folder);
absl::Status make_nginx(Workshop& shop, const Variant& variant, const std::string& folder);
// A copy with the files' times, so that make compiles only what changes in it.
absl::Status copy_tree(Workshop& shop, const std::string& from, const std::string& to);
// Applies one patch without fuzz. Offsets alone are accepted: the context lines are all there, and a patch is
// meant to serve neighbouring releases; they are told as progress. INVALID_ARGUMENT names the patch and the
// hunk.
absl::Status apply_patch(Workshop& shop, const std::string& patch, const std::string& source_folder);
// True if a patch changes how nginx configures itself, so that a configured tree cannot be reused.
bool touches_configuration(std::string_view patch_text);

// `folder`/source gets the kernel's unpacked source: a tarball's, or that of the tarball in a Debian package.
absl::Status unpack_kernel(Workshop& shop, const Kernel& kernel, const std::string& file,
                           const std::string& folder);
// `folder` holds source/ (patched); afterwards also out/linux and out/.config. `label` ends the kernel's
// release, so that no two builds are taken for one. FAILED_PRECONDITION names the options of the kernel's
// configuration that it does not take.
absl::Status build_kernel(Workshop& shop, const Kernel& kernel, const std::string& label,
                          const std::string& folder);

// Strips `from` into `to`.
absl::Status strip_binary(Workshop& shop, const std::string& from, const std::string& to);
// The names in a `readelf -d` listing's NEEDED entries.
std::vector<std::string> needed_libraries(std::string_view readelf_output);
// The static part of the gate: FAILED_PRECONDITION names a TLS library that the binary would load at run
// time.
absl::Status check_static_tls(Workshop& shop, const std::string& binary);

}  // namespace hopyard::variant
