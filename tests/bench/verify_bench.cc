// SPDX-License-Identifier: Apache-2.0
// The whole record-sizing study out of real trials: 4,920 of them, recorded through the store from twelve
// that ran in a guest. What recording one costs, how large the file is, how long a summary and a verification
// take.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "unit/verify/evidence.h"

namespace hopyard::verify {
namespace {

constexpr unsigned kTrials = 4920;
constexpr unsigned kPaths = 3, kWorkloads = 7, kBlocks = 50;
constexpr const char* kCases[] = {"A", "B", "C", "D", "E"};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A real trial, and what of its campaign its copies keep.
struct Original {
  v1::TrialResult result;
  v1::Path path;
  v1::Workload workload;
  v1::Case one_case;
};

template <typename Named>
const Named& named(const google::protobuf::RepeatedPtrField<Named>& list, const std::string& name) {
  return *std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name() == name; });
}

// Copies differ by a few ns in what is told once or everywhere alike: all instants move together.
v1::TrialResult copy_of(const Original& original, const std::string& id, int64_t later_ns) {
  v1::TrialResult copy = original.result;
  copy.set_trial_id(id);
  for (v1::Response& response : *copy.mutable_client()->mutable_responses())
    response.set_request_start_ns(response.request_start_ns() - later_ns);
  return copy;
}

// 5 cases x 3 paths x 7 workloads x 50 blocks, cut at 4,920: every path and workload is a real one under
// another name.
void record_study(const std::string& old_path, store::Store& study, std::vector<double>& milliseconds) {
  const auto old = store::Store::open(old_path).value();
  const store::CampaignRow campaign = old->campaign("last").value();
  std::vector<Original> originals;
  std::map<std::string, size_t> of_case;
  const std::vector<store::PlannedRow> recorded = old->planned("last").value();
  for (const auto& row : recorded) {
    const auto& planned = row.planned;
    originals.push_back({old->trial(row.trial_id)->result(), named(campaign.campaign.paths(), planned.path()),
                         named(campaign.campaign.workloads(), planned.workload()),
                         named(campaign.campaign.cases(), planned.case_name())});
  }
  // Competitions on the lossy path have most rows; they stand for all.
  std::erase_if(originals, [](const Original& one) { return one.workload.protocol() != "h2"; });
  store::CampaignRow row = campaign;
  row.id = "study";
  v1::Campaign& asked = row.campaign;
  asked.clear_cases();
  asked.clear_paths();
  asked.clear_workloads();
  asked.clear_cells();
  for (size_t i = 0; i < std::size(kCases); ++i) {
    *asked.add_cases() = originals[i % originals.size()].one_case;
    asked.mutable_cases(static_cast<int>(i))->set_name(kCases[i]);
  }
  for (unsigned i = 0; i < kPaths; ++i) {
    *asked.add_paths() = originals[0].path;
    asked.mutable_paths(static_cast<int>(i))->set_name(fmt::format("path{}", i));
  }
  for (unsigned i = 0; i < kWorkloads; ++i) {
    *asked.add_workloads() = originals[0].workload;
    asked.mutable_workloads(static_cast<int>(i))->set_name(fmt::format("h2-{}", i));
  }
  std::vector<store::PlannedRow> planned;
  for (unsigned i = 0; planned.size() < kTrials; ++i) {
    const unsigned cell = i / kBlocks;
    store::PlannedRow& one = planned.emplace_back();
    one.trial_id = fmt::format("study.{:05}", i);
    one.planned.set_index(i);
    one.planned.set_block(i % kBlocks);
    one.planned.set_case_name(kCases[cell % std::size(kCases)]);
    one.planned.set_path(fmt::format("path{}", cell / std::size(kCases) % kPaths));
    one.planned.set_workload(fmt::format("h2-{}", cell / std::size(kCases) / kPaths));
    one.planned.set_kernel("auto");
  }
  if (!study.add_campaign(row, planned).ok()) std::abort();
  const store::Provenance provenance = provenance_of(old_path, old->planned("last")->at(0).trial_id);
  for (unsigned i = 0; i < kTrials; ++i) {
    const size_t place = i / kBlocks % std::size(kCases) % originals.size();
    const v1::TrialResult result = copy_of(originals[place], planned[i].trial_id, i % 97 * 1013);
    milliseconds.push_back(1e3 * seconds_of([&] {
                             if (!study.record_trial("study", result, provenance).ok()) std::abort();
                           }));
  }
}

void report(const std::string& folder) {
  const std::string old = folder + "/old.db", path = folder + "/study.db";
  write_version_1(old);
  auto study = store::Store::open(path).value();
  std::vector<double> milliseconds;
  record_study(old, *study, milliseconds);
  std::nth_element(milliseconds.begin(), milliseconds.begin() + kTrials / 2, milliseconds.end());
  fmt::print("record a trial, median: {:.2f} ms (limit 10)\n", milliseconds[kTrials / 2]);
  size_t figures = 0;
  fmt::print("summary of {} trials: {:.2f} s (limit 1)", kTrials,
             seconds_of([&] { figures = study->cells("study").value().size(); }));
  fmt::print(", {} rows of v_cell\n", figures);
  study.reset();
  fmt::print("database: {:.0f} MB (limit 500)\n",
             static_cast<double>(std::filesystem::file_size(path)) / 1e6);
  Report found;
  Options options;
  options.pairs_are_made = true;
  const double took = seconds_of([&] { found = verify_campaign(path, "study", options).value(); });
  fmt::print("verify: {:.1f} s (limit 120): {} trials, {} rows, {} checks, {} figures; {} findings\n", took,
             found.trials, found.rows, found.checks, found.figures, found.findings);
}

}  // namespace
}  // namespace hopyard::verify

int main() {
  const hopyard::store::TempFolder folder;
  hopyard::verify::report(folder.path().string());
}
