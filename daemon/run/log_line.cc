// SPDX-License-Identifier: Apache-2.0
// Which fields an event has, and how they are written.
#include "run/log_line.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/ascii.h"
#include "fmt/format.h"
#include "run/ids.h"

namespace hopyard::run {
namespace {

std::string quoted(const std::string& value) {
  google::protobuf::Value text;
  text.set_string_value(value);
  std::string out;
  return google::protobuf::util::MessageToJsonString(text, &out).ok() ? out : "\"\"";
}

bool is_plain(std::string_view value) {
  return !value.empty() && value.find_first_of(" =\"\\\n\t") == std::string_view::npos;
}

bool has_ended(const v1::CampaignEvent& event) {
  return (event.has_log() || event.event_case() == v1::CampaignEvent::EVENT_NOT_SET) &&
         event.status().state() >= v1::DONE;
}

void add_outcome(LogFields& fields, const v1::TrialOutcome& outcome) {
  fields.emplace_back("trial", outcome.trial_id());
  fields.emplace_back("verdict", absl::AsciiStrToLower(v1::Verdict_Name(outcome.verdict())));
  fields.emplace_back("wall_ms", fmt::format("{}", outcome.wall_ns() / 1'000'000));
  if (!outcome.reason().empty()) fields.emplace_back("reason", outcome.reason());
}

}  // namespace

LogFields log_fields(const std::string& campaign_id, const v1::CampaignEvent& event) {
  LogFields fields = {{"event", "ended"}, {"campaign", campaign_id}};
  std::string& kind = fields[0].second;
  switch (event.event_case()) {
    case v1::CampaignEvent::kStarted:
      kind = "started";
      fields.emplace_back("trial", trial_id(campaign_id, event.started().index()));
      break;
    case v1::CampaignEvent::kFinished:
      kind = "finished";
      add_outcome(fields, event.finished());
      break;
    case v1::CampaignEvent::kLog:
      kind = "note";
      fields.emplace_back("message", event.log());
      break;
    case v1::CampaignEvent::EVENT_NOT_SET:
      break;
  }
  // A last event may carry a word besides: that the store could not take the end.
  if (!has_ended(event)) return fields;
  fields[0].second = "ended";  // not `kind`: the fields may have moved
  fields.emplace_back("state", absl::AsciiStrToLower(v1::CampaignState_Name(event.status().state())));
  if (!event.status().reason().empty()) fields.emplace_back("reason", event.status().reason());
  return fields;
}

bool is_bad_news(const v1::CampaignEvent& event) {
  if (event.has_finished()) return event.finished().verdict() != v1::PASSED;
  const v1::CampaignState state = event.status().state();
  return has_ended(event) && (state == v1::INTERRUPTED || state == v1::ABORTED);
}

std::string as_text(const LogFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, is_plain(value) ? value : quoted(value));
  return text;
}

std::string as_json(const LogFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", name, quoted(value));
  return text;
}

}  // namespace hopyard::run
