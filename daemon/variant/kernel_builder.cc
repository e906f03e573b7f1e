// SPDX-License-Identifier: Apache-2.0
// <cache>/kernels/<key>/{linux,config,manifest}, made in a work place and renamed into being.
#include "variant/kernel_builder.h"

#include <algorithm>
#include <sstream>

#include "base/digest.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "variant/command.h"
#include "variant/inputs.h"
#include "variant/recipe.h"
#include "variant/sources.h"
#include "variant/toolchain.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace {

// Part of every key: raise it when the recipe changes what comes out.
constexpr int kKernelRecipeVersion = 1;
constexpr size_t kLabelDigits = 8;

absl::StatusOr<std::vector<Input>> kernel_inputs(const Kernel& kernel, const Toolchain& tools) {
  std::vector<Input> inputs = {{"kernel-recipe", "", std::to_string(kKernelRecipeVersion)},
                               {"kernel", kernel.source.file, kernel.source.sha256}};
  HOPYARD_ASSIGN_OR_RETURN(const std::string config, base::sha256_file_hex(kernel.config));
  inputs.push_back({"kernel-options", file_name(kernel.config), config});
  for (const auto& patch : kernel.patches) {
    auto hash = base::sha256_file_hex(patch);
    if (!hash.ok()) return base::annotate(hash.status(), "read patch of kernel", kernel.name);
    inputs.push_back({"kernel-patch", file_name(patch), *hash});
  }
  for (const auto& line : tools.identity) inputs.push_back({"tool", "", line});
  return inputs;
}

// The kernel under `key`, if it is whole and its program is the one that was made.
std::optional<KernelBuild> read_kernel(const BuilderOptions& options, const Kernel& kernel,
                                       const std::string& key) {
  const std::string folder = options.cache_dir + "/kernels/" + key;
  const auto manifest = base::read_file(folder + "/manifest");
  if (!manifest.ok()) return std::nullopt;
  KernelBuild build{.kernel = kernel.name, .sha256 = key, .program = folder + "/linux"};
  std::istringstream lines(*manifest);
  for (std::string* line : {&build.program_sha256, &build.config_sha256, &build.release})
    std::getline(lines, *line);
  for (std::string line; std::getline(lines, line);) build.inputs.push_back(line);
  const auto seen = base::sha256_file_hex(build.program);
  if (!seen.ok() || *seen != build.program_sha256) return std::nullopt;
  return build;
}

// out/ of a made kernel into result/, with its manifest.
absl::Status collect(Workshop& shop, const std::vector<Input>& inputs, const std::string& folder) {
  shop.step("check", shop.progress.variant);
  const std::string result = folder + "/result";
  HOPYARD_RETURN_IF_ERROR(make_folders(result));
  HOPYARD_RETURN_IF_ERROR(strip_binary(shop, folder + "/out/linux", result + "/linux"));
  HOPYARD_ASSIGN_OR_RETURN(const std::string config, base::read_file(folder + "/out/.config"));
  HOPYARD_RETURN_IF_ERROR(base::write_file(result + "/config", config));
  HOPYARD_ASSIGN_OR_RETURN(const std::string program, base::sha256_file_hex(result + "/linux"));
  HOPYARD_ASSIGN_OR_RETURN(const std::string release, first_line({result + "/linux", "--version"}));
  std::string manifest = fmt::format("{}\n{}\n{}\n", program, base::sha256_hex(config), release);
  for (const auto& input : inputs) manifest += input.shown() + "\n";
  return base::write_file(result + "/manifest", manifest);
}

absl::Status make_kernel(const BuilderOptions& options, Workshop& shop, const Kernel& kernel,
                         const std::string& key, const std::vector<Input>& inputs) {
  HOPYARD_ASSIGN_OR_RETURN(const WorkPlace place,
                           WorkPlace::enter(options.cache_dir, "kernel-" + key, shop.stop, [&shop] {
                             shop.step("wait", "another build of the same is under way");
                           }));
  if (read_kernel(options, kernel, key)) return absl::OkStatus();  // made while this one waited
  HOPYARD_ASSIGN_OR_RETURN(
      const std::string file,
      Sources(options.cache_dir).tarball(kernel.source, kernel.name, shop.sink, shop.stop));
  HOPYARD_RETURN_IF_ERROR(unpack_kernel(shop, kernel, file, place.folder()));
  for (const auto& patch : kernel.patches) {
    HOPYARD_RETURN_IF_ERROR(apply_patch(shop, patch, place.folder() + "/source"));
  }
  HOPYARD_RETURN_IF_ERROR(build_kernel(shop, kernel, key.substr(0, kLabelDigits), place.folder()));
  HOPYARD_RETURN_IF_ERROR(collect(shop, inputs, place.folder()));
  return place.publish("result", options.cache_dir + "/kernels/" + key);
}

}  // namespace

KernelBuilder::KernelBuilder(BuilderOptions options) : options_(with_defaults(std::move(options))) {}

absl::StatusOr<std::string> KernelBuilder::content_hash(const Kernel& kernel) const {
  HOPYARD_ASSIGN_OR_RETURN(const Toolchain tools, find_toolchain(options_.cc, options_.cxx));
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, kernel_inputs(kernel, tools));
  return key_of(inputs);
}

std::optional<KernelBuild> KernelBuilder::cached(const Kernel& kernel) const {
  const auto key = content_hash(kernel);
  if (!key.ok()) return std::nullopt;
  return read_kernel(options_, kernel, *key);
}

absl::StatusOr<KernelBuild> KernelBuilder::build(const Kernel& kernel, const ProgressSink& sink,
                                                 std::stop_token stop) {
  HOPYARD_RETURN_IF_ERROR(Sources(options_.cache_dir).check_at_hand(kernel.source));
  HOPYARD_ASSIGN_OR_RETURN(const Toolchain tools, find_toolchain(options_.cc, options_.cxx));
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, kernel_inputs(kernel, tools));
  const std::string key = key_of(inputs);
  auto build = read_kernel(options_, kernel, key);
  Workshop shop(kernel.name, sink, stop, tools, options_.jobs);
  if (!build) {
    const absl::Status made = make_kernel(options_, shop, kernel, key, inputs);
    if (!made.ok()) return base::annotate(made, "build kernel", kernel.name);
    build = read_kernel(options_, kernel, key);
  }
  if (!build)
    return absl::DataLossError(
        fmt::format("build kernel: {}: the finished build cannot be read back", kernel.name));
  shop.step("ready", build->program);
  return *build;
}

}  // namespace hopyard::variant
