// SPDX-License-Identifier: Apache-2.0
// A campaign of small trials on the virtual clock, run by a lane without a daemon.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "places.h"
#include "run/ids.h"
#include "run/lane.h"
#include "unit/run/temp_dir.h"

namespace hopyard::run {

inline execute::KernelOption built_kernel(const std::string& name,
                                          std::vector<std::string> boot_options = {}) {
  return {.name = name,
          .usable = true,
          .virtual_clock = true,
          .program = HOPYARD_BUILD_DIR "/kernels/" + name,
          .boot_options = std::move(boot_options)};
}

// One routed path of 20 ms and one response of 1 KiB; a case is a server program.
class VirtualLane {
 public:
  struct Trial {
    std::string case_name, kernel;
  };

  explicit VirtualLane(const std::map<std::string, std::string>& servers) {
    row_.campaign.set_name("lane");
    row_.campaign.set_clock(kVirtualClock);
    for (const auto& [name, program] : servers) {
      auto& one = *row_.campaign.add_cases();
      one.set_name(name);
      one.set_variant(name);
    }
    auto& path = *row_.campaign.add_paths();
    path.set_name("clean");
    path.set_kind("routed");
    path.set_rtt_ns(20'000'000);
    path.set_limit_packets(1000);
    auto& workload = *row_.campaign.add_workloads();
    workload.set_name("h1-1k");
    workload.set_protocol("h1");
    workload.add_requests()->set_name("body");
    workload.mutable_requests(0)->set_body_bytes(1024);
    servers_ = servers;
  }

  // The outcomes, in the order of `trials`.
  std::vector<v1::TrialOutcome> run(const std::vector<Trial>& trials,
                                    const std::map<std::string, execute::KernelOption>& kernels,
                                    Lane::Patience patience) {
    const auto planned = plan(trials);
    store_ = store::Store::open(folder_ / "test.db").value();
    EXPECT_TRUE(store_->add_campaign(row_, planned).ok());
    Events events;
    Recorder recorder(*store_, events, row_, "test");
    for (const auto& [name, program] : servers_) recorder.add_variant(name, variant(name, program));
    TrialPool pool(planned, 1);
    const absl::Status ran = Lane(pool, recorder, kernels, needed_, std::move(patience)).run({});
    EXPECT_TRUE(ran.ok()) << ran;
    return store_->outcomes(kId).value();
  }
  v1::TrialResult result(size_t index) const {
    return store_->trial(trial_id(kId, static_cast<uint32_t>(index))).value().result();
  }

 private:
  static constexpr char kId[] = "20260101-000000-lane-0000";

  static std::vector<store::PlannedRow> plan(const std::vector<Trial>& trials) {
    std::vector<store::PlannedRow> rows;
    for (const auto& trial : trials) {
      const auto index = static_cast<uint32_t>(rows.size());
      store::PlannedRow& row = rows.emplace_back();
      row.trial_id = trial_id(kId, index);
      row.planned.set_index(index);
      row.planned.set_block(index);
      row.planned.set_case_name(trial.case_name);
      row.planned.set_path("clean");
      row.planned.set_workload("h1-1k");
      row.planned.set_kernel(trial.kernel);
    }
    return rows;
  }
  static ReadyVariant variant(const std::string& name, const std::string& nginx) {
    ReadyVariant ready{.inputs = {"nothing"}, .binary_sha256 = std::string(64, 'b')};
    ready.build.set_variant(name);
    ready.build.set_sha256(std::string(64, 'c'));
    ready.build.set_nginx_path(nginx);
    ready.build.mutable_records()->set_fragment_bytes(16384);
    return ready;
  }

  TempDir folder_;
  store::CampaignRow row_{
      .id = kId, .file = "lane.yaml", .text = "name: lane", .text_sha256 = std::string(64, 'a')};
  std::map<std::string, std::string> servers_;
  std::unique_ptr<store::Store> store_;
  const std::vector<std::string> needed_;
};

}  // namespace hopyard::run
