// SPDX-License-Identifier: Apache-2.0
// A server that computes for ever stops its guest's virtual clock, and with it every deadline inside: the guest
// is ended from outside, its trial has failed, and the others have their results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "places.h"
#include "run/ids.h"
#include "run/lane.h"
#include "unit/run/temp_dir.h"

namespace hopyard::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr char kId[] = "20260101-000000-hang-0000";
constexpr char kSpins[] = "spins";
constexpr char kStock[] = "stock";

ReadyVariant variant(const std::string& name, const std::string& nginx) {
  ReadyVariant ready{.inputs = {"nothing"}, .binary_sha256 = std::string(64, 'b')};
  ready.build.set_variant(name);
  ready.build.set_sha256(std::string(64, 'c'));
  ready.build.set_nginx_path(nginx);
  ready.build.mutable_records()->set_fragment_bytes(16384);
  return ready;
}

std::string spinning_server(const std::string& path) {
  std::ofstream(path) << "#!/bin/sh\nwhile :; do :; done\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

// A case for each variant, one response of 1 KiB on a routed path.
store::CampaignRow campaign() {
  store::CampaignRow row{
      .id = kId, .file = "hang.yaml", .text = "name: hang", .text_sha256 = std::string(64, 'a')};
  row.campaign.set_name("hang");
  row.campaign.set_clock(kVirtualClock);
  for (const char* name : {kSpins, kStock}) {
    row.campaign.add_cases()->set_name(name);
    row.campaign.mutable_cases(row.campaign.cases_size() - 1)->set_variant(name);
  }
  auto* path = row.campaign.add_paths();
  path->set_name("clean");
  path->set_kind("routed");
  path->set_rtt_ns(20'000'000);
  path->set_limit_packets(1000);
  auto* workload = row.campaign.add_workloads();
  workload->set_name("h1-1k");
  workload->set_protocol("h1");
  workload->add_requests()->set_name("body");
  workload->mutable_requests(0)->set_body_bytes(1024);
  return row;
}

std::vector<store::PlannedRow> plan(const std::vector<std::string>& cases) {
  std::vector<store::PlannedRow> rows;
  for (const auto& name : cases) {
    const auto index = static_cast<uint32_t>(rows.size());
    store::PlannedRow& row = rows.emplace_back();
    row.trial_id = trial_id(kId, index);
    row.planned.set_index(index);
    row.planned.set_block(index);
    row.planned.set_case_name(name);
    row.planned.set_path("clean");
    row.planned.set_workload("h1-1k");
    row.planned.set_kernel("uml-6.12");
  }
  return rows;
}

std::chrono::nanoseconds patience(const v1::TrialSpec& trial) {
  return trial.case_().name() == kSpins ? 5s : 60s;
}

TEST(VirtualClock, AGuestThatAServerHangsIsEndedAndTheRestGoesOn) {
  const TempDir folder;
  auto store = store::Store::open(folder / "test.db");
  ASSERT_TRUE(store.ok()) << store.status();
  const auto row = campaign();
  const auto planned = plan({kStock, kSpins, kStock});
  ASSERT_TRUE((*store)->add_campaign(row, planned).ok());
  Events events;
  Recorder recorder(**store, events, row, "test");
  recorder.add_variant(kStock, variant(kStock, HOPYARD_BUILD_DIR "/servers/stock"));
  recorder.add_variant(kSpins, variant(kSpins, spinning_server(folder / kSpins)));
  TrialPool pool(planned, 1);
  const std::map<std::string, execute::KernelOption> kernels = {
      {"uml-6.12",
       {.name = "uml-6.12", .usable = true, .virtual_clock = true, .program = HOPYARD_BUILD_DIR "/kernels/uml-6.12"}}};
  const absl::Status ran = Lane(pool, recorder, kernels, {}, patience).run({});
  EXPECT_TRUE(ran.ok()) << ran;
  const auto outcomes = *(*store)->outcomes(kId);
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].verdict(), v1::PASSED) << outcomes[0].reason();
  EXPECT_EQ(outcomes[1].verdict(), v1::FAILED);
  EXPECT_THAT(outcomes[1].reason(), HasSubstr("hung"));
  EXPECT_EQ(outcomes[2].verdict(), v1::PASSED) << outcomes[2].reason();
}

}  // namespace
}  // namespace hopyard::run
