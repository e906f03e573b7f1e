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
  policy.set_settings(variant == "stock" ? 0 : 1);
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

TEST(Trial, FailsByNameWhenRecordsAreNotAsPromised) {
  v1::TrialSpec spec = spec_of("stock", 16384, "h1");
  add_request(spec, "main", 131072);
  *spec.mutable_build()->mutable_records() = policy_of("static4k");
  const v1::TrialResult result = run_trial(spec);
  EXPECT_EQ(result.verdict(), v1::FAILED);
  EXPECT_THAT(result.reason(), testing::StartsWith("record bound: expected at most 4096"));
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
  EXPECT_THAT(result.reason(), testing::StartsWith("server start: check nginx configuration: /bin/false"));
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

TEST(Trial, FailsWhenTheServerLeavesProcessesBehind) {
  const v1::TrialResult result =
      run_with_server(server_after("leaves", "setsid sleep 600 > /dev/null 2>&1 &"));
  EXPECT_EQ(result.verdict(), v1::FAILED) << explain(result);
  // One when its configuration was checked, one when it ran.
  EXPECT_EQ(result.reason(), "server errors: expected none, saw processes left behind: 2\n");
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

TEST(Gate, StopsABuildThatDoesNotKeepItsPromise) {
  const v1::GateResult result = gate("stock", "adaptive");
  int broken = 0;
  for (const v1::Check& check : result.checks()) broken += check.outcome() == v1::BROKEN;
  EXPECT_GT(broken, 0);
}

}  // namespace
}  // namespace hopyard::trial
