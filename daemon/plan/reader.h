// SPDX-License-Identifier: Apache-2.0
// A campaign file as text -> a checked v1::Campaign, or everything that is wrong with it and where.
// Opens no file, runs nothing, knows no YAML library.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::plan {

struct ReadResult {
  v1::Campaign campaign;              // defaults filled in (seed 1, clock real, kernel auto)
  std::vector<v1::Problem> problems;  // empty: the campaign may be planned and run
};

// What exists outside the file; names not listed are refused.
struct Known {
  std::vector<std::string> variants;
  std::vector<std::string> kernels;                            // beside "auto", which is always known
  std::vector<std::string> virtual_kernels;                    // those of them that have a virtual clock
  std::map<std::string, std::vector<std::string>> directives;  // of each variant that has some of its own
};

// Never throws. At most a hundred problems are listed, sources in the order file, --set, other options.
// A problem of a `--set` names that option as its file, on line 1, with the column inside its text.
ReadResult read_campaign(const v1::CampaignText& text, const Known& known);

// One extension of a campaign that was read before, put after those it has. The result's campaign has it; its
// problems are of the extension alone, or of what the campaign comes to with it.
ReadResult read_extension(const v1::Campaign& campaign, const v1::ExtensionText& text);

// "file:line:column: what is wrong; expected …", one a line.
std::string describe(const std::vector<v1::Problem>& problems);

}  // namespace hopyard::plan
