// SPDX-License-Identifier: Apache-2.0
// The campaign's hash; each trial's seed and its place in its block.
#include <cstdlib>
#include <map>

#include "base/digest.h"
#include "verify/consistency.h"

namespace hopyard::verify {
namespace {

constexpr size_t kSeedDigits = 13;
constexpr char kTrials[] = "trial";

std::string digest_of(const Asked& asked, const StoredTrial& trial) {
  std::string seed;
  for (const AskedPhase& phase : asked.phases) {
    if (trial.block >= phase.first_block) seed = phase.seed;
  }
  return base::sha256_hex(fmt::format("hopyard trial\n{}\n{}\n{}\n{}\n{}\n{}\n", seed, trial.block,
                                      trial.kernel_name, trial.path, trial.workload, trial.case_name));
}

void check_text(const Asked& asked, Findings& findings) {
  std::string text = asked.yaml;
  for (const std::string& change : asked.overrides)
    text += (change.starts_with("--") ? "\n" : "\n--set ") + change;
  findings.same("campaign", asked.id, "yaml_sha256", base::sha256_hex(text), asked.yaml_sha256,
                "SHA-256 of the text and the changes");
  for (const AskedPhase& phase : asked.phases) {
    if (phase.yaml_sha256.empty()) continue;
    const std::string all = phase.options.empty() ? phase.yaml : phase.yaml + "\n" + phase.options;
    findings.same("phase", phase.name, "yaml_sha256", base::sha256_hex(all), phase.yaml_sha256,
                  "SHA-256 of the text and the options");
  }
}

}  // namespace

void check_plan(const Asked& asked, const std::vector<StoredTrial>& trials, Findings& findings) {
  findings.set_trial("");
  check_text(asked, findings);
  std::map<int64_t, std::map<std::string, const StoredTrial*>> blocks;  // by digest
  for (const StoredTrial& trial : trials) {
    findings.set_trial(trial.id);
    const std::string digest = digest_of(asked, trial);
    const std::string tail = digest.substr(digest.size() - kSeedDigits);
    findings.same(kTrials, "", "seed", std::strtoull(tail.c_str(), nullptr, 16) + 1, trial.seed,
                  "the campaign's seed and the trial's names");
    blocks[trial.block][digest] = &trial;
  }
  int64_t index = 0;
  for (const auto& [number, block] : blocks) {
    int64_t position = 0;
    for (const auto& [digest, trial] : block) {
      findings.set_trial(trial->id);
      findings.same(kTrials, "", "position", position++, trial->position, "the order of the block's digests");
      findings.same(kTrials, "", "run_index", index++, trial->run_index, "blocks one after the other");
    }
  }
  findings.set_trial("");
}

}  // namespace hopyard::verify
