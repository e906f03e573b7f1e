// SPDX-License-Identifier: Apache-2.0
// See limits.h.
#include "report/limits.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "fmt/format.h"

namespace hopyard::report {
namespace {

using Limits = std::vector<std::string>;

void of_outcomes(const Model& model, Limits& limits) {
  const v1::CampaignStatus& status = model.rows.status;
  const uint32_t outcomes = status.passed() + status.failed() + status.invalid();
  if (outcomes < status.trials())
    limits.push_back(fmt::format(
        "{} of {} planned trials have no outcome: the figures are of the others, and blocks may be "
        "incomplete.",
        status.trials() - outcomes, status.trials()));
  if (outcomes > status.passed())
    limits.push_back(fmt::format(
        "{} failed and {} invalid trials give no times. What remains is a selection wherever such "
        "trials are not spread evenly; they are counted beside every n and listed under Evidence.",
        status.failed(), status.invalid()));
}

void of_clock(const Model& model, Limits& limits) {
  std::set<std::string> clocks, executions;
  for (const Cell& cell : model.cells) {
    clocks.insert(cell.clock);
    executions.insert(cell.execution);
  }
  if (clocks.count("virtual") > 0)
    limits.push_back(
        "The clock was virtual: computing takes no time. This cannot show what processors cost or how "
        "programs contend for "
        "them, and a difference below the clock’s step of 256 ns is none. Trials without loss repeat to the "
        "last "
        "nanosecond, so the spread of samples, the intervals and p say nothing about a real machine’s noise; "
        "where flows "
        "or streams compete, every trial here is one and the same of the many that are possible.");
  if (clocks.count("real") > 0)
    limits.push_back(
        "The clock was real: the noise of the machine, and whatever else it did, is in every figure. The "
        "load when each "
        "trial began is in v_environment.");
  if (executions.count("guest") > 0 && clocks.count("real") > 0)
    limits.push_back(
        "Trials ran in a User-Mode Linux guest: its kernel is another than the machine’s and everything is "
        "slower a byte, so "
        "fast rates and processor time a record come nearer to their limits than on the machine itself.");
  if (model.several_hosts)
    limits.push_back(
        "Trials ran on several kernels, clocks or hosts. Their figures stand apart and differ for reasons "
        "that the "
        "experiment does not control.");
}

struct Threshold {
  uint32_t percentile;
  uint32_t samples;
};
constexpr Threshold kThresholds[] = {{90, 50}, {95, 100}, {99, 500}};

void of_samples(const Model& model, Limits& limits) {
  if (model.cells.empty()) return;
  size_t least = SIZE_MAX, most = 0;
  for (const Cell& cell : model.cells) {
    least = std::min(least, cell.trials.size());
    most = std::max(most, cell.trials.size());
  }
  std::vector<std::string> absent;
  for (const auto& [percentile, samples] : kThresholds) {
    const auto too_few = std::count_if(model.cells.begin(), model.cells.end(),
                                       [n = samples](const Cell& cell) { return cell.trials.size() < n; });
    if (too_few == 0) continue;
    absent.push_back(fmt::format("p{} (from {} samples) in {}", percentile, samples,
                                 static_cast<size_t>(too_few) == model.cells.size()
                                     ? "every cell"
                                     : fmt::format("{} of {} cells", too_few, model.cells.size())));
  }
  std::string text = least == most ? fmt::format("Every cell has {} passed trials.", most)
                                   : fmt::format("Cells have {} to {} passed trials.", least, most);
  if (!absent.empty())
    text += fmt::format(
        " A percentile is given only where at least five samples lie beyond it; absent are {}. The "
        "observed minimum and maximum estimate nothing.",
        absl::StrJoin(absent, ", "));
  limits.push_back(text);
}

void of_pairs(const Model& model, Limits& limits) {
  size_t comparisons = 0, without_interval = 0;
  for (const Milestone& milestone : model.milestones) {
    comparisons += milestone.pairs.size();
    for (const auto* pair : milestone.pairs) without_interval += pair->has_ci_low_ns() ? 0 : 1;
  }
  if (comparisons == 0) return;
  if (without_interval > 0)
    limits.push_back(
        fmt::format("{} of {} paired differences have no interval: that takes six pairs, and with fewer p "
                    "cannot fall below 0.05 whatever was measured.",
                    without_interval, comparisons));
  limits.push_back(
      fmt::format("p and intervals are not corrected for the {} comparisons shown here. If nothing differed, "
                  "about {} of them would "
                  "still show p below 0.05. Decide beforehand which comparison answers the question. A large "
                  "p is no evidence of "
                  "equality.",
                  comparisons, (comparisons + 10) / 20));
}

std::vector<std::string> paths_where(const Model& model, bool (*holds)(const v1::Path&)) {
  std::vector<std::string> names;
  for (const v1::Path& path : model.rows.campaign.campaign.paths()) {
    if (holds(path)) names.push_back(path.name());
  }
  return names;
}

void of_paths(const Model& model, Limits& limits) {
  const auto lossy = paths_where(model, [](const v1::Path& path) { return path.loss() > 0; });
  if (!lossy.empty())
    limits.push_back(
        fmt::format("On {} losses are not paired: cases that cut a response differently draw differently "
                    "from the generator of losses, "
                    "so the same seed does not lose the same bytes. Differences there compare distributions, "
                    "are often skewed (signs and "
                    "median are the safer reading) and need many repetitions.",
                    absl::StrJoin(lossy, ", ")));
  const auto loopback = paths_where(model, [](const v1::Path& path) { return path.kind() == "loopback"; });
  if (!loopback.empty())
    limits.push_back(fmt::format(
        "{}: netem sits on the loopback device, a sender’s own interface. Packets of up to 64 KiB "
        "hold several records, packets that wait there no longer count against TCP’s limit on its "
        "own queue, and what netem’s limit drops TCP learns at once. It is for comparison with "
        "work done that way only.",
        absl::StrJoin(loopback, ", ")));
  const auto local = paths_where(model, [](const v1::Path& path) { return path.kind() == "unix"; });
  if (!local.empty())
    limits.push_back(
        fmt::format("{}: a Unix-domain socket without TCP or impairment; records and writes are evidence, "
                    "times are not.",
                    absl::StrJoin(local, ", ")));
  std::vector<std::string> unsupported;
  for (const store::UnsupportedTally& one : model.rows.unsupported)
    unsupported.push_back(fmt::format("{} ({} trials)", one.what, one.trials));
  if (!unsupported.empty())
    limits.push_back(fmt::format("Asked of the kernel, which could not do or show it: {}.",
                                 absl::StrJoin(unsupported, "; ")));
}

void of_workloads(const Model& model, Limits& limits) {
  std::set<std::string> protocols;
  bool later = false;
  for (const v1::Workload& workload : model.rows.campaign.campaign.workloads()) {
    protocols.insert(workload.protocol());
    for (const v1::Request& request : workload.requests()) later |= request.after().has_body_bytes();
  }
  if (protocols.size() > 1)
    limits.push_back(
        "H1 and H2 milestones of the same name mean different instants where frames are involved; they are "
        "not to be "
        "compared with each other.");
  if (later)
    limits.push_back(
        "A later request is sent once enough of an earlier body was decrypted, and records and frames decide "
        "by how much that "
        "point is overshot. A short time from its own write is no gain if it was sent later: read “Request "
        "sent” and "
        "“Complete, from the first request” beside it.");
}

}  // namespace

std::vector<std::string> limits_of(const Model& model) {
  Limits limits;
  of_outcomes(model, limits);
  of_clock(model, limits);
  of_samples(model, limits);
  of_paths(model, limits);
  of_pairs(model, limits);
  of_workloads(model, limits);
  limits.push_back(
      "Path delay is constant and its loss independent unless the campaign’s text says otherwise; there are "
      "no competing flows, "
      "no wireless link and no segmentation offload. Browsers, many clients, resumed connections and HTTP/3 "
      "are not in it.");
  limits.push_back(
      "A result holds for the variants, settings, paths and kernel it was made with. No default of any "
      "product follows from "
      "it.");
  return limits;
}

}  // namespace hopyard::report
