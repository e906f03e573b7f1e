// SPDX-License-Identifier: Apache-2.0
// Whole trials and gates with real servers, over real fq and netem: record counts against the source
// experiments, and what a broken server turns into.
#include "trial/trial.h"

#include <sys/resource.h>

#include <map>

#include "base/fd.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"

namespace hopyard::trial {
namespace {

v1::RecordPolicy policy_of(const std::string& variant) {
  v1::RecordPolicy policy;
  policy.set_fragment_bytes(variant == "static4k" ? 4096 : 16384);
  policy.set_settings(variant == "static4k" || variant == "adaptive" ? 1 : 0);
  policy.set_dynamic(variant == "dyn_rec");
  if (variant == "adaptive") {
    policy.set_early_fragment_bytes(1024);
    policy.set_early_budget_bytes(8192);
    policy.set_transitions(1);
  }
  return policy;
}

v1::ServerBuild build_of(const std::string& variant) {
  v1::ServerBuild build;
  build.set_variant(variant);
  build.set_nginx_path(HOPYARD_BUILD_DIR "/servers/" + variant);
  *build.mutable_records() = policy_of(variant);
  return build;
}

// BBR with notsent 16384 on the clean path: 20 ms, 20 Mbit/s.
v1::TrialSpec spec_of(const std::string& variant, uint64_t buffer_bytes, const std::string& protocol) {
  v1::TrialSpec spec;
  spec.set_trial_id("test");
  spec.set_seed(11);
  v1::Case& on = *spec.mutable_case_();
  on.set_name(variant);
  on.set_variant(variant);
  on.mutable_server()->set_ssl_buffer_size_bytes(buffer_bytes);
  on.mutable_tcp()->set_congestion_control("bbr");
  on.mutable_tcp()->set_notsent_lowat_bytes(16384);
  v1::Path& path = *spec.mutable_path();
  path.set_name("clean");
  path.set_kind("routed");
  path.set_rtt_ns(20'000'000);
  path.set_rate_bps(20'000'000);
  path.set_limit_packets(10000);
  spec.mutable_workload()->set_protocol(protocol);
  *spec.mutable_build() = build_of(variant);
  return spec;
}

v1::Request& add_request(v1::TrialSpec& spec, const std::string& name, uint64_t body_bytes) {
  v1::Request* request = spec.mutable_workload()->add_requests();
  request->set_name(name);
  request->set_body_bytes(body_bytes);
  return *request;
}

int data_records(const v1::TrialResult& result) {
  return static_cast<int>(std::count_if(result.client().records().begin(), result.client().records().end(),
                                        [](const v1::TlsRecord& r) { return r.content() == v1::DATA; }));
}

std::string explain(const v1::TrialResult& result) {
  std::string text = fmt::format("{} {}\n", v1::Verdict_Name(result.verdict()), result.reason());
  for (const v1::Check& check : result.checks()) {
    text += fmt::format("  {} {}: expected {}, saw {}\n", v1::Outcome_Name(check.outcome()), check.name(),
                        check.expected(), check.seen());
  }
  return text;
}

// A worker may take 100 MiB; this program holds a worker's code and the test's on top.
TEST(Memory, StaysUnder100MiBThroughA1MiBTrial) {
  v1::TrialSpec spec = spec_of("stock", 4096, "h2");
  add_request(spec, "main", 1048576);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  rusage usage{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  RecordProperty("max_rss_kib", static_cast<int>(usage.ru_maxrss));
  fmt::print("largest resident size: {} KiB\n", usage.ru_maxrss);
  EXPECT_LT(usage.ru_maxrss, 100 * 1024);
}

struct Counted {
  std::string variant;
  uint64_t buffer_bytes;
  uint64_t body_bytes;
  int records;
};

class RecordCounts : public testing::TestWithParam<Counted> {};

TEST_P(RecordCounts, AgreeWithTheSourceOverTheCleanPath) {
  v1::TrialSpec spec = spec_of(GetParam().variant, GetParam().buffer_bytes, "h1");
  add_request(spec, "main", GetParam().body_bytes);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  EXPECT_EQ(data_records(result), GetParam().records);
  EXPECT_GT(result.checks_size(), 40) << explain(result);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RecordCounts,
    testing::Values(Counted{"stock", 16384, 131072, 9}, Counted{"stock", 4096, 131072, 33},
                    Counted{"static4k", 16384, 131072, 33}, Counted{"static4k", 4096, 131072, 33},
                    Counted{"stock", 16384, 1048576, 65}, Counted{"stock", 4096, 1048576, 257},
                    Counted{"adaptive", 16384, 1048576, 73}));

// Successful writes of the response, by size.
std::map<int, int> writes_by_size(const v1::TrialResult& result) {
  std::map<int, int> sizes;
  for (const v1::SslWrite& write : result.server().writes()) {
    if (write.returned() > 0 && write.response() > 0) ++sizes[write.returned()];
  }
  return sizes;
}

TEST(H2Writes, AreFullBuffersAsInTheSource) {
  for (const auto& [variant, buffer, full] :
       {std::tuple("stock", 16384, 8), std::tuple("static4k", 16384, 8), std::tuple("stock", 4096, 32),
        std::tuple("static4k", 4096, 32)}) {
    v1::TrialSpec spec = spec_of(variant, static_cast<uint64_t>(buffer), "h2");
    add_request(spec, "main", 131072);
    const v1::TrialResult result = run_trial(spec);
    ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
    EXPECT_EQ(writes_by_size(result)[buffer], full) << variant;
  }
}

TEST(H2Competition, SendsTheLaterRequestInsideTheBulkResponse) {
  v1::TrialSpec spec = spec_of("stock", 4096, "h2");
  add_request(spec, "bulk", 1048576);
  v1::Request& later = add_request(spec, "later", 4096);
  later.mutable_after()->set_request("bulk");
  later.mutable_after()->set_body_bytes(32768);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  const v1::Response& response = result.client().responses(1);
  EXPECT_GE(response.dispatch_after_bytes(), 32768u);
  EXPECT_LT(response.dispatch_after_bytes(), 65536u);
  EXPECT_LT(response.complete_ns(), result.client().responses(0).complete_ns());
}

TEST(Idle, SendsTheSecondRequestOnTheSameConnectionAfterThePause) {
  for (const char* protocol : {"h1", "h2"}) {
    v1::TrialSpec spec = spec_of("adaptive", 16384, protocol);
    add_request(spec, "first", 131072);
    v1::Request& second = add_request(spec, "second", 4096);
    second.mutable_after()->set_request("first");
    second.mutable_after()->set_pause_ns(250'000'000);
    const v1::TrialResult result = run_trial(spec);
    ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
    EXPECT_GE(result.client().responses(1).request_start_ns() - result.client().responses(0).complete_ns(),
              250'000'000);
  }
}

TEST(LossyPath, LosesOnlyAtTheRouterAndStillPasses) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  spec.mutable_path()->set_loss(0.02);
  add_request(spec, "main", 1048576);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  uint64_t router = 0, endpoints = 0;
  for (const v1::QdiscSnapshot& qdisc : result.qdiscs()) {
    if (qdisc.at() == "after") (qdisc.namespace_() == "router" ? router : endpoints) += qdisc.drops();
  }
  EXPECT_GT(router, 0u);
  EXPECT_EQ(endpoints, 0u);
}

// netem's counters of both directions in the snapshot "after", by the list's words.
std::map<std::string, uint64_t> counted_drops(const v1::TrialResult& result) {
  std::map<std::string, uint64_t> counted;
  for (const v1::QdiscSnapshot& qdisc : result.qdiscs()) {
    if (qdisc.at() != "after" || qdisc.kind() != "netem") continue;
    counted[qdisc.link().starts_with("router-c") ? "to_client" : "to_server"] = qdisc.drops();
  }
  return counted;
}

TEST(LossyPath, ListsEveryDropOfBothDirections) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  spec.mutable_path()->set_loss(0.02);
  add_request(spec, "main", 1048576);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  ASSERT_EQ(result.router_size(), 2);
  auto counted = counted_drops(result);
  for (const v1::RouterTraffic& traffic : result.router()) {
    EXPECT_EQ(traffic.incomplete(), "");
    EXPECT_EQ(traffic.arrived_packets(), traffic.departed_packets() + traffic.queue_drops());
    EXPECT_EQ(static_cast<uint64_t>(traffic.drops_size()), traffic.queue_drops());
    // The list also has what was lost while the connection ended.
    EXPECT_GE(traffic.queue_drops(), counted[traffic.direction()]);
    EXPECT_LE(traffic.queue_drops(), counted[traffic.direction()] + 3);
    for (const v1::Drop& drop : traffic.drops()) {
      EXPECT_EQ(drop.ip_protocol(), 6u);
      EXPECT_GE(drop.ordinal(), 1u);
      EXPECT_LE(drop.ordinal(), traffic.arrived_packets());
      EXPECT_GT(drop.arrived_ns(), result.client().connect_start_ns());
      EXPECT_LT(drop.arrived_ns(), result.finished_ns());
    }
  }
  const v1::RouterTraffic& to_client = result.router(1);
  ASSERT_EQ(to_client.direction(), "to_client");
  ASSERT_GT(to_client.drops_size(), 0);
  // 1 MiB in 65 records, and the handshake's some KiB.
  EXPECT_LT(to_client.drops(to_client.drops_size() - 1).sequence(), 1048576u + 10000);
}

// A full queue loses packets too, and they are told of likewise.
TEST(LossyPath, ListsWhatAFullQueueDrops) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  spec.mutable_path()->set_loss(0.000001);
  spec.mutable_path()->set_limit_packets(8);
  add_request(spec, "main", 131072);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  EXPECT_GT(result.router(1).queue_drops(), 3u);
  EXPECT_EQ(static_cast<uint64_t>(result.router(1).drops_size()), result.router(1).queue_drops());
  EXPECT_EQ(result.router(1).incomplete(), "");
}

