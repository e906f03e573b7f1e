// SPDX-License-Identifier: Apache-2.0
// Whole paths with real fq and netem: what is asked is what the kernel has, and what packets meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "lab/guest_init.h"
#include "lab/path.h"
#include "lab/sysctl.h"
#include "unit/lab/tcp.h"

namespace hopyard::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing_support::connect_across;
using testing_support::Connection;
using testing_support::listen_at_server;
using testing_support::Listener;

constexpr int64_t kMillisecondNs = 1'000'000;

RoutedSpec clean() { return {.rtt = milliseconds(20), .rate_bps = 20'000'000, .limit_packets = 10'000}; }

class GuestPath : public ::testing::Test {
 protected:
  void make(const RoutedSpec& spec) {
    auto made = RoutedPath::make(spec);
    ASSERT_TRUE(made.ok()) << made.status();
    path_.emplace(std::move(made).value());
    auto listener = listen_at_server(*path_);
    ASSERT_TRUE(listener.ok()) << listener.status();
    listener_.emplace(std::move(listener).value());
  }
  // The roots in the order client, router to client, router to server, server; empty on failure.
  std::vector<QdiscSnapshot> qdiscs() {
    auto seen = path_->snapshot_qdiscs();
    EXPECT_TRUE(seen.ok()) << seen.status();
    return seen.ok() ? std::move(seen).value() : std::vector<QdiscSnapshot>{};
  }
  absl::StatusOr<Connection> connect(nanoseconds patience = testing_support::kPatience) {
    return connect_across(*path_, *listener_, AF_INET, patience);
  }
  absl::StatusOr<SocketSnapshot> snapshot(Side side, const Connection& connection) {
    const uint16_t client_port = testing_support::local_port(connection.client.get());
    return path_->snapshot_connection(side, client_port, listener_->port);
  }
  void expect_no_drops_at_endpoints() {
    const auto seen = qdiscs();
    ASSERT_THAT(seen, SizeIs(4));
    EXPECT_EQ(seen[0].qdisc.drops, 0u) << "client's fq";
    EXPECT_EQ(seen[3].qdisc.drops, 0u) << "server's fq";
  }

  std::optional<RoutedPath> path_;
  std::optional<Listener> listener_;
};

// No more than a round trip and a guest's computing, which takes as long as its machine makes it: this is no
// measurement. How near the path itself comes to what was asked is held on the virtual clock
// (virtual_time_test).
constexpr double kMostRoundTripNs = 24e6;

// What the path takes. A machine that is busy elsewhere only ever adds to it.
double least(const std::vector<int64_t>& values) {
  return static_cast<double>(*std::min_element(values.begin(), values.end()));
}

TEST_F(GuestPath, ConnectingTakesOneRoundTrip) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  std::vector<int64_t> times;
  for (int i = 0; i < 15; ++i) {
    const auto connection = connect();
    ASSERT_TRUE(connection.ok()) << connection.status();
    times.push_back(connection->connect_ns);
  }
  EXPECT_GE(least(times), 20e6) << "nothing comes early";
  EXPECT_LE(least(times), kMostRoundTripNs);
  // The first one would take a round trip more if an address had to be resolved across the path.
  EXPECT_LT(times.front(), 40 * kMillisecondNs);
  expect_no_drops_at_endpoints();
}

TEST_F(GuestPath, TinyEchoTakesOneRoundTrip) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  const auto connection = connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  std::vector<int64_t> times;
  for (int i = 0; i < 15; ++i) {
    const auto taken = testing_support::echo_ns(*connection, 1);
    ASSERT_TRUE(taken.ok()) << taken.status();
    times.push_back(*taken);
  }
  EXPECT_GE(least(times), 20e6);
  EXPECT_LE(least(times), kMostRoundTripNs);
}

TEST_F(GuestPath, CarriesAtLeast93PercentOfItsRateAndNotMore) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  const auto connection = connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE(testing_support::transfer_ns(*connection, 1u << 20).ok());  // past slow start
  constexpr uint64_t kBytes = 8u << 20;
  const auto taken = testing_support::transfer_ns(*connection, kBytes);
  ASSERT_TRUE(taken.ok()) << taken.status();
  const double bps = static_cast<double>(kBytes) * 8e9 / static_cast<double>(*taken);
  EXPECT_GE(bps, 0.93 * 20e6);
  EXPECT_LE(bps, 20e6);
  expect_no_drops_at_endpoints();
}

