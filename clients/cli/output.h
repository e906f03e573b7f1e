// SPDX-License-Identifier: Apache-2.0
// Messages as JSON and statuses as words, for every command alike.
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

// Proto JSON with the names of the proto files; fields without a value are there too. Indented, with a
// newline.
std::string json(const google::protobuf::Message& message);
// The same in one line.
std::string json_line(const google::protobuf::Message& message);

// "RUNNING", "DONE" …
std::string state_name(v1::CampaignState state);
std::string verdict_name(v1::Verdict verdict);
bool has_ended(v1::CampaignState state);
// "4,920 trials, 8,200,000 rows, 300,120 checks, 12,000 figures: all hold", or what the first finding is.
std::string verification_words(const v1::Verification& verification);
// Exit code of a campaign's end: done, done with failed trials, or not done (or done, but not as its evidence
// says).
int exit_code(const v1::CampaignStatus& status);
// "12 of 12 trials: 11 passed, 1 failed, 0 invalid; kernel debian-uml (guest), clock real"
std::string progress_words(const v1::CampaignStatus& status);
// How fast a campaign of the virtual clock ran, as a line; empty where that says nothing.
std::string pace_words(const v1::CampaignStatus& status);

}  // namespace hopyard::cli
