// SPDX-License-Identifier: Apache-2.0
// Walks the dotted key down the tree, making maps on the way where nothing stands.
#include "plan/override.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/text.h"
#include "fmt/format.h"
#include "plan/tree.h"

namespace hopyard::plan {
namespace {

constexpr std::string_view kForm =
    "`key=value`, with dots for keys inside keys, such as `paths.clean.rtt=40ms`";
constexpr size_t kMaxKeys = 8;

// What is left of a dotted key, and where it stands in its option.
struct Rest {
  std::string_view text;
  Place place;

  void skip(size_t bytes) {
    text.remove_prefix(bytes);
    place.column += static_cast<uint32_t>(bytes);
  }
};

std::string name_of(Node& item) {
  const Node* name = item.find("name");
  return name == nullptr ? "" : name->text;
}

// The item whose name `rest` begins with; of several (names may hold dots) the longest. Takes it off.
Node* take_item(Node& list, Rest& rest, Problems& problems) {
  Node* best = nullptr;
  size_t length = 0;
  std::vector<std::string> names;
  for (Node& item : list.children) {
    const std::string name = name_of(item);
    if (name.empty()) continue;
    names.push_back(name);
    const bool begins = rest.text.substr(0, name.size()) == name;
    const bool ends = rest.text.size() == name.size() || (begins && rest.text[name.size()] == '.');
    if (!begins || !ends || name.size() < length) continue;
    best = &item;
    length = name.size();
  }
  if (best == nullptr) {
    const std::string wanted(rest.text.substr(0, rest.text.find('.')));
    problems.add(rest.place,
                 quoted(wanted) + " is the name of no item of that list" + suggestion(wanted, names),
                 names.empty() ? "the whole list, such as `percentiles=[50, 90]`" : enumerated(names));
    return nullptr;
  }
  rest.skip(std::min(length + 1, rest.text.size()));
  return best;
}

// The child `rest` begins with, made if need be. Takes it off.
Node* take_child(Node& map, Rest& rest, Problems& problems) {
  const std::string key(rest.text.substr(0, rest.text.find('.')));
  if (map.kind == Node::Kind::kScalar) {
    problems.add(rest.place, quoted(key) + " would stand inside a single value", kForm);
    return nullptr;
  }
  if (key.empty()) {
    problems.add(rest.place, "an empty key", kForm);
    return nullptr;
  }
  map.kind = Node::Kind::kMap;
  Node* child = map.find(key);
  if (child == nullptr) {
    child = &map.children.emplace_back();
    child->key = key;
    child->key_place = child->place = rest.place;
  }
  rest.skip(std::min(key.size() + 1, rest.text.size()));
  return child;
}

// Puts `value` where `node` is; what it is called stays, and is now said by the option.
void replace(Node& node, Node value, Place key_place) {
  value.key = std::move(node.key);
  value.key_place = key_place;
  node = std::move(value);
}

}  // namespace

void apply_set(const std::string& assignment, Node& root, Problems& problems) {
  const bool readable = base::valid_utf8_prefix(assignment) == assignment.size();
  const uint32_t source = problems.add_source(readable ? "--set " + assignment : "--set");
  const Place origin{source, 1, 1};
  const size_t equals = assignment.find('=');
  if (!readable || equals == std::string::npos || equals == 0) {
    return problems.add(origin, readable ? quoted(assignment) + " sets nothing" : "not UTF-8", kForm);
  }
  Rest rest{std::string_view(assignment).substr(0, equals), origin};
  Node* node = &root;
  Place key_place = origin;
  for (size_t depth = 0; !rest.text.empty(); ++depth) {
    key_place = rest.place;
    if (depth == kMaxKeys) return problems.add(rest.place, "too many keys inside keys", kForm);
    node = node->kind == Node::Kind::kList ? take_item(*node, rest, problems)
                                           : take_child(*node, rest, problems);
    if (node == nullptr) return;
  }
  const Place value_place{source, 1, static_cast<uint32_t>(equals) + 2};
  std::optional<Node> value =
      read_tree(std::string_view(assignment).substr(equals + 1), value_place, problems);
  if (value) replace(*node, std::move(*value), key_place);
}

namespace {

// The child called `key`, made if need be, becomes `value`.
void put(Node& map, std::string_view key, Node value) {
  Node* child = map.find(key);
  if (child == nullptr) {
    child = &map.children.emplace_back();
    child->key = key;
  }
  const Place place = value.place;
  replace(*child, std::move(value), place);
}

Node scalar(Place place, std::string text) {
  Node node;
  node.kind = Node::Kind::kScalar;
  node.place = place;
  node.text = std::move(text);
  return node;
}

}  // namespace

void apply_option(std::string_view option, std::string_view key, std::string value, Node& root,
                  Problems& problems) {
  const Place place{problems.add_source(fmt::format("{} {}", option, value)), 1, 1};
  put(root, key, scalar(place, std::move(value)));
}

void apply_selection(const std::vector<NameList>& lists, Node& root, Problems& problems) {
  Node selection;
  selection.kind = Node::Kind::kMap;
  for (const NameList& list : lists) {
    if (list.names.empty()) continue;
    Node names;
    names.kind = Node::Kind::kList;
    names.place = {problems.add_source(fmt::format("{} {}", list.option, absl::StrJoin(list.names, ","))), 1,
                   1};
    for (const std::string& name : list.names) names.children.push_back(scalar(names.place, name));
    selection.place = names.place;
    put(selection, list.key, std::move(names));
  }
  if (selection.children.empty()) return;
  Node cells;
  cells.kind = Node::Kind::kList;
  cells.place = selection.place;
  cells.children.push_back(std::move(selection));
  put(root, "cells", std::move(cells));
}

}  // namespace hopyard::plan
