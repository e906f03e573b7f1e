// SPDX-License-Identifier: Apache-2.0
// Trials on the virtual clock, each in a guest of its own with a built kernel: they pass, and a trial's
// result is the same every time. Runs on the machine, and needs the tree's kernels and servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <set>
#include <thread>

#include "execute/execution.h"
#include "fmt/format.h"
#include "hopyard/v1/worker.pb.h"
#include "places.h"
#include "run/guest_seed.h"
#include "run/trial_digest.h"

namespace hopyard::execute {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

KernelOption built_kernel() {
  return {.name = "uml-6.12",
          .usable = true,
          .unix_usable = true,
          .virtual_clock = true,
          .program = HOPYARD_BUILD_DIR "/kernels/uml-6.12"};
}

// BBR with notsent 16384 on the clean path: 20 ms, 20 Mbit/s.
v1::TrialSpec spec_of(const std::string& protocol, uint64_t body_bytes) {
  v1::TrialSpec spec;
  spec.set_trial_id("test");
  spec.set_clock("virtual");
  spec.set_seed(11);
  v1::Case& on = *spec.mutable_case_();
  on.set_name("C");
  on.set_variant("stock");
  on.mutable_server()->set_ssl_buffer_size_bytes(16384);
  on.mutable_tcp()->set_congestion_control("bbr");
  on.mutable_tcp()->set_notsent_lowat_bytes(16384);
  v1::Path& path = *spec.mutable_path();
  path.set_name("clean");
  path.set_kind("routed");
  path.set_rtt_ns(20'000'000);
  path.set_rate_bps(20'000'000);
  path.set_limit_packets(10000);
  spec.mutable_workload()->set_protocol(protocol);
  v1::Request& request = *spec.mutable_workload()->add_requests();
  request.set_name("body");
  request.set_body_bytes(body_bytes);
  spec.mutable_build()->set_variant("stock");
  spec.mutable_build()->set_nginx_path(HOPYARD_BUILD_DIR "/servers/stock");
  spec.mutable_build()->mutable_records()->set_fragment_bytes(16384);
  return spec;
}

absl::StatusOr<v1::TrialResult> run_in_own_guest(const v1::TrialSpec& spec) {
  v1::ToWorker order;
  *order.mutable_job()->add_trials() = spec;
  HOPYARD_ASSIGN_OR_RETURN(
      const auto session,
      WorkerSession::start_virtual(built_kernel(), order, run::guest_seed(spec), base::Deadline(60s)));
  const base::Deadline deadline(60s);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(v1::FromWorker message, session->receive(deadline));
    if (message.has_fatal()) return absl::InternalError(message.fatal().reason());
    if (!message.has_result()) continue;
    HOPYARD_ASSIGN_OR_RETURN(const SessionEnd end, session->finish(deadline));
    if (!end.exit.clean()) return absl::InternalError(end.exit.describe() + end.log);
    return std::move(*message.mutable_result());
  }
}

v1::TrialResult passed(const v1::TrialSpec& spec) {
  auto result = run_in_own_guest(spec);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  EXPECT_EQ(result->verdict(), v1::PASSED) << result->reason();
  return *std::move(result);
}

int64_t complete_ns(const v1::TrialResult& result) {
  if (result.client().responses_size() == 0) return 0;
  return result.client().responses(0).complete_ns() - result.client().responses(0).request_start_ns();
}

TEST(VirtualTime, TrialPassesAndSaysItsClock) {
  const v1::TrialResult result = passed(spec_of("h1", 131072));
  EXPECT_EQ(result.environment().clock(), "virtual");
  EXPECT_GT(result.checks_size(), 40);
}

// ---- against arithmetic ----

constexpr double kRttNs = 20e6;
constexpr double kNsPerByte = 8 / 20e6 * 1e9;     // 20 Mbit/s
constexpr double kSynBytes = 14 + 20 + 40;        // Ethernet, IPv4, TCP with all options of a SYN
constexpr double kSegmentHeaders = 14 + 20 + 32;  // TCP with timestamps
constexpr double kMss = 1448;
// Reading the clock costs a program 256 ns of it, and some dozen readings lie between two instants.
constexpr double kReadings = 10e3;

// Bytes of `side`'s TCP stream at an instant.
double bytes_at(const v1::TrialResult& result, const std::string& at, const std::string& side,
                const std::string& name) {
  for (const v1::SocketSnapshot& socket : result.sockets()) {
    if (socket.at() == at && socket.side() == side) return static_cast<double>(socket.values().at(name));
  }
  ADD_FAILURE() << "no snapshot " << at << " of " << side;
  return 0;
}

