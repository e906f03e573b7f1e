// SPDX-License-Identifier: Apache-2.0
// Order and seeds come from SHA-256 over names, so a stranger can redo them with any tool.
#include "plan/schedule.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
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

Placed place(const v1::Campaign& campaign, uint32_t block, const std::string& kernel, const Cell& cell) {
  Placed placed;
  v1::PlannedTrial& trial = placed.trial;
  trial.set_block(block);
  trial.set_kernel(kernel);
  trial.set_path(campaign.paths(cell.path).name());
  trial.set_workload(campaign.workloads(cell.workload).name());
  trial.set_case_name(campaign.cases(cell.the_case).name());
  placed.digest =
      base::sha256_hex(fmt::format("hopyard trial\n{}\n{}\n{}\n{}\n{}\n{}\n", campaign.seed(), block, kernel,
                                   trial.path(), trial.workload(), trial.case_name()));
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

void add_block(const v1::Campaign& campaign, uint32_t block, const std::vector<Cell>& cells, v1::Plan& plan) {
  std::vector<Placed> placed;
  for (const std::string& kernel : kernels_of(campaign)) {
    for (const Cell& cell : cells) {
      if (block < cell.repetitions) placed.push_back(place(campaign, block, kernel, cell));
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
  const std::vector<Cell> cells = cells_of(campaign);
  const auto kernels = static_cast<uint32_t>(kernels_of(campaign).size());
  uint32_t blocks = 0;
  uint32_t responses = 0;
  for (const Cell& cell : cells) {
    blocks = std::max(blocks, cell.repetitions);
    const int requests = campaign.workloads(cell.workload).requests_size();
    responses += cell.repetitions * kernels * static_cast<uint32_t>(requests);
  }
  for (uint32_t block = 0; block < blocks; ++block) add_block(campaign, block, cells, plan);
  plan.set_cells(static_cast<uint32_t>(cells.size()) * kernels);
  plan.set_blocks(blocks);
  plan.set_trials(static_cast<uint32_t>(plan.schedule_size()));
  plan.set_connections(plan.trials());
  plan.set_responses(responses);
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
