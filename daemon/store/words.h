// SPDX-License-Identifier: Apache-2.0
// Verdicts and states as the tables spell them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::store {

std::string word_of(v1::Verdict verdict);      // "passed", "failed", "invalid"
std::string word_of(v1::CampaignState state);  // "queued", "preparing", …
// …_UNSPECIFIED for any other word.
v1::Verdict verdict_of(std::string_view word);
v1::CampaignState state_of(std::string_view word);

}  // namespace hopyard::store
