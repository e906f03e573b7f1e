// SPDX-License-Identifier: Apache-2.0
// A campaign's event as the fields of one log line. Logs nothing. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hopyard/v1/service.pb.h"

namespace hopyard::run {

// {name, value}, in order; "event" always, "campaign" and "trial" where there is one.
using LogFields = std::vector<std::pair<std::string, std::string>>;

LogFields log_fields(const std::string& campaign_id, const v1::CampaignEvent& event);
// Whether it says that a trial or a campaign did not go well.
bool is_bad_news(const v1::CampaignEvent& event);

// event=finished trial=… reason="two words"
std::string as_text(const LogFields& fields);
// "event":"finished","trial":"…": the members of a JSON object, without its braces.
std::string as_json(const LogFields& fields);

}  // namespace hopyard::run
