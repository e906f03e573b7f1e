// SPDX-License-Identifier: Apache-2.0
// A campaign's events as text: one line that is rewritten on a terminal, plain lines in a log. Pure: time
// comes in, text goes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

class Progress {
 public:
  // `width`: the terminal's columns; 0: a log.
  explicit Progress(unsigned width) : width_(width) {}

  // What to write now; may be empty. `now_ns` on any steady clock.
  std::string on_event(const v1::CampaignEvent& event, int64_t now_ns);
  // What clears the rewritten line, so that other text can follow.
  std::string finish();

 private:
  std::string message(const std::string& text);
  std::string bar(int64_t now_ns);
  std::string line(const v1::TrialOutcome& outcome, int64_t now_ns) const;
  std::string eta(int64_t now_ns) const;

  unsigned width_;
  v1::CampaignStatus status_;
  std::string cell_;
  std::string block_;
  std::optional<int64_t> first_start_ns_;
  uint32_t done_at_start_ = 0;
  bool drawn_ = false;
};

}  // namespace hopyard::cli
