// SPDX-License-Identifier: Apache-2.0
// Keys, and what lies under them: <cache>/boringssl/<key>, trees/<key> (nginx configured and compiled,
// unpatched) and builds/<key>. Each is made in a work place and renamed into being.
#include "variant/builder.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/digest.h"
#include "base/fd.h"
#include "base/paths.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "variant/inputs.h"
#include "variant/recipe.h"
#include "variant/sources.h"
#include "variant/toolchain.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace fs = std::filesystem;
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

absl::StatusOr<std::vector<Input>> boringssl_inputs(const Pin& pin, const Toolchain& tools) {
  std::vector<Input> inputs = {{"recipe", "", std::to_string(kRecipeVersion)},
                               {"boringssl", pin.file, pin.sha256}};
  HOPYARD_ASSIGN_OR_RETURN(const std::string recipe, base::sha256_file_hex(pin.recipe));
  inputs.push_back({"boringssl-recipe", file_name(pin.recipe), recipe});
  for (const auto& line : tools.identity) inputs.push_back({"tool", "", line});
  return inputs;
}

// BoringSSL's inputs and those of the configured, unpatched nginx.
absl::StatusOr<std::vector<Input>> tree_inputs(const Variant& variant, const Toolchain& tools) {
  HOPYARD_ASSIGN_OR_RETURN(std::vector<Input> inputs, boringssl_inputs(variant.boringssl, tools));
  inputs.push_back({"nginx", variant.nginx.file, variant.nginx.sha256});
  inputs.push_back({"configure", "", fmt::format("{}", fmt::join(variant.configure, " "))});
  inputs.push_back({"cflags", "", fmt::format("{}", fmt::join(variant.cflags, " "))});
  return inputs;
}

// All of a variant's inputs. What it promises about records is one of them: a gate passed under another
// promise must not count.
absl::StatusOr<std::vector<Input>> variant_inputs(const Variant& variant, const Toolchain& tools) {
  HOPYARD_ASSIGN_OR_RETURN(std::vector<Input> inputs, tree_inputs(variant, tools));
  for (const auto& patch : variant.patches) {
    auto hash = base::sha256_file_hex(patch);
    if (!hash.ok()) return base::annotate(hash.status(), "read patch of variant", variant.name);
    inputs.push_back({"patch", file_name(patch), *hash});
  }
  const RecordPolicy& r = variant.records;
  inputs.push_back({"records", "",
                    fmt::format("fragment {} early {} budget {} transitions {} settings {}{}",
                                r.fragment_bytes, r.early_fragment_bytes, r.early_budget_bytes, r.transitions,
                                r.settings, r.dynamic ? " dynamic" : "")});
  return inputs;
}

// The build under `key`, if it is whole and its binary is the one that was made.
std::optional<Build> read_build(const BuilderOptions& options, const Variant& variant,
                                const std::string& key) {
  const std::string folder = options.cache_dir + "/builds/" + key;
  const auto manifest = base::read_file(folder + "/manifest");
  if (!manifest.ok()) return std::nullopt;
  Build build{
      .variant = variant.name, .sha256 = key, .nginx_path = folder + "/nginx", .records = variant.records};
  std::istringstream lines(*manifest);
  std::getline(lines, build.binary_sha256);
  for (std::string line; std::getline(lines, line);) build.inputs.push_back(line);
  const auto seen = base::sha256_file_hex(build.nginx_path);
  if (!seen.ok() || *seen != build.binary_sha256) return std::nullopt;
  return build;
}

// One building of one variant: the options and the tools of this moment.
class Making {
 public:
  Making(const BuilderOptions& options, Workshop& shop) : options_(options), shop_(shop) {}

  absl::StatusOr<std::string> boringssl(const Pin& pin);
  absl::StatusOr<std::string> tree(const Variant& variant);
  absl::Status build(const Variant& variant, const std::string& key, const std::vector<Input>& inputs);

 private:
  absl::StatusOr<WorkPlace> enter(const std::string& name) {
    return WorkPlace::enter(options_.cache_dir, name, shop_.stop,
                            [this] { shop_.step("wait", "another build of the same is under way"); });
  }
  absl::StatusOr<std::string> source(const Pin& pin) {
    return Sources(options_.cache_dir).tarball(pin, shop_.progress.variant, shop_.sink, shop_.stop);
  }
  absl::Status compile_tree(const Variant& variant, const std::string& boringssl, const WorkPlace& place);
  absl::Status compile_patched(const Variant& variant, const std::string& tree, const WorkPlace& place);

