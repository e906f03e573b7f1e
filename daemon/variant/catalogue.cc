// SPDX-License-Identifier: Apache-2.0
// Reads variants.yaml files. yaml-cpp and its exceptions stay in this file.
#include "variant/catalogue.h"

#include <filesystem>
#include <set>

#include "base/paths.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "yaml-cpp/yaml.h"

namespace hopyard::variant {
namespace {

[[noreturn]] void refuse(const YAML::Node& node, const std::string& problem) {
  throw YAML::RepresentationException(node.Mark(), problem);
}

std::string scalar(const YAML::Node& node, const std::string& what) {
  if (!node.IsScalar() || node.Scalar().empty()) refuse(node, what + " must be text");
  return node.Scalar();
}

// The node must be a map with none but the known keys, each at most once (yaml-cpp itself keeps both of two
// equal keys and finds the first).
void check_keys(const YAML::Node& map, const std::string& what, const std::set<std::string>& known) {
  if (!map.IsMap()) refuse(map, what + " must be a map");
  std::set<std::string> seen;
  for (const auto& entry : map) {
    const std::string key = scalar(entry.first, "a key of " + what);
    if (!known.empty() && !known.contains(key))
      refuse(entry.first, fmt::format("{} has no key `{}`; known: {}", what, key, fmt::join(known, ", ")));
    if (!seen.insert(key).second) refuse(entry.first, fmt::format("{} has the key `{}` twice", what, key));
  }
}

std::string optional_text(const YAML::Node& map, const std::string& key) {
  const YAML::Node node = map[key];
  return node ? scalar(node, key) : "";
}

std::vector<std::string> texts(const YAML::Node& map, const std::string& key) {
  std::vector<std::string> out;
  const YAML::Node node = map[key];
  if (!node) return out;
  if (!node.IsSequence()) refuse(node, key + " must be a list");
  for (const auto& item : node) out.push_back(scalar(item, "an entry of " + key));
  return out;
}

// Names end up in file names, campaign files and tables.
std::string checked_name(const YAML::Node& node, const std::string& what) {
  std::string name = scalar(node, what);
  constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
  if (name.find_first_not_of(kAllowed) != std::string::npos || name.front() == '.' || name.front() == '-')
    refuse(node, fmt::format("{} `{}` may hold letters, digits, and . _ + - inside", what, name));
  return name;
}

std::string checked_sha256(const YAML::Node& pin) {
  const YAML::Node node = pin["sha256"];
  if (!node) refuse(pin, "a pin needs its sha256");
  std::string hex = scalar(node, "sha256");
  if (hex.size() != 64 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    refuse(node, fmt::format("sha256 must be 64 lower-case hex digits, not `{}`", hex));
  return hex;
}

uint32_t number(const YAML::Node& map, const std::string& key, uint32_t low, uint32_t high, uint32_t absent) {
  const YAML::Node node = map[key];
  if (!node) return absent;
  int64_t value = -1;
  if (!node.IsScalar() || !YAML::convert<int64_t>::decode(node, value) || value < low || value > high)
    refuse(node, fmt::format("{} must be a whole number from {} to {}", key, low, high));
  return static_cast<uint32_t>(value);
}

bool flag(const YAML::Node& map, const std::string& key) {
  const YAML::Node node = map[key];
  bool value = false;
  if (node && (!node.IsScalar() || !YAML::convert<bool>::decode(node, value)))
    refuse(node, key + " must be true or false");
  return value;
}

// 512 and 16384 are what SSL_set_max_send_fragment takes.
RecordPolicy read_records(const YAML::Node& node) {
  RecordPolicy policy;
  if (!node) return policy;
  check_keys(
      node, "records",
      {"fragment_bytes", "early_fragment_bytes", "early_budget_bytes", "transitions", "settings", "dynamic"});
  policy.fragment_bytes = number(node, "fragment_bytes", 512, 16384, policy.fragment_bytes);
  policy.early_fragment_bytes = number(node, "early_fragment_bytes", 512, 16384, 0);
  policy.early_budget_bytes = number(node, "early_budget_bytes", 1, 1u << 30, 0);
  policy.transitions = number(node, "transitions", 0, 1000, 0);
  policy.settings = number(node, "settings", 0, 1000, 0);
  policy.dynamic = flag(node, "dynamic");
  if ((policy.early_fragment_bytes == 0) != (policy.early_budget_bytes == 0))
    refuse(node, "early_fragment_bytes and early_budget_bytes go together");
  if (policy.dynamic && policy.early_budget_bytes > 0) refuse(node, "dynamic excludes an early budget");
  return policy;
}

}  // namespace

// One file into a catalogue.
class CatalogueReader {
 public:
  CatalogueReader(Catalogue& catalogue, const std::string& file)
      : catalogue_(catalogue), folder_(std::filesystem::absolute(file).parent_path()) {}

