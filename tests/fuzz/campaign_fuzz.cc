// SPDX-License-Identifier: Apache-2.0
// Any bytes as a campaign: never a crash, a hang or an exception; every problem presentable; every good
// campaign plannable. What follows a NUL byte is a `--set`. Corpus to start from: tests/data/campaigns and
// scenarios.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "plan/reader.h"
#include "plan/schedule.h"

namespace hopyard::plan {
namespace {

// Planning the largest campaigns would only slow the search down.
constexpr uint32_t kPlannedRepetitions = 20;

void require(bool holds) {
  if (!holds) std::abort();
}

v1::CampaignText campaign_text(std::string_view input) {
  v1::CampaignText text;
  const size_t nul = input.find('\0');
  text.set_file("fuzz.yaml");
  text.set_yaml(std::string(input.substr(0, nul)));
  if (nul != std::string_view::npos) text.add_set(std::string(input.substr(nul + 1)));
  return text;
}

void check_problem(const v1::Problem& problem) {
  require(problem.line() >= 1 && problem.column() >= 1);
  require(!problem.file().empty() && !problem.message().empty() && !problem.expected().empty());
  for (const std::string* text : {&problem.file(), &problem.message(), &problem.expected()}) {
    require(base::valid_utf8_prefix(*text) == text->size());
    for (const char byte : *text) require(static_cast<unsigned char>(byte) >= 0x20);
  }
}

void check_plan(const v1::Campaign& campaign) {
  require(campaign.repetitions() > 0 && campaign.cases_size() > 0 && campaign.paths_size() > 0);
  if (campaign.repetitions() > kPlannedRepetitions) return;
  const v1::Plan plan = make_plan(campaign);
  require(plan.trials() > 0 && plan.trials() <= 100000);
  require(plan.responses() >= plan.connections());
  require(plan.phases_size() == 1 + campaign.extensions_size());
}

void run(std::string_view input) {
  const Known known{.variants = {"stock", "static4k", "adaptive"},
                    .kernels = {"host", "debian-uml", "uml-6.12"},
                    .virtual_kernels = {"uml-6.12"},
                    .directives = {{"adaptive", {"ssl_dyn_rec_enable"}}}};
  const ReadResult result = read_campaign(campaign_text(input), known);
  for (const v1::Problem& problem : result.problems) check_problem(problem);
  if (result.problems.empty()) check_plan(result.campaign);
}

}  // namespace
}  // namespace hopyard::plan

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hopyard::plan::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