  const BuilderOptions& options_;
  Workshop& shop_;
};

absl::StatusOr<std::string> Making::boringssl(const Pin& pin) {
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, boringssl_inputs(pin, shop_.tools));
  const std::string key = key_of(inputs);
  const std::string prefix = options_.cache_dir + "/boringssl/" + key;
  if (exists(prefix)) return prefix;
  HOPYARD_ASSIGN_OR_RETURN(const WorkPlace place, enter("boringssl-" + key));
  if (exists(prefix)) return prefix;
  HOPYARD_ASSIGN_OR_RETURN(const std::string tarball, source(pin));
  HOPYARD_RETURN_IF_ERROR(unpack(shop_, tarball, place.folder() + "/drop"));
  HOPYARD_RETURN_IF_ERROR(build_boringssl(shop_, pin, place.folder()));
  HOPYARD_RETURN_IF_ERROR(place.publish("prefix", prefix));
  return prefix;
}

absl::StatusOr<std::string> Making::tree(const Variant& variant) {
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, tree_inputs(variant, shop_.tools));
  const std::string key = key_of(inputs);
  const std::string tree = options_.cache_dir + "/trees/" + key;
  HOPYARD_ASSIGN_OR_RETURN(const std::string prefix, boringssl(variant.boringssl));
  if (exists(tree)) return tree;
  HOPYARD_ASSIGN_OR_RETURN(const WorkPlace place, enter("tree-" + key));
  if (exists(tree)) return tree;
  HOPYARD_RETURN_IF_ERROR(compile_tree(variant, prefix, place));
  HOPYARD_RETURN_IF_ERROR(place.publish("tree", tree));
  return tree;
}

absl::Status Making::compile_tree(const Variant& variant, const std::string& prefix, const WorkPlace& place) {
  const std::string folder = place.folder() + "/tree";
  HOPYARD_ASSIGN_OR_RETURN(const std::string tarball, source(variant.nginx));
  HOPYARD_RETURN_IF_ERROR(unpack(shop_, tarball, folder + "/nginx"));
  // The compiler is given ../boringssl: its place in the cache must not show in `nginx -V`.
  if (::symlink(prefix.c_str(), (folder + "/boringssl").c_str()) != 0)
    return base::errno_status("symlink", folder + "/boringssl");
  HOPYARD_RETURN_IF_ERROR(configure_nginx(shop_, variant, folder));
  return make_nginx(shop_, variant, folder);
}

// On a copy of the compiled tree only what a patch touches is compiled again: make goes by the files' times,
// which the copy keeps.
absl::Status Making::compile_patched(const Variant& variant, const std::string& tree,
                                     const WorkPlace& place) {
  const std::string copy = place.folder() + "/tree";
  HOPYARD_RETURN_IF_ERROR(copy_tree(shop_, tree, copy));
  bool configure = false;
  for (const auto& patch : variant.patches) {
    HOPYARD_ASSIGN_OR_RETURN(const std::string text, base::read_file(patch));
    configure = configure || touches_configuration(text);
    HOPYARD_RETURN_IF_ERROR(apply_patch(shop_, patch, copy + "/nginx"));
  }
  if (configure) HOPYARD_RETURN_IF_ERROR(configure_nginx(shop_, variant, copy));
  return make_nginx(shop_, variant, copy);
}

absl::Status Making::build(const Variant& variant, const std::string& key, const std::vector<Input>& inputs) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string base_tree, tree(variant));
  HOPYARD_ASSIGN_OR_RETURN(const WorkPlace place, enter("build-" + key));
  if (read_build(options_, variant, key)) return absl::OkStatus();  // made while this one waited
  std::string built = base_tree;
  if (!variant.patches.empty()) {
    HOPYARD_RETURN_IF_ERROR(compile_patched(variant, base_tree, place));
    built = place.folder() + "/tree";
  }
  shop_.step("check", variant.name);
  const std::string result = place.folder() + "/result";
  HOPYARD_RETURN_IF_ERROR(make_folders(result));
  HOPYARD_RETURN_IF_ERROR(strip_binary(shop_, built + "/nginx/objs/nginx", result + "/nginx"));
  HOPYARD_RETURN_IF_ERROR(check_static_tls(shop_, result + "/nginx"));
  HOPYARD_ASSIGN_OR_RETURN(const std::string hash, base::sha256_file_hex(result + "/nginx"));
  std::string manifest = hash + "\n";
  for (const auto& input : inputs) manifest += input.shown() + "\n";
  HOPYARD_RETURN_IF_ERROR(base::write_file(result + "/manifest", manifest));
  return place.publish("result", options_.cache_dir + "/builds/" + key);
}

