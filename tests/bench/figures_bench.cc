// SPDX-License-Identifier: Apache-2.0
// What the figures of the whole record-sizing study cost at its end (4,920 trials), how soon they stop, and
// what a summary of them takes. Values are random; the schedule is the scenario's own.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "base/fd.h"
#include "fmt/format.h"
#include "places.h"
#include "plan/reader.h"
#include "plan/schedule.h"
#include "run/figures.h"
#include "store/store.h"

namespace hopyard::run {
namespace {

using std::chrono::steady_clock;

// A database with every trial of the study recorded; made once.
class Study {
 public:
  static const Study& get() {
    static const Study study;
    return study;
  }
  store::Store& store() const { return *store_; }

 private:
  Study() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hopyard-bench-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store_ = store::Store::open(folder_ + "/hopyard.db").value();
    v1::CampaignText text;
    text.set_yaml(base::read_file(HOPYARD_SOURCE_DIR "/scenarios/record-sizing.yaml").value());
    store::CampaignRow row{.id = "study", .text_sha256 = std::string(64, 'a')};
    row.campaign = plan::read_campaign(text, {{"stock", "adaptive", "static4k"}, {}}).campaign;
    std::vector<store::PlannedRow> planned;
    const v1::Plan plan = plan::make_plan(row.campaign);
    for (const auto& one : plan.schedule()) planned.push_back({fmt::format("study/{}", one.index()), one});
    check(store_->add_campaign(row, planned));
    for (const auto& one : planned) record(row.campaign, one);
  }
  ~Study() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  static void check(const absl::Status& status) {
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }

  void record(const v1::Campaign& campaign, const store::PlannedRow& row) {
    v1::TrialResult result;
    result.set_trial_id(row.trial_id);
    result.set_verdict(v1::PASSED);
    int64_t now = 1'000'000'000;
    for (const v1::Workload& workload : campaign.workloads()) {
      if (workload.name() != row.planned.workload()) continue;
      for (const v1::Request& request : workload.requests()) {
        v1::Response& response = *result.mutable_client()->add_responses();
        response.set_role(request.name());
        response.set_protocol(workload.protocol());
        response.set_request_start_ns(now);
        const auto step = [&] { return now += 1'000'000 + static_cast<int64_t>(random_() % 20'000'000); };
        response.set_first_decrypted_ns(step());
        response.set_first_body_ns(step());
        response.set_body_1024_ns(step());
        if (request.body_bytes() >= 4096) response.set_body_4096_ns(step());
        if (request.body_bytes() >= 8192) response.set_body_8192_ns(step());
        if (workload.protocol() == "h2") response.set_first_data_frame_ns(step());
        response.set_complete_ns(step());
      }
    }
    check(store_->record_trial("study", result, {.execution = "guest", .kernel_release = "6.1"}));
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  std::mt19937_64 random_{20261002};
};

void FiguresOfTheWholeStudy(benchmark::State& state) {
  store::Store& store = Study::get().store();
  for (auto _ : state) {
    const absl::Status done = record_figures(store, "study", {});
    if (!done.ok()) state.SkipWithError(done.ToString().c_str());
  }
  if (!store.set_state("study", v1::DONE, "").ok()) state.SkipWithError("no state");
}
BENCHMARK(FiguresOfTheWholeStudy)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(1);

void StoppingThem(benchmark::State& state) {
  store::Store& store = Study::get().store();
  for (auto _ : state) {
    std::stop_source stop;
    absl::Status ended;
    std::thread computing([&] { ended = record_figures(store, "study", stop.get_token()); });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // somewhere in the middle
    const auto asked = steady_clock::now();
    stop.request_stop();
    computing.join();
    state.SetIterationTime(std::chrono::duration<double>(steady_clock::now() - asked).count());
    if (!absl::IsCancelled(ended)) state.SkipWithError("it had ended before");
  }
}
BENCHMARK(StoppingThem)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(3);

void SummaryOfThem(benchmark::State& state) {
  size_t figures = 0;
  for (auto _ : state) {
    const auto summary = summarise(Study::get().store(), "study");
    if (!summary.ok()) state.SkipWithError(summary.status().ToString().c_str());
    figures = static_cast<size_t>(summary->cells_size() + summary->equivalences_size() +
                                  summary->interactions_size());
  }
  state.counters["figures"] = static_cast<double>(figures);
}
BENCHMARK(SummaryOfThem)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hopyard::run

BENCHMARK_MAIN();
