// SPDX-License-Identifier: Apache-2.0
// What recording a trial costs, and a summary over a large study, on a real file. The evidence is shaped like
// that of 1 MiB downloads with small records.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "fmt/format.h"
#include "store/store.h"

namespace hopyard::store {
namespace {

constexpr unsigned kCases = 7;
constexpr unsigned kPaths = 3;
constexpr unsigned kBlocks = 50;
// 7 cases x 3 paths x 50 blocks, and the rest as further workloads: 4,920 trials in all.
constexpr unsigned kTrials = 4920;
constexpr unsigned kRecords = 300;

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hopyard-bench-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string database() const { return path_ + "/hopyard.db"; }

 private:
  std::string path_;
};

CampaignRow study() {
  CampaignRow row;
  row.id = "study";
  row.campaign.set_name("study");
  row.campaign.set_clock("real");
  for (unsigned i = 0; i < kCases; ++i)
    row.campaign.add_cases()->set_name(std::string(1, static_cast<char>('A' + i)));
  for (unsigned i = 0; i < kPaths; ++i) row.campaign.add_paths()->set_name(fmt::format("path{}", i));
  for (unsigned i = 0; i * kCases * kPaths * kBlocks < kTrials; ++i) {
    v1::Workload& workload = *row.campaign.add_workloads();
    workload.set_name(fmt::format("h2-competition-{}", i));
    workload.set_protocol("h2");
    v1::Request& bulk = *workload.add_requests();
    bulk.set_name("bulk");
    bulk.set_body_bytes(1 << 20);
    v1::Request& later = *workload.add_requests();
    later.set_name("later");
    later.set_body_bytes(4096);
  }
  return row;
}

std::vector<PlannedRow> plan(const v1::Campaign& campaign, unsigned trials) {
  std::vector<PlannedRow> rows;
  for (unsigned i = 0; i < trials; ++i) {
    PlannedRow& row = rows.emplace_back();
    row.trial_id = fmt::format("study-{:05}", i);
    const unsigned cell = i / kBlocks;
    row.planned.set_index(i);
    row.planned.set_block(i % kBlocks);
    row.planned.set_case_name(campaign.cases(static_cast<int>(cell % kCases)).name());
    row.planned.set_path(campaign.paths(static_cast<int>(cell / kCases % kPaths)).name());
    row.planned.set_workload(campaign.workloads(static_cast<int>(cell / kCases / kPaths)).name());
    row.planned.set_kernel("debian-uml");
  }
  return rows;
}

void add_client(v1::TrialResult& result, int64_t base) {
  v1::ClientEvidence& client = *result.mutable_client();
  client.set_tls_version("TLSv1.3");
  client.set_connect_start_ns(base);
  for (uint32_t i = 0; i < kRecords; ++i) {
    v1::TlsRecord& record = *client.add_records();
    record.set_seq(i);
    record.set_content(v1::DATA);
    record.set_outer_type(23);
    record.set_wire_bytes(4118);
    record.set_plaintext_bytes(4096);
    record.set_received_ns(base + i * 1650123);
    record.set_decrypted_ns(base + i * 1650123 + 9000);
    v1::H2Frame& frame = *client.add_frames();
    frame.set_seq(i);
    frame.set_stream(i % 2 * 2 + 1);
    frame.set_type("DATA");
    frame.set_length(8192);
    frame.set_first_byte_ns(base + i * 1650123);
    frame.set_complete_ns(base + i * 1650123 + 9000);
  }
  for (const char* role : {"bulk", "later"}) {
    v1::Response& response = *client.add_responses();
    response.set_role(role);
    response.set_protocol("h2");
    response.set_body_sha256(std::string(32, 'x'));
    response.set_request_start_ns(base + 60000000);
    response.set_request_written_ns(base + 60010000);
    response.set_first_decrypted_ns(base + 81000000);
    response.set_first_body_ns(base + 82000000);
    response.set_body_1024_ns(base + 82000000);
    response.set_body_4096_ns(base + 83000000);
    response.set_body_8192_ns(base + 84000000);
    response.set_first_data_frame_ns(base + 82000000);
    response.set_complete_ns(base + 510000000 + base % 7919);
  }
}

void add_kernel(v1::TrialResult& result, int64_t base) {
  for (int i = 0; i < 6; ++i) {
    v1::SocketSnapshot& socket = *result.add_sockets();
    socket.set_at("before");
    socket.set_side(i % 2 == 0 ? "client" : "server");
    socket.set_taken_ns(base + i);
    socket.set_local("192.0.2.1:443");
    socket.set_remote("198.51.100.1:" + std::to_string(30000 + base % 30000));
    for (int value = 0; value < 75; ++value) {
      (*socket.mutable_values())[fmt::format("tcpi_value_{}", value)] = static_cast<uint64_t>(value * 12345);
    }
  }
  for (int i = 0; i < 12; ++i) {
    v1::QdiscSnapshot& qdisc = *result.add_qdiscs();
    qdisc.set_at("before");
    qdisc.set_namespace_("router");
    qdisc.set_link(fmt::format("link{}", i % 4));
    qdisc.set_taken_ns(base + i);
    qdisc.set_kind("netem");
    qdisc.set_options_json(
        R"({"delay_ns":10000000,"rate_bps":20000000,"loss":0.001,"limit":10000,"seed":null})");
    qdisc.set_stats_json(fmt::format(R"({{"flows":{},"throttled":{}}})", base % 100, base % 1000));
  }
  v1::Environment& environment = *result.mutable_environment();
  environment.set_kernel_release("6.1.0-38-uml");
  environment.set_kernel_version("#1 Debian 6.1.147-1");
  environment.set_clock("real");
  for (int i = 0; i < 40; ++i) {
    v1::Setting& setting = *environment.add_sysctls();
    setting.set_name(fmt::format("server/net.ipv4.tcp_setting_{}", i));
    setting.set_value(std::to_string(i));
  }
  for (int i = 0; i < 4; ++i) {
    v1::Link& link = *environment.add_links();
    link.set_namespace_("router");
    link.set_name(fmt::format("link{}", i));
    link.set_mac(fmt::format("02:00:00:{:02x}:{:02x}:{:02x}", base % 251, base % 241, i));
    link.add_addresses("192.0.2.254/24");
    environment.add_routes(fmt::format("router 192.0.2.0/24 dev link{}", i));
    environment.add_neighbours(fmt::format("router 192.0.2.1 lladdr {} PERMANENT", link.mac()));
  }
}

// About 1,000 rows, as of a 1 MiB download in 4 KiB records.
v1::TrialResult trial(const std::string& id, unsigned number) {
  const int64_t base = 86400000000000 + int64_t{number} * 1300000007;
  v1::TrialResult result;
  result.set_trial_id(id);
  result.set_verdict(v1::PASSED);
  result.set_started_ns(base - 40000000);
  result.set_finished_ns(base + 700000000);
  add_client(result, base);
  v1::ServerEvidence& server = *result.mutable_server();
  server.set_config(std::string(1500, 'c') + std::to_string(number % 21));
  for (uint32_t i = 0; i < kRecords; ++i) {
    v1::SslWrite& write = *server.add_writes();
    write.set_seq(i);
    write.set_requested(16384);
    write.set_returned(i % 3 == 0 ? -1 : 4096);
    write.set_response(1);
  }
  add_kernel(result, base);
  for (int i = 0; i < 30; ++i) {
    v1::Check& check = *result.add_checks();
    check.set_name(fmt::format("check number {}", i));
    check.set_expected("as asked");
    check.set_seen(fmt::format("{} ns", base + i));
    check.set_outcome(v1::HOLDS);
  }
  return result;
}

Provenance provenance() {
  Provenance made;
  made.execution = "guest";
  made.tool_version = "0.1.0";
  made.build.set_variant("static4k");
  made.inputs = {std::string(200, 'i')};
  return made;
}

// A database with the first `trials` recorded.
std::unique_ptr<Store> recorded(const Folder& folder, unsigned trials) {
  auto store = Store::open(folder.database()).value();
  const CampaignRow row = study();
  const std::vector<PlannedRow> rows = plan(row.campaign, kTrials);
  if (!store->add_campaign(row, rows).ok()) std::abort();
  for (unsigned i = 0; i < trials; ++i) {
    if (!store->record_trial("study", trial(rows[i].trial_id, i), provenance()).ok()) std::abort();
  }
  return store;
}

// Every trial is timed by itself: the median is what counts, a mean hides the checkpoints.
void RecordTrial(benchmark::State& state) {
  const Folder folder;
  const auto store = recorded(folder, 20);  // texts are known by then
  unsigned number = 20;
  std::vector<double> milliseconds;
  for (auto _ : state) {
    const v1::TrialResult result = trial(fmt::format("study-{:05}", number), number);
    ++number;
    const int64_t start = base::monotonic_ns();
    const absl::Status done = store->record_trial("study", result, provenance());
    milliseconds.push_back(static_cast<double>(base::monotonic_ns() - start) / 1e6);
    state.SetIterationTime(milliseconds.back() / 1e3);
    if (!done.ok()) state.SkipWithError(done.ToString().c_str());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["max_ms"] = milliseconds.back();
}
BENCHMARK(RecordTrial)->Unit(benchmark::kMillisecond)->Iterations(400)->UseManualTime();

void SummaryOfALargeStudy(benchmark::State& state) {
  const Folder folder;
  const auto store = recorded(folder, kTrials);
  size_t figures = 0;
  for (auto _ : state) {
    const auto cells = store->cells("study");
    if (!cells.ok()) state.SkipWithError(cells.status().ToString().c_str());
    figures = cells->size();
  }
  state.counters["figures"] = static_cast<double>(figures);
  state.counters["database_MB"] = static_cast<double>(std::filesystem::file_size(folder.database())) / 1e6;
}
BENCHMARK(SummaryOfALargeStudy)->Unit(benchmark::kMillisecond)->UseRealTime();

void ReadTrial(benchmark::State& state) {
  const Folder folder;
  const auto store = recorded(folder, 20);
  for (auto _ : state) benchmark::DoNotOptimize(store->trial("study-00007"));
}
BENCHMARK(ReadTrial)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace hopyard::store

BENCHMARK_MAIN();
