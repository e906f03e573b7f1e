// SPDX-License-Identifier: Apache-2.0
// Blocks are counted from 1 for people, from 0 everywhere else.
#include "cli/phase_text.h"

#include "cli/table.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

constexpr char kInitial[] = "initial";

using Align = Table::Align;

std::string blocks_of(const v1::Phase& phase) {
  const uint32_t end = phase.first_block() + phase.blocks();
  return fmt::format("{}–{}", phase.first_block() + 1, end);
}

}  // namespace

std::string planned_phases(const Phases& phases) {
  if (phases.size() < 2) return "";
  Table table({{"phase"},
               {"blocks", Align::kRight},
               {"cells", Align::kRight},
               {"trials", Align::kRight},
               {"responses", Align::kRight},
               {"seed", Align::kRight},
               {"note"}});
  for (const auto& phase : phases)
    table.add({phase.name(), blocks_of(phase), std::to_string(phase.cells()), std::to_string(phase.trials()),
               std::to_string(phase.responses()), std::to_string(phase.seed()), phase.note()});
  return table.text();
}

std::string counted_phases(const Phases& phases) {
  if (phases.size() < 2) return "";
  Table table({{"phase"},
               {"blocks", Align::kRight},
               {"cells", Align::kRight},
               {"trials", Align::kRight},
               {"passed", Align::kRight},
               {"failed", Align::kRight},
               {"invalid", Align::kRight},
               {"seed", Align::kRight},
               {"note"}});
  for (const auto& phase : phases)
    table.add({phase.name(), blocks_of(phase), std::to_string(phase.cells()), std::to_string(phase.trials()),
               std::to_string(phase.passed()), std::to_string(phase.failed()),
               std::to_string(phase.invalid()), std::to_string(phase.seed()), phase.note()});
  return table.text();
}

std::string phase_names(const Phases& phases) {
  std::string text;
  for (const auto& phase : phases) text += (text.empty() ? "" : " + ") + phase.name();
  return text;
}

std::string block_words(const v1::PlannedTrial& trial) {
  const bool initial = trial.phase().empty() || trial.phase() == kInitial;
  return fmt::format("{}block {}", initial ? "" : trial.phase() + " ", trial.block() + 1);
}

}  // namespace hopyard::cli
