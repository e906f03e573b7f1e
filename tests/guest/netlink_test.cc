// SPDX-License-Identifier: Apache-2.0
// fq, netem and BBR of a real kernel: what was asked is what the kernel has, and what tc and ss say.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "base/clock.h"
#include "fmt/format.h"
#include "lab/guest_init.h"
#include "netlink/ethtool.h"
#include "netlink/qdisc.h"
#include "netlink/route.h"
#include "netlink/sock_diag.h"
#include "unit/netlink/network.h"
#include "unit/netlink/ss_text.h"
#include "unit/netlink/tc_json.h"

namespace hopyard::netlink {
namespace {

using netlink_test::expect_as_tc_says;
using netlink_test::inside;
using netlink_test::output_of;
using netlink_test::TcpPair;
using std::chrono::nanoseconds;
using testing::HasSubstr;

constexpr int kHere = 5;
constexpr int kThere = 6;
constexpr nanoseconds kLongestTcShows = nanoseconds(64) * 0xffffffff;  // it reads the 32-bit ticks

// A link from here (192.0.2.1) to another namespace (192.0.2.2), up at both ends.
class GuestNetlinkTest : public netlink_test::NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    other_ = netlink_test::new_netns();
    ASSERT_OK_AND_TAKE(RouteSocket here, RouteSocket::open());
    inside(other_, [this] { there_.emplace(RouteSocket::open().value()); });
    expect_ok(here.run(RouteBatch().add_veth({.name = "va", .index = kHere},
                                             {.name = "vb", .netns_fd = other_.get(), .index = kThere})));
    expect_ok(there_->run(end(kThere, "192.0.2.2/24")));
    expect_ok(here.run(end(kHere, "192.0.2.1/24")));
    socket_.emplace(QdiscSocket::open().value());
    inside(other_, [this] { other_socket_.emplace(QdiscSocket::open().value()); });
  }

  // IPv4 alone: this kernel may lack IPv6.
  static RouteBatch end(int link, const std::string& address) {
    return std::move(RouteBatch().set_up(link).add_address(link, address));
  }

  static void expect_ok(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }

  static QdiscInfo root_of(QdiscSocket& socket, int link) {
    const auto qdiscs = socket.dump();
    EXPECT_TRUE(qdiscs.ok()) << qdiscs.status();
    for (const QdiscInfo& info : *qdiscs) {
      if (info.link == link && info.parent == 0xffffffffu) return info;
    }
    ADD_FAILURE() << "no qdisc on link " << link;
    return {};
  }

  // Compares with tc once nothing moves between two dumps around it. Gives the number of keys compared.
  size_t expect_as_tc() {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const QdiscInfo before = root_of(*socket_, kHere);
      const std::string json = output_of({"/sbin/tc", "-s", "-j", "-d", "qdisc"});
      const QdiscInfo after = root_of(*socket_, kHere);
      if (before.packets != after.packets || before.backlog_packets != after.backlog_packets ||
          before.xstats_json() != after.xstats_json()) {
        continue;
      }
      SCOPED_TRACE(json);
      return expect_as_tc_says(json, "va", before);
    }
    ADD_FAILURE() << "the qdisc never rested";
    return 0;
  }

  // A connection from here to the other namespace.
  TcpPair connect_across(const std::string& congestion_control);

  base::Fd other_;
  std::optional<RouteSocket> there_;
  std::optional<QdiscSocket> socket_;
  std::optional<QdiscSocket> other_socket_;
};

TcpPair GuestNetlinkTest::connect_across(const std::string& congestion_control) {
  TcpPair pair;
  base::Fd listener;
  inside(other_, [&] { listener = netlink_test::listen_tcp("192.0.2.2", congestion_control); });
  return netlink_test::connect_to(listener, congestion_control);
}

TEST_F(GuestNetlinkTest, FqHasWhatWasAskedAndShowsItAsTcDoes) {
  const FqOptions asked{.limit_packets = 5000,
                        .flow_limit_packets = 200,
                        .pacing = true,
                        .quantum_bytes = 3000,
                        .initial_quantum_bytes = 15000,
                        .max_rate_bytes_per_s = 1'250'000,
                        .buckets_log = 11,
                        .refill_delay_us = 20'000,
                        .orphan_mask = 511,
                        .low_rate_threshold_bytes_per_s = 70'000,
                        .ce_threshold_us = 1500,
                        .timer_slack_ns = 20'000,
                        .horizon_us = 5'000'000,
                        .horizon_drop = false};
  expect_ok(socket_->add_root(kHere, asked));
  EXPECT_EQ(root_of(*socket_, kHere).fq, asked);
  EXPECT_GE(expect_as_tc(), 25u);
}

