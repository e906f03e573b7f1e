// SPDX-License-Identifier: Apache-2.0
// Draws the bar and writes the lines.
#include "cli/progress.h"

#include <algorithm>

#include "cli/phase_text.h"
#include "cli/table.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

constexpr char kClear[] = "\r\x1b[K";
constexpr unsigned kBarColumns = 20;

uint32_t done(const v1::CampaignStatus& status) {
  return status.passed() + status.failed() + status.invalid();
}

std::string cell_name(const v1::PlannedTrial& trial) {
  return fmt::format("{} × {} × {}", trial.case_name(), trial.path(), trial.workload());
}

const char* verdict_word(v1::Verdict verdict) {
  return verdict == v1::PASSED ? "passed" : verdict == v1::FAILED ? "FAILED" : "INVALID";
}

}  // namespace

std::string Progress::on_event(const v1::CampaignEvent& event, int64_t now_ns) {
  status_ = event.status();
  switch (event.event_case()) {
    case v1::CampaignEvent::kLog:
      return message(event.log());
    case v1::CampaignEvent::kStarted:
      if (!first_start_ns_) {
        first_start_ns_ = now_ns;
        done_at_start_ = done(status_);
      }
      cell_ = cell_name(event.started());
      block_ = block_words(event.started());
      return width_ > 0 ? bar(now_ns) : "";
    case v1::CampaignEvent::kFinished:
      if (width_ == 0) return line(event.finished(), now_ns);
      return (event.finished().verdict() == v1::PASSED ? "" : message(line(event.finished(), now_ns))) +
             bar(now_ns);
    default:
      return "";
  }
}

std::string Progress::finish() {
  const bool clear = drawn_;
  drawn_ = false;
  return clear ? kClear : "";
}

std::string Progress::message(const std::string& text) {
  std::string out = finish() + text;
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

std::string Progress::eta(int64_t now_ns) const {
  const uint32_t measured = done(status_) - std::min(done_at_start_, done(status_));
  if (!first_start_ns_ || measured == 0) return "";
  const double each = static_cast<double>(now_ns - *first_start_ns_) / measured;
  return duration(static_cast<int64_t>(each * (status_.trials() - done(status_)))) + " left";
}

std::string Progress::bar(int64_t now_ns) {
  const uint32_t total = std::max(status_.trials(), 1u);
  const unsigned filled = std::min(kBarColumns, done(status_) * kBarColumns / total);
  std::string text =
      fmt::format("[{:-<{}}] {}/{}", std::string(filled, '#'), kBarColumns, done(status_), total);
  text += fmt::format("  {} passed, {} failed", status_.passed(), status_.failed() + status_.invalid());
  if (const std::string left = eta(now_ns); !left.empty()) text += "  " + left;
  text += fmt::format("  {}: {}", block_, cell_);
  // Cut by code points: a line that wraps cannot be rewritten.
  size_t columns = 0, end = 0;
  while (end < text.size() && ((text[end] & 0xc0) == 0x80 || columns + 1 < width_)) {
    if ((text[end] & 0xc0) != 0x80) ++columns;
    ++end;
  }
  drawn_ = true;
  return kClear + text.substr(0, end);
}

std::string Progress::line(const v1::TrialOutcome& outcome, int64_t now_ns) const {
  std::string text =
      fmt::format("{}/{}  {}  {}  {}", done(status_), status_.trials(), block_words(outcome.trial()),
                  cell_name(outcome.trial()), verdict_word(outcome.verdict()));
  if (outcome.verdict() != v1::PASSED) text += ": " + outcome.reason();
  text += fmt::format("  ({:.1f} s)", static_cast<double>(outcome.wall_ns()) / 1e9);
  if (const std::string left = eta(now_ns); !left.empty() && width_ == 0) text += "  " + left;
  return text + "\n";
}

}  // namespace hopyard::cli
