// SPDX-License-Identifier: Apache-2.0
// The counters, in the text format that Prometheus reads.
#include "rpc/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <regex>

namespace hopyard::rpc {
namespace {

using testing::HasSubstr;

std::vector<v1::CampaignStatus> two_campaigns() {
  std::vector<v1::CampaignStatus> campaigns(2);
  campaigns[0].set_state(v1::RUNNING);
  campaigns[0].set_trials(12);
  campaigns[0].set_passed(5);
  campaigns[1].set_state(v1::DONE);
  campaigns[1].set_trials(4);
  campaigns[1].set_passed(2);
  campaigns[1].set_failed(1);
  campaigns[1].set_invalid(1);
  return campaigns;
}

TEST(Metrics, CountCampaignsByStateAndOutcomesByVerdict) {
  const std::string text = metrics_text(two_campaigns(), {.open_fds = 17});
  for (const char* line :
       {"hopyard_campaigns{state=\"running\"} 1\n", "hopyard_campaigns{state=\"queued\"} 0\n",
        "hopyard_trials 16\n", "hopyard_outcomes_total{verdict=\"passed\"} 7\n",
        "hopyard_outcomes_total{verdict=\"failed\"} 1\n", "hopyard_outcomes_total{verdict=\"invalid\"} 1\n",
        "process_open_fds 17\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, EveryLineIsHelpTypeOrASample) {
  const std::regex line(R"(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[a-z]+"\})? [0-9.e+]+)");
  std::istringstream text(metrics_text(two_campaigns(), process_figures("/proc/self/exe")));
  size_t lines = 0;
  for (std::string one; std::getline(text, one); ++lines) EXPECT_TRUE(std::regex_match(one, line)) << one;
  EXPECT_GT(lines, 20u);
}

TEST(Metrics, OfThisProcessAreRead) {
  const ProcessFigures figures = process_figures("/proc/self/exe");
  EXPECT_GT(figures.resident_bytes, 1u << 20);
  EXPECT_GE(figures.open_fds, 3u);
  EXPECT_LE(figures.start_unix_s, static_cast<double>(std::time(nullptr)) + 2);
  EXPECT_GT(figures.start_unix_s, static_cast<double>(std::time(nullptr)) - 3600);
  EXPECT_GT(figures.database_bytes, 0u);
}

}  // namespace
}  // namespace hopyard::rpc
