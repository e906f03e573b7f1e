// SPDX-License-Identifier: Apache-2.0
// Names of campaigns and trials: readable, and in the order of submission when sorted as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hopyard::run {

// "20261130-220501-quick-3f9a": UTC time, the campaign's name, four random hex digits.
std::string new_campaign_id(std::string_view name, int64_t unix_ns);

// "20261130-220501-quick-3f9a.00007": the trial's place in the order of execution.
std::string trial_id(std::string_view campaign_id, uint32_t index);

}  // namespace hopyard::run