std::vector<v1::TlsRecord> data_records(const v1::TrialResult& result) {
  std::vector<v1::TlsRecord> records;
  for (const auto& record : result.client().records()) {
    if (record.content() == v1::DATA) records.push_back(record);
  }
  return records;
}

TEST(VirtualTime, ConnectingTakesTheRoundTripAndTwoSegments) {
  const v1::TrialResult result = passed(spec_of("h1", 1024));
  const v1::ClientEvidence& client = result.client();
  EXPECT_NEAR(static_cast<double>(client.connected_ns() - client.connect_start_ns()),
              kRttNs + 2 * kSynBytes * kNsPerByte, kReadings);
}

// A segment each way, and ahead of each the acknowledgement of what came before.
TEST(VirtualTime, HandshakeTakesTheRoundTripAndFourSegments) {
  const v1::TrialResult result = passed(spec_of("h1", 1024));
  const v1::ClientEvidence& client = result.client();
  const double hello = bytes_at(result, "before", "server", "tcpi_bytes_received");
  const double flight = bytes_at(result, "before", "client", "tcpi_bytes_received");
  EXPECT_NEAR(static_cast<double>(client.handshake_done_ns() - client.connected_ns()),
              kRttNs + (hello + flight + 4 * kSegmentHeaders) * kNsPerByte, kReadings);
}

// A segment each way. The request leaves at once behind the acknowledgement of the server's flight and the
// client's Finished, the response behind the request's own acknowledgement.
TEST(VirtualTime, SmallResponseTakesTheRoundTripAndFiveSegments) {
  const v1::TrialResult result = passed(spec_of("h1", 1024));
  const auto records = data_records(result);
  ASSERT_EQ(records.size(), 1u);
  const double sent_before = bytes_at(result, "before", "client", "tcpi_bytes_sent");
  const double request = bytes_at(result, "after", "client", "tcpi_bytes_sent") - sent_before;
  const double finished = sent_before - bytes_at(result, "before", "server", "tcpi_bytes_received");
  const double all = request + records.front().wire_bytes() + finished + 5 * kSegmentHeaders;
  EXPECT_NEAR(static_cast<double>(complete_ns(result)), kRttNs + all * kNsPerByte, kReadings);
  const v1::Response& response = result.client().responses(0);
  EXPECT_EQ(response.first_body_ns(), response.complete_ns()) << "a record is delivered whole";
}

// No two records come closer than the second one's bytes take on the wire, headers of segments included, and
// in the middle of a long transfer they come just so: BBR keeps the queue filled, or nearly.
TEST(VirtualTime, RecordsComeAtTheWiresPace) {
  const v1::TrialResult result = passed(spec_of("h1", 1048576));
  const auto records = data_records(result);
  ASSERT_GT(records.size(), 60u);
  const double on_wire = 1 + kSegmentHeaders / kMss;
  double bytes = 0;
  for (size_t i = 1; i < records.size(); ++i) {
    bytes += records[i].wire_bytes();
    const auto passed_ns = static_cast<double>(records[i].received_ns() - records[0].received_ns());
    EXPECT_GE(passed_ns, (bytes * on_wire - 2 * (kMss + kSegmentHeaders)) * kNsPerByte) << "record " << i;
  }
  const size_t from = records.size() / 4, to = records.size() - 2;
  double between = 0;
  for (size_t i = from + 1; i <= to; ++i) between += records[i].wire_bytes();
  const auto took_ns = static_cast<double>(records[to].received_ns() - records[from].received_ns());
  EXPECT_NEAR(took_ns / (between * on_wire * kNsPerByte), 1, 0.005);
}

TEST(VirtualTime, TrialsResultIsTheSameEveryTime) {
  for (const char* protocol : {"h1", "h2"}) {
    const v1::TrialSpec spec = spec_of(protocol, 131072);
    const v1::TrialResult first = passed(spec);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run::first_difference(first, passed(spec)), "") << protocol;
  }
}

TEST(VirtualTime, TrialsResultIsTheSameBesideOthers) {
  const v1::TrialSpec spec = spec_of("h1", 131072);
  const v1::TrialResult first = passed(spec);
  std::vector<v1::TrialResult> results(3);
  {
    std::vector<std::jthread> lanes;
    for (auto& result : results) lanes.emplace_back([&result, &spec] { result = passed(spec); });
  }
  for (const auto& result : results) EXPECT_EQ(run::first_difference(first, result), "");
}

TEST(VirtualTime, LossOfOneSeedIsTheSameEveryTimeAndThatOfAnotherIsNot) {
  v1::TrialSpec spec = spec_of("h1", 1048576);
  spec.mutable_path()->set_loss(0.01);
  const v1::TrialResult first = passed(spec);
  EXPECT_EQ(run::first_difference(first, passed(spec)), "");
  spec.set_seed(12);
  EXPECT_NE(complete_ns(passed(spec)), complete_ns(first));
}