std::string gate_path(const Build& build) { return fs::path(build.nginx_path).parent_path() / "gate"; }

// The verdict's first line: which binary it is about, and how it went.
std::string gate_header(const Build& build, bool passed) {
  return fmt::format("{} {}\n", build.binary_sha256, passed ? "passed" : "failed");
}

}  // namespace

BuilderOptions with_defaults(BuilderOptions options) {
  if (options.cache_dir.empty()) options.cache_dir = base::cache_dir();
  options.cache_dir = fs::absolute(options.cache_dir).lexically_normal();
  if (options.jobs == 0) options.jobs = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

Builder::Builder(BuilderOptions options) : options_(with_defaults(std::move(options))) {}

absl::StatusOr<std::string> Builder::content_hash(const Variant& variant) const {
  HOPYARD_ASSIGN_OR_RETURN(const Toolchain tools, find_toolchain(options_.cc, options_.cxx));
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, variant_inputs(variant, tools));
  return key_of(inputs);
}

std::optional<Build> Builder::cached(const Variant& variant) const {
  const auto key = content_hash(variant);
  if (!key.ok()) return std::nullopt;
  return read_build(options_, variant, *key);
}

absl::StatusOr<Build> Builder::build(const Variant& variant, const ProgressSink& sink, std::stop_token stop) {
  const Sources sources(options_.cache_dir);
  HOPYARD_RETURN_IF_ERROR(sources.check_at_hand(variant.nginx));
  HOPYARD_RETURN_IF_ERROR(sources.check_at_hand(variant.boringssl));
  HOPYARD_ASSIGN_OR_RETURN(const Toolchain tools, find_toolchain(options_.cc, options_.cxx));
  HOPYARD_ASSIGN_OR_RETURN(const auto inputs, variant_inputs(variant, tools));
  const std::string key = key_of(inputs);
  auto build = read_build(options_, variant, key);
  Workshop shop(variant.name, sink, stop, tools, options_.jobs);
  if (!build) {
    const absl::Status made = Making(options_, shop).build(variant, key, inputs);
    if (!made.ok()) return base::annotate(made, "build variant", variant.name);
    build = read_build(options_, variant, key);
  }
  if (!build)
    return absl::DataLossError(
        fmt::format("build variant: {}: the finished build cannot be read back", variant.name));
  shop.step("ready", build->nginx_path);
  return *build;
}

absl::StatusOr<std::string> Builder::boringssl(const Pin& pin, const ProgressSink& sink,
                                               std::stop_token stop) {
  HOPYARD_RETURN_IF_ERROR(Sources(options_.cache_dir).check_at_hand(pin));
  HOPYARD_ASSIGN_OR_RETURN(const Toolchain tools, find_toolchain(options_.cc, options_.cxx));
  Workshop shop(pin.name, sink, stop, tools, options_.jobs);
  return Making(options_, shop).boringssl(pin);
}

absl::Status Builder::record_gate(const Build& build, const std::string& gate_bytes, bool passed) {
  const std::string path = gate_path(build);
  const std::string draft = fmt::format("{}.{}.{}", path, ::getpid(), ::gettid());
  HOPYARD_RETURN_IF_ERROR(base::write_file(draft, gate_header(build, passed) + gate_bytes));
  if (::rename(draft.c_str(), path.c_str()) != 0) return base::errno_status("rename", path);
  return absl::OkStatus();
}

std::optional<GateRecord> Builder::gate(const Build& build) const {
  const auto content = base::read_file(gate_path(build));
  if (!content.ok()) return std::nullopt;
  for (const bool passed : {true, false}) {
    const std::string header = gate_header(build, passed);
    if (content->starts_with(header)) return GateRecord{content->substr(header.size()), passed};
  }
  return std::nullopt;  // about another binary
}

}  // namespace hopyard::variant
