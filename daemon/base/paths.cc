// SPDX-License-Identifier: Apache-2.0
// XDG rules (basedir specification 0.8) and the program's own place.
#include "base/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "fmt/format.h"

namespace hopyard::base {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string home() {
  if (std::string value = environment("HOME"); !value.empty()) return value;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_dir : "/";
}

// The specification says that relative values are to be ignored.
std::string xdg(const char* name, const std::string& below_home) {
  const std::string value = environment(name);
  const std::string root = value.starts_with('/') ? value : home() + "/" + below_home;
  return root + "/hopyard";
}

}  // namespace

std::string cache_dir() { return xdg("XDG_CACHE_HOME", ".cache"); }
std::string state_dir() { return xdg("XDG_STATE_HOME", ".local/state"); }
std::string config_dir() { return xdg("XDG_CONFIG_HOME", ".config"); }

std::string runtime_dir() {
  const std::string value = environment("XDG_RUNTIME_DIR");
  return value.starts_with('/') ? value + "/hopyard" : state_dir();
}

std::string default_database() { return state_dir() + "/hopyard.db"; }

std::string default_socket(const std::string& database) {
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(database), error);
  // Socket paths are short (107 bytes), a database's may be long: its FNV-1a hash stands for it.
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : path.native()) hash = (hash ^ byte) * 0x100000001b3;
  return fmt::format("{}/{:016x}.sock", runtime_dir(), hash);
}

std::string program_dir() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::string data_dir() {
  if (std::string value = environment("HOPYARD_DATA"); !value.empty()) return value;
  const std::filesystem::path bin = program_dir();
  for (const auto& candidate : {bin / "../..", bin / "../share/hopyard"}) {
    std::error_code error;
    if (std::filesystem::exists(candidate / "patches/variants.yaml", error))
      return candidate.lexically_normal();
  }
  return HOPYARD_SOURCE_DIR;
}

}  // namespace hopyard::base