TEST(VirtualTime, LoopbackPathIsTheSameEveryTimeAndAnotherWithAnotherSeed) {
  v1::TrialSpec spec = spec_of("h2", 1048576);
  spec.mutable_case_()->clear_tcp();
  v1::Path& path = *spec.mutable_path();
  path.set_kind("loopback");
  path.clear_rate_bps();
  path.set_rtt_ns(100'000'000);
  path.set_loss(0.05);
  path.set_limit_packets(1000);
  std::set<int64_t> times;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    spec.set_seed(seed);
    const v1::TrialResult first = passed(spec);
    EXPECT_EQ(run::first_difference(first, passed(spec)), "") << seed;
    times.insert(complete_ns(first));
  }
  EXPECT_GT(times.size(), 1u);
}

std::vector<std::string> drops_of(const v1::TrialResult& result) {
  std::vector<std::string> lines;
  for (const v1::RouterTraffic& traffic : result.router()) {
    EXPECT_EQ(traffic.incomplete(), "") << traffic.direction();
    for (const v1::Drop& drop : traffic.drops()) {
      lines.push_back(fmt::format("{} {} at {}: {}+{} flags {}", traffic.direction(), drop.ordinal(),
                                  drop.arrived_ns() - result.client().connect_start_ns(), drop.sequence(),
                                  drop.payload_bytes(), drop.flags()));
    }
  }
  return lines;
}

// This kernel takes netem's seeds, so that the trial's seed decides which packets are lost, and when.
TEST(VirtualTime, OneSeedDropsTheSamePacketsEveryTimeAndAnotherDropsOthers) {
  for (const char* protocol : {"h1", "h2"}) {
    v1::TrialSpec spec = spec_of(protocol, 1048576);
    spec.mutable_path()->set_loss(0.01);
    const v1::TrialResult first = passed(spec);
    const auto dropped = drops_of(first);
    EXPECT_GT(dropped.size(), 3u);
    EXPECT_EQ(drops_of(passed(spec)), dropped) << protocol;
    for (const v1::QdiscSnapshot& qdisc : first.qdiscs()) {
      if (qdisc.kind() != "netem") continue;
      const uint64_t seed = qdisc.link().starts_with("router-s") ? spec.seed() : spec.seed() + 1;
      EXPECT_THAT(qdisc.options_json(), HasSubstr(fmt::format("\"seed\":{}", seed)));
    }
    spec.set_seed(12);
    EXPECT_NE(drops_of(passed(spec)), dropped) << protocol;
  }
}

// The taps are there where loss is asked for. One in four thousand million takes no packet from these, so
// that all that could move a time is the taps themselves.
TEST(VirtualTime, TapsMoveNoTime) {
  for (const char* protocol : {"h1", "h2"}) {
    const v1::TrialSpec without = spec_of(protocol, 131072);
    v1::TrialSpec with = without;
    with.mutable_path()->set_loss(1.0 / 4294967295);
    // One seed for the guest's own random numbers.
    with.set_seed(run::guest_seed(without));
    v1::TrialResult bare = passed(without);
    v1::TrialResult tapped = passed(with);
    ASSERT_EQ(tapped.router_size(), 2);
    EXPECT_GT(tapped.router(1).arrived_packets(), 90u);
    EXPECT_EQ(drops_of(tapped).size(), 0u);
    EXPECT_EQ(complete_ns(tapped), complete_ns(bare)) << protocol;
    // Nor anything else the two ends saw.
    for (v1::TrialResult* result : {&bare, &tapped}) {
      result->clear_router();
      result->clear_qdiscs();
    }
    EXPECT_EQ(run::first_difference(bare, tapped), "") << protocol;
  }
}

TEST(VirtualTime, SeedsChangeNoTimeWhereNothingIsLost) {
  std::set<int64_t> times;
  v1::TrialSpec spec = spec_of("h1", 1048576);
  for (uint64_t seed : {1u, 2u, 3u, 4u}) {
    spec.set_seed(seed);
    times.insert(complete_ns(passed(spec)));
  }
  EXPECT_EQ(times.size(), 1u);
}

TEST(VirtualTime, OrderThatAGuestCannotReadIsToldNotHung) {
  v1::ToWorker empty;
  const auto session = WorkerSession::start_virtual(built_kernel(), empty, 1, base::Deadline(60s));
  ASSERT_TRUE(session.ok()) << session.status();
  const auto answer = (*session)->receive(base::Deadline(60s));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->fatal().reason(), HasSubstr("asks for nothing"));
}

}  // namespace
}  // namespace hopyard::execute
