// SPDX-License-Identifier: Apache-2.0
// Asks the tools themselves; a path or a package version would miss a compiler replaced in place.
#include "variant/toolchain.h"

#include <gnu/libc-version.h>

#include <cstdlib>

#include "fmt/format.h"
#include "variant/command.h"

namespace hopyard::variant {
namespace {

std::string chosen(const std::string& given, const char* variable, const char* otherwise) {
  if (!given.empty()) return given;
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

absl::StatusOr<std::string> describe(const std::string& compiler) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string version, first_line({compiler, "--version"}));
  HOPYARD_ASSIGN_OR_RETURN(const std::string target, first_line({compiler, "-dumpmachine"}));
  return fmt::format("{}, {}", version, target);
}

}  // namespace

absl::StatusOr<Toolchain> find_toolchain(const std::string& cc, const std::string& cxx) {
  Toolchain tools;
  HOPYARD_ASSIGN_OR_RETURN(tools.cc, find_program(chosen(cc, "CC", "cc")));
  HOPYARD_ASSIGN_OR_RETURN(tools.cxx, find_program(chosen(cxx, "CXX", "c++")));
  HOPYARD_ASSIGN_OR_RETURN(const std::string c_compiler, describe(tools.cc));
  HOPYARD_ASSIGN_OR_RETURN(const std::string cxx_compiler, describe(tools.cxx));
  HOPYARD_ASSIGN_OR_RETURN(const std::string linker, first_line({"ld", "--version"}));
  tools.identity = {"compiler " + c_compiler, "c++ compiler " + cxx_compiler, "linker " + linker,
                    fmt::format("libc glibc {}", ::gnu_get_libc_version())};
  return tools;
}

}  // namespace hopyard::variant