TEST_F(GuestPath, QdiscsAreAtTheirPlacesWithWhatWasAsked) {
  RoutedSpec spec = clean();
  spec.loss = 0.01;
  ASSERT_NO_FATAL_FAILURE(make(spec));
  const auto seen = qdiscs();
  ASSERT_THAT(seen, SizeIs(4));
  for (const size_t endpoint : {size_t{0}, size_t{3}}) {
    ASSERT_TRUE(seen[endpoint].qdisc.fq) << seen[endpoint].qdisc.kind;
    EXPECT_EQ(seen[endpoint].qdisc.fq->pacing, true);
    EXPECT_EQ(seen[endpoint].qdisc.fq->limit_packets, 10'000u);
  }
  for (const size_t egress : {size_t{1}, size_t{2}}) {
    ASSERT_TRUE(seen[egress].qdisc.netem) << seen[egress].qdisc.kind;
    const netlink::NetemOptions& has = *seen[egress].qdisc.netem;
    EXPECT_EQ(seen[egress].side, Side::kRouter);
    EXPECT_EQ(has.delay, milliseconds(10));
    EXPECT_EQ(has.jitter.count(), 0);
    EXPECT_EQ(has.rate_bps, 20'000'000u);
    EXPECT_EQ(has.limit_packets, 10'000u);
    EXPECT_NEAR(has.loss, 0.01, 1e-9);
    EXPECT_EQ(has.duplicate + has.corrupt + has.reorder, 0);
  }
  EXPECT_EQ(path_->observe().value().filters, 0u);
}

TEST_F(GuestPath, SeedIsReadBackOrReportedUnsupported) {
  RoutedSpec spec = clean();
  spec.seed = 41;
  ASSERT_NO_FATAL_FAILURE(make(spec));
  const auto seen = qdiscs();
  ASSERT_THAT(seen, SizeIs(4));
  if (seen[1].qdisc.netem->seed) {
    EXPECT_EQ(seen[2].qdisc.netem->seed, 41u) << "client to server";
    EXPECT_EQ(seen[1].qdisc.netem->seed, 42u) << "server to client";
    return;
  }
  utsname kernel = {};
  ::uname(&kernel);
  const auto observed = path_->observe();
  ASSERT_TRUE(observed.ok());
  EXPECT_THAT(observed->unsupported,
              Contains(std::string("netem seed: kernel ") + kernel.release + " has none"));
}

TEST_F(GuestPath, WithoutASeedNothingOfNetemIsUnsupported) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  const auto observed = path_->observe();
  ASSERT_TRUE(observed.ok());
  EXPECT_THAT(observed->unsupported, ::testing::Not(Contains(HasSubstr("netem"))));
}

TEST_F(GuestPath, RandomLossIsAtTheRouterAndNowhereElse) {
  RoutedSpec spec = {.rtt = milliseconds(2), .rate_bps = 100'000'000, .loss = 0.01, .limit_packets = 10'000};
  spec.congestion_control = "bbr";  // goes on at speed
  ASSERT_NO_FATAL_FAILURE(make(spec));
  const auto connection = connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto taken = testing_support::transfer_ns(*connection, 8u << 20);
  ASSERT_TRUE(taken.ok()) << taken.status();
  const auto seen = qdiscs();
  ASSERT_THAT(seen, SizeIs(4));
  // About 5800 segments; 29 and 116 are more than six standard deviations from 58.
  const double share = static_cast<double>(seen[1].qdisc.drops) /
                       static_cast<double>(seen[1].qdisc.packets + seen[1].qdisc.drops);
  EXPECT_GT(share, 0.005);
  EXPECT_LT(share, 0.02);
  const auto server = snapshot(Side::kServer, *connection);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_GE(server->socket.value("tcpi_total_retrans").value_or(0), 1u);
  expect_no_drops_at_endpoints();
}

TEST_F(GuestPath, TotalLossEndsEveryPacketAtTheFirstRouterEgress) {
  RoutedSpec spec = clean();
  spec.loss = 1;
  ASSERT_NO_FATAL_FAILURE(make(spec));
  EXPECT_FALSE(connect(milliseconds(1500)).ok());
  const auto seen = qdiscs();
  ASSERT_THAT(seen, SizeIs(4));
  EXPECT_GE(seen[0].qdisc.packets, 2u) << "SYN and its repetition leave the client";
  EXPECT_EQ(seen[2].qdisc.drops, seen[0].qdisc.packets) << "each is dropped on the way to the server";
  EXPECT_EQ(seen[1].qdisc.packets + seen[1].qdisc.drops, 0u) << "nothing comes back";
  EXPECT_EQ(seen[3].qdisc.packets, 0u);
  expect_no_drops_at_endpoints();
}

TEST_F(GuestPath, FullQueueDropsAtTheRouter) {
  ASSERT_NO_FATAL_FAILURE(make({.rtt = milliseconds(20), .rate_bps = 4'000'000, .limit_packets = 8}));
  const auto connection = connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto taken = testing_support::transfer_ns(*connection, 256u << 10);
  ASSERT_TRUE(taken.ok()) << taken.status();
  const auto seen = qdiscs();
  ASSERT_THAT(seen, SizeIs(4));
  EXPECT_GT(seen[1].qdisc.drops, 0u);
  expect_no_drops_at_endpoints();
}

TEST_F(GuestPath, BbrServesACubicClient) {
  RoutedSpec spec = clean();
  spec.congestion_control = "bbr";
  spec.notsent_lowat_bytes = 16384;
  ASSERT_NO_FATAL_FAILURE(make(spec));
  const auto connection = connect();
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE(testing_support::transfer_ns(*connection, 128u << 10).ok());
  const auto server = snapshot(Side::kServer, *connection);
  const auto client = snapshot(Side::kClient, *connection);
  ASSERT_TRUE(server.ok() && client.ok());
  EXPECT_EQ(server->socket.congestion_control, "bbr");
  EXPECT_TRUE(server->socket.value("bbr_bw").has_value());
  EXPECT_EQ(server->socket.value("tcpi_snd_mss"), 1448u);
  EXPECT_EQ(client->socket.congestion_control, "cubic");
}

TEST_F(GuestPath, EndIsReportedByTheKernel) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  {
    const auto connection = connect();
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE(testing_support::transfer_ns(*connection, 128u << 10).ok());
  }
  listener_.reset();
  const auto gone = std::move(*path_).tear_down(base::Deadline(seconds(20)));
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_TRUE(*gone);
}

// Without the router both ends would repeat their FINs for most of a second.
TEST_F(GuestPath, LastWordsStillCrossTheRouter) {
  std::vector<int64_t> times;
  for (int i = 0; i < 5; ++i) {
    ASSERT_NO_FATAL_FAILURE(make(clean()));
    ASSERT_TRUE(connect().ok());  // and closed at both ends
    listener_.reset();
    const int64_t started = base::monotonic_ns();
    const auto gone = std::move(*path_).tear_down(base::Deadline(seconds(20)));
    ASSERT_TRUE(gone.ok() && *gone) << gone.status();
    times.push_back(base::monotonic_ns() - started);
  }
  EXPECT_LT(least(times), 200 * kMillisecondNs);
}

TEST_F(GuestPath, EndsThoughASocketWasClosedWithDataUnsent) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  {
    const auto connection = connect();
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE(path_->in(Side::kRouter).run([] { return write_sysctl("net.ipv4.ip_forward", "0"); }).ok());
    const std::string bytes(100'000, 'x');
    ASSERT_GT(::send(connection->server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  }
  listener_.reset();
  const auto gone = std::move(*path_).tear_down(base::Deadline(seconds(20)));
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_TRUE(*gone);
}

// A kernel may have IPv6 as a module that nobody loaded.
class GuestPathWithIpv6 : public GuestPath {
 protected:
  void SetUp() override {
    if (::access("/proc/sys/net/ipv6", F_OK) == 0) return;
    const absl::Status loaded = load_modules({"ipv6"});
    ASSERT_TRUE(loaded.ok()) << loaded;
  }
};

// Any packet of the kernel's own would take a random number and a place in the queue.
TEST_F(GuestPathWithIpv6, SendsNothingByItself) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  const auto listening = path_->in(Side::kRouter).run([]() -> absl::StatusOr<base::Fd> {
    base::Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
    if (!fd.valid()) return base::errno_status("open", "packet socket");
    return fd;
  });
  ASSERT_TRUE(listening.ok()) << listening.status();
  pollfd waited = {listening->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waited, 1, 2500), 0);
  for (const QdiscSnapshot& seen : qdiscs()) {
    EXPECT_EQ(seen.qdisc.packets + seen.qdisc.backlog_packets, 0u) << seen.link;
  }
}

TEST_F(GuestPathWithIpv6, CarriesIpv6WithoutDelayOfItsOwn) {
  ASSERT_NO_FATAL_FAILURE(make(clean()));
  const auto listener = listen_at_server(*path_, AF_INET6);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto connection = connect_across(*path_, *listener, AF_INET6);
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_LT(connection->connect_ns, 40 * kMillisecondNs);
}

}  // namespace
}  // namespace hopyard::lab