  void read(const YAML::Node& root) {
    if (root.IsNull()) return;  // an empty file says nothing
    check_keys(root, "the file", {"pins", "defaults", "variants", "kernels"});
    if (root["pins"]) read_pins(root["pins"]);
    if (root["defaults"]) read_defaults(root["defaults"]);
    if (root["variants"]) read_variants(root["variants"]);
    if (root["kernels"]) read_kernels(root["kernels"]);
  }

 private:
  std::string resolve(const std::string& path) const { return (folder_ / path).lexically_normal().string(); }

  void read_pins(const YAML::Node& node) {
    check_keys(node, "pins", {});
    for (const auto& entry : node) {
      const std::string name = checked_name(entry.first, "a pin's name");
      if (!catalogue_.pins_.emplace(name, read_pin(name, entry.second)).second)
        refuse(entry.first, fmt::format("the pin `{}` is already there; give yours another name", name));
    }
  }

  Pin read_pin(const std::string& name, const YAML::Node& node) const {
    check_keys(node, "pin " + name, {"file", "sha256", "debian", "url", "path", "recipe"});
    Pin pin{.name = name, .file = optional_text(node, "file"), .sha256 = checked_sha256(node)};
    if (const YAML::Node debian = node["debian"]) {
      read_debian(debian, pin);
    }
    if (const YAML::Node url = node["url"])
      pin.urls = url.IsSequence() ? texts(node, "url") : std::vector<std::string>{scalar(url, "url")};
    if (node["path"]) pin.path = resolve(optional_text(node, "path"));
    if (node["recipe"]) pin.recipe = resolve(optional_text(node, "recipe"));
    if (pin.file.empty()) pin.file = file_of(pin, node);
    if (pin.file.find('/') != std::string::npos) refuse(node["file"], "file is a name without folders");
    return pin;
  }

  static void read_debian(const YAML::Node& node, Pin& pin) {
    check_keys(node, "debian", {"source", "package", "version", "release"});
    pin.debian_source = optional_text(node, "source");
    pin.debian_package = optional_text(node, "package");
    pin.debian_version = optional_text(node, "version");
    pin.debian_release = optional_text(node, "release");
    if (pin.debian_release.empty() || pin.debian_source.empty() == pin.debian_package.empty())
      refuse(node, "debian needs a release, and source or package");
    if (pin.debian_package.empty() != pin.debian_version.empty())
      refuse(node, "a debian package needs its version, a source has none");
  }

  // A path or URL names its file; Debian's archive needs it said.
  static std::string file_of(const Pin& pin, const YAML::Node& node) {
    const std::string& place = !pin.path.empty() ? pin.path : pin.urls.empty() ? "" : pin.urls.front();
    const std::string file = place.substr(place.find_last_of('/') + 1);
    if (file.empty()) refuse(node, fmt::format("pin {} needs a file, a path or a url", pin.name));
    return file;
  }

  void read_defaults(const YAML::Node& node) {
    if (!catalogue_.default_nginx_.empty()) refuse(node, "defaults are set already; say it in the variant");
    check_keys(node, "defaults", {"nginx", "boringssl", "configure"});
    catalogue_.default_nginx_ = pin_of(node, "nginx", "").name;
    catalogue_.default_boringssl_ = pin_of(node, "boringssl", "").name;
    catalogue_.default_configure_ = texts(node, "configure");
  }

  // The pin that `key` names, else the default one.
  const Pin& pin_of(const YAML::Node& map, const std::string& key, const std::string& otherwise) const {
    const YAML::Node node = map[key];
    if (!node && otherwise.empty()) refuse(map, "needs " + key);
    const std::string name = node ? scalar(node, key) : otherwise;
    const auto found = catalogue_.pins_.find(name);
    if (found == catalogue_.pins_.end()) refuse(node ? node : map, fmt::format("there is no pin `{}`", name));
    if (key == "boringssl" && found->second.recipe.empty())
      refuse(node ? node : map, fmt::format("pin {} has no recipe: it cannot serve as boringssl", name));
    return found->second;
  }

