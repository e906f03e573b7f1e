// SPDX-License-Identifier: Apache-2.0
// See words.h: the protocol's own names in lower case.
#include "store/words.h"

#include "absl/strings/ascii.h"

namespace hopyard::store {
namespace {

std::string upper(std::string_view word) {
  return absl::AsciiStrToUpper(absl::string_view(word.data(), word.size()));
}

}  // namespace

std::string word_of(v1::Verdict verdict) { return absl::AsciiStrToLower(v1::Verdict_Name(verdict)); }
std::string word_of(v1::CampaignState state) { return absl::AsciiStrToLower(v1::CampaignState_Name(state)); }

v1::Verdict verdict_of(std::string_view word) {
  v1::Verdict verdict = v1::VERDICT_UNSPECIFIED;
  return v1::Verdict_Parse(upper(word), &verdict) ? verdict : v1::VERDICT_UNSPECIFIED;
}

v1::CampaignState state_of(std::string_view word) {
  v1::CampaignState state = v1::CAMPAIGN_STATE_UNSPECIFIED;
  return v1::CampaignState_Parse(upper(word), &state) ? state : v1::CAMPAIGN_STATE_UNSPECIFIED;
}

}  // namespace hopyard::store
