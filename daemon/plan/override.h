// SPDX-License-Identifier: Apache-2.0
// Changes asked for beside the file (`--set paths.clean.rtt=40ms`), put into its tree before it is read.
// Knows neither the schema nor what a value means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/problems.h"

namespace hopyard::plan {

struct Node;

// `assignment` is "key.key=YAML value". An item of a list is reached by its `name`. Keys that are not there
// are added, for the schema to judge.
void apply_set(const std::string& assignment, Node& root, Problems& problems);

// A dedicated option (`--seed 7`) for a top-level key.
void apply_option(std::string_view option, std::string_view key, std::string value, Node& root,
                  Problems& problems);

// Options that list names (`--cases D,F`); those without any are passed over.
struct NameList {
  std::string_view option;
  std::string_view key;
  std::vector<std::string> names;
};

// Puts one selection of cells made of them where `cells` is. Changes nothing if no name is given.
void apply_selection(const std::vector<NameList>& lists, Node& root, Problems& problems);

}  // namespace hopyard::plan
