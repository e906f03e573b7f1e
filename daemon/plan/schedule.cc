// SPDX-License-Identifier: Apache-2.0
// Order and seeds come from SHA-256 over names, so a stranger can redo them with any tool.
#include "plan/schedule.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "base/digest.h"
#include "fmt/format.h"
#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "plan/cells.h"

namespace hopyard::plan {
namespace {

// 52 bits: the seed and its successor stay below 2^53, where JSON numbers end being exact.
constexpr size_t kSeedDigits = 13;

struct Placed {
  std::string digest;  // decides the place in the block
  v1::PlannedTrial trial;
};

Placed place(const v1::Campaign& campaign, const Phase& phase, uint32_t block, const std::string& kernel,
             const Cell& cell) {
  Placed placed;
  v1::PlannedTrial& trial = placed.trial;
  trial.set_phase(phase.name);
  trial.set_block(block);
  trial.set_kernel(kernel);
  trial.set_path(campaign.paths(cell.path).name());
  trial.set_workload(campaign.workloads(cell.workload).name());
  trial.set_case_name(campaign.cases(cell.the_case).name());
  placed.digest = base::sha256_hex(fmt::format("hopyard trial\n{}\n{}\n{}\n{}\n{}\n{}\n", phase.seed, block,
                                               kernel, trial.path(), trial.workload(), trial.case_name()));
  // The order is decided by the digest's front, the seed by its end: neither tells the other.
  uint64_t seed = 0;
  const std::string tail = placed.digest.substr(placed.digest.size() - kSeedDigits);
  if (absl::SimpleHexAtoi(tail, &seed)) trial.set_seed(seed + 1);
  return placed;
}

std::vector<std::string> kernels_of(const v1::Campaign& campaign) {
  if (campaign.kernel().empty()) return {"auto"};
  return {campaign.kernel().begin(), campaign.kernel().end()};
}

// The phase's block `repetition`, from 0; blocks are numbered through the whole campaign.
void add_block(const v1::Campaign& campaign, const Phase& phase, uint32_t repetition, v1::Plan& plan) {
  std::vector<Placed> placed;
  for (const std::string& kernel : kernels_of(campaign)) {
    for (const Cell& cell : phase.cells) {
      if (repetition >= cell.repetitions) continue;
      placed.push_back(place(campaign, phase, phase.first_block + repetition, kernel, cell));
    }
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.digest < b.digest; });
  uint32_t position = 0;
  for (Placed& next : placed) {
    next.trial.set_position(position++);
    next.trial.set_index(static_cast<uint32_t>(plan.schedule_size()));
    *plan.add_schedule() = std::move(next.trial);
  }
}

v1::Phase counts_of(const v1::Campaign& campaign, const Phase& phase) {
  const auto kernels = static_cast<uint32_t>(kernels_of(campaign).size());
  v1::Phase counts;
  counts.set_name(phase.name);
  counts.set_note(phase.note);
  counts.set_seed(phase.seed);
  counts.set_first_block(phase.first_block);
  counts.set_blocks(phase.blocks);
  counts.set_cells(static_cast<uint32_t>(phase.cells.size()) * kernels);
  for (const Cell& cell : phase.cells) {
    const auto requests = static_cast<uint32_t>(campaign.workloads(cell.workload).requests_size());
    counts.set_trials(counts.trials() + cell.repetitions * kernels);
    counts.set_responses(counts.responses() + cell.repetitions * kernels * requests);
  }
  return counts;
}

template <typename Items>
const typename Items::value_type* named(const Items& items, const std::string& name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name() == name; });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

v1::Plan make_plan(const v1::Campaign& campaign) {
  v1::Plan plan;
  *plan.mutable_campaign() = campaign;
  const std::vector<Phase> phases = phases_of(campaign);
  for (const Phase& phase : phases) {
    for (uint32_t i = 0; i < phase.blocks; ++i) add_block(campaign, phase, i, plan);
    v1::Phase& counts = *plan.add_phases() = counts_of(campaign, phase);
    plan.set_blocks(plan.blocks() + counts.blocks());
    plan.set_responses(plan.responses() + counts.responses());
  }
  plan.set_cells(static_cast<uint32_t>(cells_in_all(phases).size() * kernels_of(campaign).size()));
  plan.set_trials(static_cast<uint32_t>(plan.schedule_size()));
  plan.set_connections(plan.trials());
  return plan;
}

v1::TrialSpec trial_spec(const v1::Campaign& campaign, const v1::PlannedTrial& planned) {
  v1::TrialSpec spec;
  spec.set_block(planned.block());
  spec.set_position(planned.position());
  spec.set_seed(planned.seed());
  spec.set_kernel(planned.kernel());
  spec.set_clock(campaign.clock());
  if (const auto* the_case = named(campaign.cases(), planned.case_name())) *spec.mutable_case_() = *the_case;
  if (const auto* path = named(campaign.paths(), planned.path())) *spec.mutable_path() = *path;
  if (const auto* workload = named(campaign.workloads(), planned.workload()))
    *spec.mutable_workload() = *workload;
  return spec;
}

std::vector<std::string> option_lines(const v1::ExtensionText& text) {
  std::vector<std::string> lines;
  if (text.has_name()) lines.push_back("--name " + text.name());
  if (text.has_repetitions()) lines.push_back(fmt::format("--repetitions {}", text.repetitions()));
  if (text.has_seed()) lines.push_back(fmt::format("--seed {}", text.seed()));
  const auto list = [&lines](const char* option, const auto& names) {
    if (!names.empty()) lines.push_back(fmt::format("{} {}", option, absl::StrJoin(names, ",")));
  };
  list("--cases", text.cases());
  list("--paths", text.paths());
  list("--workloads", text.workloads());
  return lines;
}

std::string extension_hash(const v1::ExtensionText& text) {
  std::string all = text.yaml();
  for (const std::string& line : option_lines(text)) all += "\n" + line;
  return base::sha256_hex(all);
}

std::string campaign_hash(const v1::CampaignText& text) {
  std::string all = text.yaml();
  for (const std::string& set : text.set()) all += fmt::format("\n--set {}", set);
  if (text.has_repetitions()) all += fmt::format("\n--repetitions {}", text.repetitions());
  if (text.has_seed()) all += fmt::format("\n--seed {}", text.seed());
  if (text.has_kernel()) all += fmt::format("\n--kernel {}", text.kernel());
  if (text.has_clock()) all += fmt::format("\n--clock {}", text.clock());
  return base::sha256_hex(all);
}

}  // namespace hopyard::plan