TEST(CleanPath, HasNoTapsAndNoList) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 1024);
  EXPECT_EQ(run_trial(spec).router_size(), 0);
}

TEST(Trial, FailsByNameWhenRecordsAreNotAsPromised) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 131072);
  *spec.mutable_build()->mutable_records() = policy_of("static4k");
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_THAT(result.reason(), testing::StartsWith("record bound: expected at most 4096"));
}

v1::TrialSpec loopback_spec(const std::string& variant, uint64_t body_bytes) {
  v1::TrialSpec spec = spec_of(variant, 16384, "h2");
  spec.mutable_case_()->mutable_tcp()->set_congestion_control("cubic");
  spec.mutable_case_()->mutable_tcp()->clear_notsent_lowat_bytes();
  v1::Path& path = *spec.mutable_path();
  path.set_kind("loopback");
  path.clear_rate_bps();
  path.set_rtt_ns(100'000'000);
  path.set_limit_packets(1000);
  add_request(spec, "body", body_bytes);
  return spec;
}

// The socket's figure at the end, at `side`.
uint64_t figure_after(const v1::TrialResult& result, const std::string& side, const std::string& name) {
  for (const v1::SocketSnapshot& socket : result.sockets()) {
    const auto value = socket.values().find(name);
    if (socket.at() == "after" && socket.side() == side && value != socket.values().end())
      return value->second;
  }
  ADD_FAILURE() << "no " << name << " of the " << side;
  return 0;
}

