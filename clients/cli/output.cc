// SPDX-License-Identifier: Apache-2.0
// Protobuf to JSON, status to one line on standard error.
#include "cli/output.h"

#include <google/protobuf/util/json_util.h>

#include "cli/command.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

std::string to_json(const google::protobuf::Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  if (const auto status = google::protobuf::util::MessageToJsonString(message, &text, options); !status.ok())
    return fmt::format("{{\"error\": \"{}\"}}", status.ToString());
  return text;
}

}  // namespace

std::string json(const google::protobuf::Message& message) {
  std::string text = to_json(message, true);
  return text.ends_with('\n') ? text : text + "\n";
}

std::string json_line(const google::protobuf::Message& message) { return to_json(message, false) + "\n"; }

std::string state_name(v1::CampaignState state) { return v1::CampaignState_Name(state); }
std::string verdict_name(v1::Verdict verdict) { return v1::Verdict_Name(verdict); }

bool has_ended(v1::CampaignState state) {
  return state == v1::DONE || state == v1::CANCELLED || state == v1::INTERRUPTED || state == v1::ABORTED;
}

std::string verification_words(const v1::Verification& verification) {
  const auto number = [](uint64_t value) {
    std::string text = std::to_string(value);
    for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
  };
  std::string text =
      fmt::format("{} trials, {} rows, {} checks, {} figures: ", number(verification.trials()),
                  number(verification.rows()), number(verification.checks()), number(verification.figures()));
  if (verification.findings() == 0) return text + "all hold";
  return text + fmt::format("{} do NOT hold; the first: {}", number(verification.findings()),
                            verification.first_finding());
}

int exit_code(const v1::CampaignStatus& status) {
  if (status.state() != v1::DONE || status.verification().findings() > 0) return kFailed;
  return status.failed() + status.invalid() > 0 ? kTrialsFailed : kDone;
}

std::string progress_words(const v1::CampaignStatus& status) {
  std::string text = fmt::format("{} of {} trials: {} passed, {} failed, {} invalid",
                                 status.passed() + status.failed() + status.invalid(), status.trials(),
                                 status.passed(), status.failed(), status.invalid());
  if (!status.kernel().empty()) text += "; kernel " + status.kernel();
  if (!status.execution().empty()) text += " (" + status.execution() + ")";
  if (!status.clock().empty()) text += ", clock " + status.clock();
  return text;
}

std::string pace_words(const v1::CampaignStatus& status) {
  const v1::Pace& pace = status.pace();
  if (status.clock() != "virtual" || pace.wall_ns() == 0) return "";
  const double connections_s = static_cast<double>(pace.connection_ns()) / 1e9;
  const double wall_s = static_cast<double>(pace.wall_ns()) / 1e9;
  return fmt::format(
      "{:.1f} virtual seconds of connections in {:.1f} s: {:.2f} virtual seconds per wall second\n",
      connections_s, wall_s, connections_s / wall_s);
}

}  // namespace hopyard::cli