  void read_variants(const YAML::Node& node) {
    check_keys(node, "variants", {});
    for (const auto& entry : node) {
      const std::string name = checked_name(entry.first, "a variant's name");
      if (catalogue_.find(name).ok())
        refuse(entry.first, fmt::format("the variant `{}` is already there; give yours another name", name));
      catalogue_.variants_.push_back(read_variant(name, entry.second));
    }
  }

  Variant read_variant(const std::string& name, const YAML::Node& node) const {
    check_keys(node, "variant " + name,
               {"note", "nginx", "boringssl", "patches", "configure", "cflags", "records", "directives"});
    Variant variant{.name = name, .note = optional_text(node, "note")};
    variant.nginx = pin_of(node, "nginx", catalogue_.default_nginx_);
    variant.boringssl = pin_of(node, "boringssl", catalogue_.default_boringssl_);
    for (const auto& patch : texts(node, "patches")) variant.patches.push_back(resolve(patch));
    variant.configure = catalogue_.default_configure_;
    for (auto& argument : texts(node, "configure")) variant.configure.push_back(std::move(argument));
    variant.cflags = texts(node, "cflags");
    variant.records = read_records(node["records"]);
    variant.directives = texts(node, "directives");
    return variant;
  }

  void read_kernels(const YAML::Node& node) {
    check_keys(node, "kernels", {});
    for (const auto& entry : node) {
      const std::string name = checked_name(entry.first, "a kernel's name");
      if (name == "auto" || name == "host" || name == "debian-uml" || catalogue_.find_kernel(name).ok())
        refuse(entry.first, fmt::format("the kernel `{}` is already there; give yours another name", name));
      catalogue_.kernels_.push_back(read_kernel(name, entry.second));
    }
  }

  Kernel read_kernel(const std::string& name, const YAML::Node& node) const {
    check_keys(node, "kernel " + name,
               {"note", "source", "config", "patches", "boot", "congestion_controls", "objects"});
    Kernel kernel{.name = name, .note = optional_text(node, "note"), .source = pin_of(node, "source", "")};
    if (!node["config"]) refuse(node, "needs config");
    kernel.config = resolve(optional_text(node, "config"));
    for (const auto& patch : texts(node, "patches")) kernel.patches.push_back(resolve(patch));
    kernel.boot = texts(node, "boot");
    kernel.controls = texts(node, "congestion_controls");
    kernel.objects = number(node, "objects", 1, 100'000, 0);
    return kernel;
  }

  Catalogue& catalogue_;
  std::filesystem::path folder_;
};

std::vector<std::string> Catalogue::default_files() {
  const std::string tree = base::data_dir() + "/patches/";
  std::vector<std::string> files = {tree + "variants.yaml", tree + "kernels.yaml"};
  const std::string own = base::config_dir() + "/variants.yaml";
  std::error_code error;
  if (std::filesystem::exists(own, error)) files.push_back(own);
  return files;
}

absl::StatusOr<Catalogue> Catalogue::load(const std::vector<std::string>& files) {
  Catalogue catalogue;
  for (const auto& file : files) {
    try {
      CatalogueReader(catalogue, file).read(YAML::LoadFile(file));
    } catch (const YAML::BadFile&) {
      return absl::NotFoundError(fmt::format("read: {}: cannot be opened", file));
    } catch (const YAML::Exception& problem) {
      return absl::InvalidArgumentError(fmt::format("read: {}:{}:{}: {}", file, problem.mark.line + 1,
                                                    problem.mark.column + 1, problem.msg));
    }
  }
  if (catalogue.default_boringssl_.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("read: {}: no defaults (nginx, boringssl) in any file", fmt::join(files, ", ")));
  }
  return catalogue;
}

namespace {

template <typename Named>
absl::StatusOr<const Named*> find_named(const std::vector<Named>& all, const char* what,
                                        const std::string& name) {
  std::vector<std::string> names;
  for (const auto& one : all) {
    if (one.name == name) return &one;
    names.push_back(one.name);
  }
  return absl::NotFoundError(
      fmt::format("find: {} {}: not in the catalogue, which has {}", what, name, fmt::join(names, ", ")));
}

}  // namespace

absl::StatusOr<const Variant*> Catalogue::find(const std::string& name) const {
  return find_named(variants_, "variant", name);
}

absl::StatusOr<const Kernel*> Catalogue::find_kernel(const std::string& name) const {
  return find_named(kernels_, "kernel", name);
}

}  // namespace hopyard::variant