TEST(Loopback, DelaysEachWayAndCarriesPacketsOf64KiB) {
  const v1::TrialResult result = run_trial(loopback_spec("stock", 102400));
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  const v1::ClientEvidence& client = result.client();
  EXPECT_GE(client.connected_ns() - client.connect_start_ns(), 100'000'000);
  EXPECT_LT(client.connected_ns() - client.connect_start_ns(), 150'000'000);
  EXPECT_EQ(result.environment().links_size(), 1);
  EXPECT_EQ(result.environment().links(0).namespace_(), "loopback");
  EXPECT_EQ(result.environment().links(0).mtu(), 65536u);
  EXPECT_GT(figure_after(result, "server", "tcpi_snd_mss"), 16384u + 22) << "a record is less than a packet";
  // Before and after, one queue.
  ASSERT_EQ(result.qdiscs_size(), 2);
  EXPECT_EQ(result.qdiscs(0).link(), "lo");
  EXPECT_EQ(result.qdiscs(0).namespace_(), "loopback");
  EXPECT_EQ(result.qdiscs(1).kind(), "netem");
  EXPECT_GT(result.qdiscs(1).packets(), result.qdiscs(0).packets());
  EXPECT_TRUE(result.environment().namespaces_gone());
}

// netem on a sender drops without telling TCP: the sender learns of it as of any loss, and sends again.
TEST(Loopback, LosesOnTheSendersOwnQueue) {
  v1::TrialSpec spec = loopback_spec("static4k", 4194304);
  spec.mutable_path()->set_loss(0.05);
  const v1::TrialResult result = run_trial(spec);
  ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
  EXPECT_GT(result.qdiscs(result.qdiscs_size() - 1).drops(), 0u);
  EXPECT_GT(figure_after(result, "server", "tcpi_total_retrans") +
                figure_after(result, "client", "tcpi_total_retrans"),
            0u);
}

TEST(Loopback, IsInvalidWhenItsQueueOverflows) {
  v1::TrialSpec spec = loopback_spec("static4k", 1048576);
  spec.mutable_path()->set_limit_packets(2);
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::INVALID) << explain(result);
  EXPECT_THAT(result.reason(), testing::StartsWith("netem drops: expected 0"));
}

