// SPDX-License-Identifier: Apache-2.0
// Text -> tree -> options -> message -> checks; each step lists what it finds and the next still looks.
#include "plan/reader.h"

#include <algorithm>

#include "fmt/format.h"
#include "plan/checks.h"
#include "plan/fill.h"
#include "plan/override.h"
#include "plan/tree.h"

namespace hopyard::plan {
namespace {

constexpr uint64_t kDefaultSeed = 1;

void apply_options(const v1::CampaignText& text, Node& root, Problems& problems) {
  if (root.kind != Node::Kind::kMap) return;  // refused as a whole
  for (const std::string& assignment : text.set()) apply_set(assignment, root, problems);
  const auto option = [&](std::string_view name, std::string_view key, std::string value) {
    apply_option(name, key, std::move(value), root, problems);
  };
  if (text.has_repetitions()) option("--repetitions", "repetitions", std::to_string(text.repetitions()));
  if (text.has_seed()) option("--seed", "seed", std::to_string(text.seed()));
  if (text.has_kernel()) option("--kernel", "kernel", text.kernel());
  if (text.has_clock()) option("--clock", "clock", text.clock());
}

void set_defaults(const Places& places, v1::Campaign& campaign) {
  if (!places.written("seed")) campaign.set_seed(kDefaultSeed);
  if (!places.written("clock")) campaign.set_clock("real");
  if (campaign.kernel().empty()) campaign.add_kernel("auto");
}

void read(const v1::CampaignText& text, const Known& known, Problems& problems, v1::Campaign& campaign) {
  std::optional<Node> root = read_tree(text.yaml(), Place{}, problems);
  if (!root) return;
  if (root->kind == Node::Kind::kNull) {
    return problems.add(root->place, "the campaign is empty", "keys and values; see scenarios/quick.yaml");
  }
  apply_options(text, *root, problems);
  Places places;
  fill(*root, campaign, places, problems);
  set_defaults(places, campaign);
  if (root->kind == Node::Kind::kMap) check_campaign(campaign, known, places, problems);
}

// A name that no phase has yet.
std::string free_name(const v1::Campaign& campaign) {
  const auto taken = [&campaign](const std::string& name) {
    const auto& all = campaign.extensions();
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name() == name; });
  };
  for (int number = campaign.extensions_size() + 1;; ++number) {
    std::string name = fmt::format("extension-{}", number);
    if (!taken(name)) return name;
  }
}

void apply_options(const v1::Campaign& campaign, const v1::ExtensionText& text, Node& root,
                   Problems& problems) {
  if (text.has_name()) {
    apply_option("--name", "name", text.name(), root, problems);
  } else if (root.find("name") == nullptr) {
    apply_option("--name", "name", free_name(campaign), root, problems);
  }
  const auto number = [&](std::string_view option, std::string_view key, uint64_t value) {
    apply_option(option, key, std::to_string(value), root, problems);
  };
  if (text.has_repetitions()) number("--repetitions", "repetitions", text.repetitions());
  if (text.has_seed()) number("--seed", "seed", text.seed());
  apply_selection({{"--cases", "cases", {text.cases().begin(), text.cases().end()}},
                   {"--paths", "paths", {text.paths().begin(), text.paths().end()}},
                   {"--workloads", "workloads", {text.workloads().begin(), text.workloads().end()}}},
                  root, problems);
}

void read(const v1::ExtensionText& text, Problems& problems, v1::Campaign& campaign) {
  std::optional<Node> root = read_tree(text.yaml(), Place{}, problems);
  if (!root) return;
  if (root->kind == Node::Kind::kNull) root->kind = Node::Kind::kMap;  // options may say all
  if (root->kind == Node::Kind::kMap) apply_options(campaign, text, *root, problems);
  Places places;
  const std::string path = fmt::format("extensions[{}]", campaign.extensions_size());
  places.set("extensions", root->place, root->place);
  places.set(path, root->place, root->place);
  fill(*root, *campaign.add_extensions(), places, problems, path);
  if (root->kind == Node::Kind::kMap) check_last_extension(campaign, places, problems);
}

}  // namespace

ReadResult read_extension(const v1::Campaign& campaign, const v1::ExtensionText& text) {
  Problems problems(text.file().empty() ? "extension" : text.file());
  ReadResult result;
  result.campaign = campaign;
  read(text, problems, result.campaign);
  result.problems = problems.list();
  return result;
}

ReadResult read_campaign(const v1::CampaignText& text, const Known& known) {
  Problems problems(text.file());
  ReadResult result;
  read(text, known, problems, result.campaign);
  result.problems = problems.list();
  return result;
}

std::string describe(const std::vector<v1::Problem>& problems) {
  std::string text;
  for (const v1::Problem& problem : problems) {
    text += fmt::format("{}:{}:{}: {}; expected {}\n", problem.file(), problem.line(), problem.column(),
                        problem.message(), problem.expected());
  }
  return text;
}

}  // namespace hopyard::plan
