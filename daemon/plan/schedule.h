// SPDX-License-Identifier: Apache-2.0
// A checked campaign -> its trials in the order in which they run. Pure: the same campaign always gives the
// same schedule, on any machine. Knows nothing of workers or results.
#pragma once

#include <string>
#include <vector>

namespace hopyard::v1 {
class Campaign;
class CampaignText;
class ExtensionText;
class Plan;
class PlannedTrial;
class TrialSpec;
}  // namespace hopyard::v1

namespace hopyard::plan {

// The campaign must have been read without problems. Block n holds every cell with more than n repetitions;
// a cell's place in a block and its trial's seed depend on the campaign's seed, the block and the cell's own
// names alone, so more repetitions, cases or paths never change what already ran. An extension's blocks come
// after all before it, in the order of its own seed: it leaves the schedule so far as it is.
v1::Plan make_plan(const v1::Campaign& campaign);

// The worker's order for one planned trial of that campaign; trial_id and build are left to the caller.
v1::TrialSpec trial_spec(const v1::Campaign& campaign, const v1::PlannedTrial& planned);

// SHA-256 (hex) of the file's text, so `sha256sum FILE`; where options changed the campaign, of the text and
// one line for each of them.
std::string campaign_hash(const v1::CampaignText& text);

// The options of an extension as the person gave them, "--cases D,F"; and the same hash of its text and
// these.
std::vector<std::string> option_lines(const v1::ExtensionText& text);
std::string extension_hash(const v1::ExtensionText& text);

}  // namespace hopyard::plan