std::vector<uint32_t> sizes_of_data_records(const v1::TrialResult& result) {
  std::vector<uint32_t> sizes;
  for (const v1::TlsRecord& record : result.client().records()) {
    if (record.content() == v1::DATA) sizes.push_back(record.plaintext_bytes());
  }
  return sizes;
}

TEST(DynamicRecords, RiseInTwoStepsAfterSoManyRecords) {
  for (const auto& [threshold, high] : {std::pair(0u, 4229u), std::pair(10u, 16384u)}) {
    v1::TrialSpec spec = spec_of("dyn_rec", 16384, "h1");
    v1::Server& server = *spec.mutable_case_()->mutable_server();
    server.set_ssl_dyn_rec_enable(true);
    if (threshold > 0) {
      server.set_ssl_dyn_rec_threshold(threshold);
      server.set_ssl_dyn_rec_size_hi_bytes(high);
    }
    add_request(spec, "main", 1048576);
    const v1::TrialResult result = run_trial(spec);
    ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
    std::vector<uint32_t> sizes = sizes_of_data_records(result);
    const size_t steps = threshold > 0 ? threshold : 40;
    ASSERT_GT(sizes.size(), 2 * steps);
    sizes.pop_back();  // the rest of the body
    for (size_t i = 0; i < sizes.size(); ++i) {
      EXPECT_EQ(sizes[i], i < steps ? 1369u : i < 2 * steps ? high : 16384u) << i;
    }
  }
}

TEST(DynamicRecords, AreSmallAgainAfterAPauseOnEitherProtocol) {
  for (const char* protocol : {"h1", "h2"}) {
    v1::TrialSpec spec = spec_of("dyn_rec", 16384, protocol);
    spec.mutable_case_()->mutable_server()->set_ssl_dyn_rec_enable(true);
    add_request(spec, "first", 524288);
    v1::Request& second = add_request(spec, "second", 131072);
    second.mutable_after()->set_request("first");
    second.mutable_after()->set_pause_ns(1'100'000'000);
    const v1::TrialResult result = run_trial(spec);
    ASSERT_EQ(result.verdict(), v1::PASSED) << explain(result);
    // The largest record of the second response is of the middle size; the first ended with full ones.
    uint32_t largest_first = 0, largest_second = 0;
    for (const v1::TlsRecord& record : result.client().records()) {
      if (record.content() != v1::DATA) continue;
      const bool later = record.received_ns() > result.client().responses(1).request_start_ns();
      uint32_t& most = later ? largest_second : largest_first;
      most = std::max(most, record.plaintext_bytes());
    }
    EXPECT_EQ(largest_first, 16384u) << protocol;
    EXPECT_EQ(largest_second, 4229u) << protocol;
  }
}

TEST(DynamicRecords, FailByNameWhereTheServerHasNone) {
  v1::TrialSpec spec = spec_of("dyn_rec", 16384, "h1");
  spec.mutable_case_()->mutable_server()->set_ssl_dyn_rec_enable(true);
  add_request(spec, "main", 131072);
  // As if the directive had been lost.
  const std::string path = testing::TempDir() + "/ignores";
  const std::string script = fmt::format(
      "#!/bin/sh\nsed -i '/ssl_dyn_rec/d' nginx.conf\nexec {}/servers/dyn_rec \"$@\"\n", HOPYARD_BUILD_DIR);
  ASSERT_TRUE(base::write_file(path, script, 0755).ok());
  spec.mutable_build()->set_nginx_path(path);
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_THAT(result.reason(),
              testing::StartsWith("records over the ramp: expected none, saw record 0: 16384"));
}

v1::TrialResult run_with_server(const std::string& nginx_path) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 1024);
  spec.mutable_build()->set_nginx_path(nginx_path);
  return run_trial(spec);
}

TEST(Trial, IsInvalidWithoutAServer) {
  const v1::TrialResult result = run_with_server("/no/such/nginx");
  EXPECT_EQ(result.verdict(), v1::INVALID);
  EXPECT_THAT(result.reason(), testing::HasSubstr("/no/such/nginx"));
  EXPECT_TRUE(result.environment().namespaces_gone());
}

TEST(Trial, FailsWhenTheServerRefusesItsConfiguration) {
  const v1::TrialResult result = run_with_server("/bin/false");
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_THAT(result.reason(), testing::StartsWith("server start: start nginx: /bin/false"));
  EXPECT_TRUE(result.environment().namespaces_gone());
}

