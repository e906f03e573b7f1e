// SPDX-License-Identifier: Apache-2.0
// Runs one tool of a build: its output line by line, its last lines in the error. Knows no particular tool.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace hopyard::variant {

// The absolute path of a program in $PATH (or `name` itself if it has a slash). NOT_FOUND names it.
absl::StatusOr<std::string> find_program(const std::string& name);

struct Command {
  std::string attempt;            // for errors: "configure nginx-1.26.3"
  std::vector<std::string> argv;  // argv[0] is looked up in $PATH
  std::string working_directory;
  // Builds get a small fixed environment, so that CFLAGS, MAKEFLAGS and their like cannot change the bytes; a
  // fetch gets the caller's (proxies).
  bool inherit_environment = false;
};

using LineSink = std::function<void(std::string_view line)>;

// Runs to the end; `on_line` sees stdout and stderr. A non-zero exit is INTERNAL with the last lines of
// output; CANCELLED once `stop` is requested (the tool gets TERM, then KILL).
absl::Status run(const Command& command, const std::stop_token& stop, const LineSink& on_line = {});
// The output's first line; empty output is an error.
absl::StatusOr<std::string> first_line(const std::vector<std::string>& argv);

}  // namespace hopyard::variant