TEST_F(GuestNetlinkTest, FqsDefaultsAreReadInFull) {
  expect_ok(socket_->add_root(kHere, FqOptions{}));
  const QdiscInfo info = root_of(*socket_, kHere);
  EXPECT_EQ(info.kind, "fq");
  EXPECT_EQ(info.fq->limit_packets, 10'000u);
  EXPECT_EQ(info.fq->flow_limit_packets, 100u);
  EXPECT_EQ(info.fq->pacing, true);
  EXPECT_GE(expect_as_tc(), 25u);
}

TEST_F(GuestNetlinkTest, FqWithoutPacingIsReadSo) {
  expect_ok(socket_->add_root(kHere, FqOptions{.pacing = false}));
  EXPECT_EQ(root_of(*socket_, kHere).fq->pacing, false);
  expect_as_tc();
}

TEST_F(GuestNetlinkTest, FqsCountersAfterTrafficAreAsTcShowsThem) {
  expect_ok(socket_->add_root(kHere, FqOptions{.max_rate_bytes_per_s = 2'000'000}));
  const TcpPair pair = connect_across("cubic");
  netlink_test::transfer(pair.client, pair.server, 400'000);
  const QdiscInfo info = root_of(*socket_, kHere);
  EXPECT_GT(info.bytes, 400'000u);
  EXPECT_THAT(info.xstats_json(), testing::Not(HasSubstr("\"throttled\":0")));
  EXPECT_EQ(info.drops, 0u);
  EXPECT_GE(expect_as_tc(), 26u);
}

TEST_F(GuestNetlinkTest, NetemHasWhatWasAskedAndShowsItAsTcDoes) {
  const NetemOptions asked{.limit_packets = 7000,
                           .delay = nanoseconds(10'000'001),
                           .jitter = nanoseconds(1'000'003),
                           .rate_bps = 20'000'000,
                           .loss = netem_fraction(netem_fraction_bits(0.001)),
                           .duplicate = netem_fraction(netem_fraction_bits(0.01)),
                           .corrupt = netem_fraction(netem_fraction_bits(0.02)),
                           .reorder = netem_fraction(netem_fraction_bits(0.25)),
                           .reorder_gap = 5};
  expect_ok(socket_->add_root(kHere, asked));
  EXPECT_EQ(root_of(*socket_, kHere).netem, asked);
  EXPECT_GE(expect_as_tc(), 28u);
}

TEST_F(GuestNetlinkTest, EachNetemOptionAloneComesBackExactly) {
  const NetemOptions each[] = {
      {.limit_packets = 1},
      {.limit_packets = 0xffffffff},
      {.limit_packets = 9, .delay = nanoseconds(1)},
      {.limit_packets = 9, .delay = std::chrono::minutes(5)},
      {.limit_packets = 9, .delay = nanoseconds(70), .jitter = nanoseconds(63)},
      {.limit_packets = 9, .rate_bps = 8},
      {.limit_packets = 9, .rate_bps = (uint64_t{8} << 32) - 16},
      {.limit_packets = 9, .rate_bps = (uint64_t{8} << 32) - 8},
      {.limit_packets = 9, .rate_bps = uint64_t{8} << 32},
      {.limit_packets = 9, .rate_bps = 100'000'000'000},
      {.limit_packets = 9, .loss = netem_fraction(1)},
      {.limit_packets = 9, .loss = 1},
      {.limit_packets = 9, .duplicate = netem_fraction(0xfffffffe)},
      {.limit_packets = 9, .corrupt = netem_fraction(12345)},
      {.limit_packets = 9,
       .delay = nanoseconds(1000),
       .reorder = netem_fraction(0x80000000),
       .reorder_gap = 1},
  };
  for (const NetemOptions& asked : each) {
    expect_ok(socket_->add_root(kHere, asked));
    EXPECT_EQ(root_of(*socket_, kHere).netem, asked);
    if (asked.delay < kLongestTcShows) expect_as_tc();
    expect_ok(socket_->delete_root(kHere));
  }
}

TEST_F(GuestNetlinkTest, WhatTcSetsIsReadAsTcShowsIt) {
  const char* commands[] = {
      "limit 1234 delay 10ms 1ms 25% rate 20mbit -4 100 7 loss 0.3% 20% duplicate 1% 30% corrupt 2% 40%",
      "delay 10ms reorder 25% 50% gap 5",
      "loss gemodel 1% 10% 70% 0.1%",
      "loss state 1% 10% 2% 30% 4%",
      "loss 1% ecn",
      "slot 800us 1ms packets 32 bytes 9000",
      "rate 100gbit",
  };
  for (const char* command : commands) {
    SCOPED_TRACE(command);
    output_of({"/bin/sh", "-c", fmt::format("exec /sbin/tc qdisc add dev va root netem {}", command)});
    expect_as_tc();
    expect_ok(socket_->delete_root(kHere));
  }
}

TEST_F(GuestNetlinkTest, TheSeedIsKeptOrVisiblyAbsent) {
  const NetemOptions asked{.limit_packets = 1000, .loss = netem_fraction(1000), .seed = 0xfedcba9876543210};
  expect_ok(socket_->add_root(kHere, asked));
  const auto has = root_of(*socket_, kHere).netem->seed;
  int major = 0;
  int minor = 0;
  const std::string release = base::read_file("/proc/sys/kernel/osrelease").value_or("");
  ASSERT_EQ(std::sscanf(release.c_str(), "%d.%d", &major, &minor), 2) << release;
  if (std::pair(major, minor) < std::pair(6, 6)) {
    EXPECT_FALSE(has.has_value());
  } else {
    EXPECT_EQ(has, asked.seed);
  }
}

TEST_F(GuestNetlinkTest, NetemsCountersAndBacklogAreAsTcShowsThem) {
  // Ten seconds of delay: what is sent stays in the queue while it is looked at.
  expect_ok(socket_->add_root(kHere, NetemOptions{.limit_packets = 3, .delay = std::chrono::seconds(10)}));
  RouteSocket here = RouteSocket::open().value();
  expect_ok(here.run(RouteBatch().add_neighbour(kHere, "192.0.2.2", "02:00:00:00:00:02")));
  const base::Fd sender = netlink_test::udp_to("192.0.2.2");
  for (int i = 0; i < 5; ++i) ASSERT_EQ(::send(sender.get(), "hello", 5, 0), 5);
  const QdiscInfo info = root_of(*socket_, kHere);
  EXPECT_EQ(info.backlog_packets, 3u);
  EXPECT_EQ(info.backlog_bytes, 3u * 47);
  EXPECT_EQ(info.drops, 2u);
  EXPECT_GE(expect_as_tc(), 15u);
}

TEST_F(GuestNetlinkTest, AnOccupiedRootIsRefusedOrReplacedButNeverMixed) {
  expect_ok(socket_->add_root(kHere, FqOptions{}));
  const auto status = socket_->add_root(kHere, NetemOptions{.limit_packets = 10});
  EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
  EXPECT_EQ(root_of(*socket_, kHere).kind, status.ok() ? "netem" : "fq");
  expect_ok(socket_->delete_root(kHere));
  EXPECT_EQ(root_of(*socket_, kHere).kind, "noqueue");
}

TEST_F(GuestNetlinkTest, FiltersAtTheRootAreCounted) {
  expect_ok(lab::load_modules({"sch_prio", "cls_matchall"}));
  output_of({"/sbin/tc", "qdisc", "add", "dev", "va", "root", "handle", "1:", "prio"});
  EXPECT_EQ(socket_->count_filters(kHere).value(), 0u);
  for (const char* priority : {"7", "8"}) {
    output_of({"/sbin/tc", "filter", "add", "dev", "va", "parent", "1:", "prio", priority, "protocol", "ip",
               "matchall", "flowid", "1:1"});
  }
  const std::string shown = output_of({"/sbin/tc", "filter", "show", "dev", "va"});
  EXPECT_GE(socket_->count_filters(kHere).value(), 2u);
  size_t entries = 0;
  for (size_t at = 0; (at = shown.find("filter ", at)) != std::string::npos; ++at) ++entries;
  EXPECT_EQ(socket_->count_filters(kHere).value(), entries) << shown;
}

// BBR over a slow, lossy, delaying path, with data under way and unsent: every figure ss knows is there.
TEST_F(GuestNetlinkTest, ABusyBbrSocketIsAsSsShowsIt) {
  expect_ok(other_socket_->add_root(kThere, NetemOptions{.limit_packets = 1000,
                                                         .delay = std::chrono::milliseconds(10),
                                                         .rate_bps = 20'000'000,
                                                         .loss = 0.02}));
  expect_ok(socket_->add_root(kHere, FqOptions{}));
  expect_ok(EthtoolSocket::open()->set_offloads("va", {}));
  const TcpPair pair = connect_across("bbr");
  netlink_test::transfer(pair.server, pair.client, 2'000'000);
  // No way back: what is under way stays unacknowledged while it is looked at.
  ASSERT_EQ(output_of({"/sbin/ip", "link", "set", "va", "down"}), "");
  ASSERT_EQ(::send(pair.server.get(), std::string(60'000, 'x').data(), 60'000, MSG_DONTWAIT), 60'000);
  std::optional<SockDiag> diag;
  inside(other_, [&diag] { diag.emplace(SockDiag::open().value()); });
  const SocketFilter filter{.local_port = pair.server_port, .remote_port = pair.client_port};
  const SocketInfo before = diag->dump(filter).value().at(0);
  std::string line;
  inside(other_, [&line] { line = output_of({"/bin/ss", "-tinmoH", "state", "established"}); });
  const SocketInfo after = diag->dump(filter).value().at(0);
  SCOPED_TRACE(line);
  EXPECT_GE(netlink_test::expect_as_ss_says("ESTAB " + line, before, after), 45u);
  EXPECT_EQ(before.congestion_control, "bbr");
  for (const char* name :
       {"bbr_bw", "bbr_min_rtt", "tcpi_unacked", "tcpi_total_retrans", "skmem_wmem_queued"}) {
    EXPECT_GT(before.value(name).value_or(0), 0u) << name;
  }
  EXPECT_EQ(before.value("timer"), 1u);
}

}  // namespace
}  // namespace hopyard::netlink
