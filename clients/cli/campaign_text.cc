// SPDX-License-Identifier: Apache-2.0
// Reads a file and packs the options beside its text.
#include "cli/campaign_text.h"

#include <algorithm>

#include "base/fd.h"
#include "base/text.h"
#include "fmt/format.h"

namespace hopyard::cli {

namespace {

absl::StatusOr<std::string> read_yaml(const std::string& file) {
  constexpr size_t kLargestFile = 1 << 20;
  auto yaml = base::read_file(file, kLargestFile);
  if (!yaml.ok()) return absl::InvalidArgumentError(yaml.status().message());
  if (const size_t good = base::valid_utf8_prefix(*yaml); good < yaml->size()) {
    // A text that cannot be sent: said here in the daemon's form.
    const std::string_view before(yaml->data(), good);
    const size_t begin = before.rfind('\n') + 1;  // 0 in the first line
    return absl::InvalidArgumentError(
        fmt::format("{}:{}:{}: a byte that is not UTF-8; expected text in UTF-8", file,
                    std::count(before.begin(), before.end(), '\n') + 1, good - begin + 1));
  }
  return yaml;
}

}  // namespace

absl::StatusOr<v1::CampaignText> campaign_text(const CampaignOptions& options) {
  HOPYARD_ASSIGN_OR_RETURN(std::string yaml, read_yaml(options.file));
  v1::CampaignText text;
  text.set_file(options.file);
  text.set_yaml(std::move(yaml));
  for (const auto& change : options.set) text.add_set(change);
  if (options.repetitions) text.set_repetitions(*options.repetitions);
  if (options.seed) text.set_seed(*options.seed);
  if (options.kernel) text.set_kernel(*options.kernel);
  if (options.clock) text.set_clock(*options.clock);
  return text;
}

absl::StatusOr<v1::ExtensionText> extension_text(const ExtensionOptions& options) {
  v1::ExtensionText text;
  if (!options.file.empty()) {
    HOPYARD_ASSIGN_OR_RETURN(std::string yaml, read_yaml(options.file));
    text.set_file(options.file);
    text.set_yaml(std::move(yaml));
  }
  if (options.name) text.set_name(*options.name);
  if (options.repetitions) text.set_repetitions(*options.repetitions);
  if (options.seed) text.set_seed(*options.seed);
  text.mutable_cases()->Assign(options.cases.begin(), options.cases.end());
  text.mutable_paths()->Assign(options.paths.begin(), options.paths.end());
  text.mutable_workloads()->Assign(options.workloads.begin(), options.workloads.end());
  return text;
}

}  // namespace hopyard::cli