// The stock server behind a script that does something first.
std::string server_after(const std::string& name, const std::string& command) {
  const std::string path = testing::TempDir() + "/" + name;
  const std::string script =
      fmt::format("#!/bin/sh\n{}\nexec {}/servers/stock \"$@\"\n", command, HOPYARD_BUILD_DIR);
  EXPECT_TRUE(base::write_file(path, script, 0755).ok());
  return path;
}

TEST(Trial, FailsWhenTheServerRefusesTheHandshake) {
  const v1::TrialResult result =
      run_with_server(server_after("no-tls13", "sed -i s/TLSv1.3/TLSv1.2/ nginx.conf"));
  EXPECT_EQ(result.verdict(), v1::FAILED) << explain(result);
  EXPECT_THAT(result.reason(),
              testing::StartsWith("client finished: expected without an error, saw handshake"));
  EXPECT_EQ(result.server().exit_code(), 0);
}

TEST(Trial, FailsWithNginxsWordsWhenADirectiveStandsInALocation) {
  const std::string path = testing::TempDir() + "/in-location";
  const std::string script = fmt::format(
      "#!/bin/sh\nsed -i 's/location . {{/& ssl_dyn_rec_enable on;/' nginx.conf\nexec {}/servers/dyn_rec "
      "\"$@\"\n",
      HOPYARD_BUILD_DIR);
  ASSERT_TRUE(base::write_file(path, script, 0755).ok());
  const v1::TrialResult result = run_with_server(path);
  EXPECT_EQ(result.verdict(), v1::FAILED) << explain(result);
  EXPECT_THAT(result.reason(),
              testing::HasSubstr("[emerg] \"ssl_dyn_rec_enable\" directive is not allowed here"));
}

TEST(Trial, FailsWhenTheServerLeavesProcessesBehind) {
  const v1::TrialResult result =
      run_with_server(server_after("leaves", "setsid sleep 600 > /dev/null 2>&1 &"));
  EXPECT_EQ(result.verdict(), v1::FAILED) << explain(result);
  EXPECT_EQ(result.reason(), "server errors: expected none, saw processes left behind: 1\n");
  EXPECT_TRUE(result.environment().namespaces_gone()) << "they are ended before the path is taken down";
}

TEST(Trial, IsInvalidWhenSomethingStaysInItsNamespaces) {
  const std::string held = testing::TempDir() + "/held";
  const v1::TrialResult result = run_with_server(
      server_after("stays", fmt::format("touch {0} && mount --bind /proc/self/ns/net {0}", held)));
  EXPECT_EQ(result.verdict(), v1::INVALID) << explain(result);
  EXPECT_EQ(result.reason(), "namespaces gone: expected yes, saw no");
}

TEST(Trial, IsInvalidWhenTheRoutersQueueOverflows) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 131072);
  spec.mutable_path()->set_limit_packets(5);
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::INVALID) << explain(result);
  EXPECT_THAT(result.reason(), testing::StartsWith("netem towards client drops: expected 0"));
}

TEST(Trial, IsInvalidWhenThePathCannotBeMade) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 1024);
  spec.mutable_case_()->mutable_tcp()->set_congestion_control("nosuch");
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::INVALID);
  EXPECT_THAT(result.reason(), testing::HasSubstr("nosuch"));
}

v1::GateResult gate(const std::string& variant, const std::string& promised) {
  v1::GateJob job;
  *job.mutable_build() = build_of(variant);
  *job.mutable_build()->mutable_records() = policy_of(promised);
  return run_gate(job);
}

TEST(Gate, LetsTheAdaptiveVariantThrough) {
  const v1::GateResult result = gate("adaptive", "adaptive");
  EXPECT_EQ(result.checks_size(), 12);
  for (const v1::Check& check : result.checks()) {
    EXPECT_EQ(check.outcome(), v1::HOLDS)
        << check.name() << ": expected " << check.expected() << ", saw " << check.seen();
  }
}

TEST(Gate, LetsDynamicRecordsThroughWithEachOfTheirSettings) {
  const v1::GateResult result = gate("dyn_rec", "dyn_rec");
  EXPECT_EQ(result.checks_size(), 44);
  for (const v1::Check& check : result.checks()) {
    EXPECT_EQ(check.outcome(), v1::HOLDS)
        << check.name() << ": expected " << check.expected() << ", saw " << check.seen();
  }
}

TEST(Gate, StopsABuildThatDoesNotKeepItsPromise) {
  const v1::GateResult result = gate("stock", "adaptive");
  int broken = 0;
  for (const v1::Check& check : result.checks()) broken += check.outcome() == v1::BROKEN;
  EXPECT_GT(broken, 0);
}

}  // namespace
}  // namespace hopyard::trial
