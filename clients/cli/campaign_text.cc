// SPDX-License-Identifier: Apache-2.0
// Reads the file and packs the options beside its text.
#include "cli/campaign_text.h"

#include "base/fd.h"

namespace hopyard::cli {

absl::StatusOr<v1::CampaignText> campaign_text(const CampaignOptions& options) {
  constexpr size_t kLargestFile = 1 << 20;
  auto yaml = base::read_file(options.file, kLargestFile);
  if (!yaml.ok()) return absl::InvalidArgumentError(yaml.status().message());
  v1::CampaignText text;
  text.set_file(options.file);
  text.set_yaml(*std::move(yaml));
  for (const auto& change : options.set) text.add_set(change);
  if (options.repetitions) text.set_repetitions(*options.repetitions);
  if (options.seed) text.set_seed(*options.seed);
  if (options.kernel) text.set_kernel(*options.kernel);
  if (options.clock) text.set_clock(*options.clock);
  return text;
}

}  // namespace hopyard::cli
