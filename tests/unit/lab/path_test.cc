// SPDX-License-Identifier: Apache-2.0
// Paths on this machine's kernel, without fq and netem, which many kernels lack; those are tested in a guest.
#include "lab/path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_split.h"
#include "lab/sysctl.h"
#include "unit/lab/tcp.h"

namespace hopyard::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using testing_support::connect_across;
using testing_support::listen_at_server;

RoutedSpec without_qdiscs() {
  RoutedSpec spec;
  spec.qdiscs = false;
  return spec;
}

std::string message(const absl::Status& status) { return std::string(status.message()); }

bool has_ipv6() { return ::access("/proc/sys/net/ipv6", F_OK) == 0; }

std::string setting(const Observed& observed, std::string_view name) {
  for (const Setting& one : observed.sysctls) {
    if (one.name == name) return one.value;
  }
  return "(not recorded)";
}

// Packets sent on every link but lo, since it was made.
absl::StatusOr<std::map<std::string, uint64_t>> sent_packets() {
  HOPYARD_ASSIGN_OR_RETURN(const std::string text, base::read_file("/proc/thread-self/net/dev"));
  std::map<std::string, uint64_t> out;
  for (const auto line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" :"), absl::SkipEmpty());
    if (words.size() < 11 || line.find(':') == absl::string_view::npos || words[0] == "lo") continue;
    out[words[0]] = std::stoull(words[10]);
  }
  return out;
}

class RoutedPathTest : public ::testing::Test {
 protected:
  // A path, or a failed test.
  RoutedPath make(const RoutedSpec& spec = without_qdiscs()) {
    auto made = RoutedPath::make(spec);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) throw std::runtime_error("no path");
    return std::move(made).value();
  }
  Observed observe(const RoutedPath& path) {
    auto seen = path.observe();
    EXPECT_TRUE(seen.ok()) << seen.status();
    return seen.ok() ? std::move(seen).value() : Observed{};
  }
};

TEST_F(RoutedPathTest, CarriesTcpFromClientToServer) {
  const RoutedPath path = make();
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto connection = connect_across(path, *listener);
  ASSERT_TRUE(connection.ok()) << connection.status();
  const auto moved = testing_support::transfer_ns(*connection, 4u << 20);
  EXPECT_TRUE(moved.ok()) << moved.status();
}

TEST_F(RoutedPathTest, CarriesIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "this kernel has no IPv6";
  const RoutedPath path = make();
  const auto listener = listen_at_server(path, AF_INET6);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const auto connection = connect_across(path, *listener, AF_INET6);
  EXPECT_TRUE(connection.ok()) << connection.status();
}

TEST_F(RoutedPathTest, LeadsThroughTheRouterAndNothingElse) {
  const RoutedPath path = make();
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  ASSERT_TRUE(path.in(Side::kRouter).run([] { return write_sysctl("net.ipv4.ip_forward", "0"); }).ok());
  const auto connection = connect_across(path, *listener, AF_INET, milliseconds(300));
  EXPECT_FALSE(connection.ok());
}

RoutedSpec with_taps() {
  RoutedSpec spec = without_qdiscs();
  spec.tap_packets = 5000;
  return spec;
}

bool cannot_tap(const RoutedPath& path) {
  const auto seen = path.observe();
  return seen.ok() && std::any_of(seen->unsupported.begin(), seen->unsupported.end(),
                                  [](const auto& line) { return line.starts_with("list of drops: "); });
}

TEST_F(RoutedPathTest, TellsOfAllPacketsOfAConnectionAndOfNoDrop) {
  const RoutedPath path = make(with_taps());
  if (cannot_tap(path)) GTEST_SKIP() << "no packet sockets here";
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  const auto connection = connect_across(path, *listener);
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE(testing_support::transfer_ns(*connection, 1u << 20).ok());
  const auto seen = path.router_traffic(base::Deadline(seconds(5)));
  ASSERT_TRUE(seen.ok()) << seen.status();
  ASSERT_THAT(*seen, SizeIs(2));
  for (const RouterTraffic& traffic : *seen) {
    EXPECT_EQ(traffic.incomplete, "");
    EXPECT_THAT(traffic.dropped, ::testing::IsEmpty());
    EXPECT_EQ(traffic.arrived_packets, traffic.departed_packets);
  }
  EXPECT_GT((*seen)[1].arrived_packets, (1u << 20) / 1448) << "a packet for each segment: nothing was merged";
}

TEST_F(RoutedPathTest, TellsOfPacketsThatTheRouterKeeps) {
  const RoutedPath path = make(with_taps());
  if (cannot_tap(path)) GTEST_SKIP() << "no packet sockets here";
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  ASSERT_TRUE(path.in(Side::kRouter).run([] { return write_sysctl("net.ipv4.ip_forward", "0"); }).ok());
  EXPECT_FALSE(connect_across(path, *listener, AF_INET, milliseconds(300)).ok());
  const auto seen = path.router_traffic(base::Deadline(milliseconds(1)));
  ASSERT_TRUE(seen.ok()) << seen.status();
  ASSERT_THAT(*seen, SizeIs(2));
  const RouterTraffic& to_server = (*seen)[0];
  EXPECT_EQ(to_server.direction, Direction::kToServer);
  ASSERT_GE(to_server.dropped.size(), 1u);
  EXPECT_EQ(to_server.dropped.size(), to_server.arrived_packets);
  EXPECT_EQ(to_server.dropped[0].flags, 2) << "a SYN";
  EXPECT_EQ(to_server.dropped[0].ordinal, 1u);
  EXPECT_EQ(to_server.queue_drops, 0u) << "no queue dropped it";
  EXPECT_EQ((*seen)[1].arrived_packets, 0u);
}

TEST_F(RoutedPathTest, SaysWhenItsTapsHadNoRoom) {
  RoutedSpec spec = with_taps();
  spec.tap_packets = 1;
  const RoutedPath path = make(spec);
  if (cannot_tap(path)) GTEST_SKIP() << "no packet sockets here";
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  const auto connection = connect_across(path, *listener);
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE(testing_support::transfer_ns(*connection, 4u << 20).ok());
  const auto seen = path.router_traffic(base::Deadline(milliseconds(1)));
  ASSERT_TRUE(seen.ok()) << seen.status();
  for (const RouterTraffic& traffic : *seen) {
    EXPECT_GT(traffic.unseen_packets, 1000u);
    EXPECT_THAT(traffic.incomplete, HasSubstr("the taps had no room for"));
  }
}

TEST_F(RoutedPathTest, WithoutTapsTellsOfNothing) {
  const auto seen = make().router_traffic(base::Deadline(seconds(5)));
  ASSERT_TRUE(seen.ok()) << seen.status();
  EXPECT_THAT(*seen, ::testing::IsEmpty());
}

TEST_F(RoutedPathTest, TcpSocketIsNonBlockingAndInsideItsNamespace) {
  const RoutedPath path = make();
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  const auto fd = path.tcp_socket(Side::kClient);
  ASSERT_TRUE(fd.ok()) << fd.status();
  EXPECT_NE(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0xc0000201);  // 192.0.2.1
  address.sin_port = htons(listener->port);
  ::connect(fd->get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  pollfd waited = {fd->get(), POLLOUT, 0};
  ASSERT_EQ(::poll(&waited, 1, 20'000), 1);
  EXPECT_EQ(waited.revents & (POLLERR | POLLHUP), 0);
}

TEST_F(RoutedPathTest, LinksHaveTheirAddressesAndNoOffloads) {
  const Observed seen = observe(make());
  ASSERT_THAT(seen.links, SizeIs(4));
  const std::vector<std::string> macs = {"02:00:00:00:01:01", "02:00:00:00:01:fe", "02:00:00:00:02:fe",
                                         "02:00:00:00:02:01"};
  const std::vector<std::string> addresses = {"198.51.100.1/24", "198.51.100.254/24", "192.0.2.254/24",
                                              "192.0.2.1/24"};
  const std::vector<Side> sides = {Side::kClient, Side::kRouter, Side::kRouter, Side::kServer};
  for (size_t i = 0; i < 4; ++i) {
    const LinkState& link = seen.links[i];
    EXPECT_EQ(link.side, sides[i]);
    EXPECT_EQ(link.mac, macs[i]);
    EXPECT_EQ(link.mtu, 1500u);
    EXPECT_TRUE(link.running);
    EXPECT_FALSE(link.tso || link.gso || link.gro) << link.name;
    EXPECT_THAT(link.addresses, Contains(addresses[i]));
    EXPECT_THAT(link.addresses, SizeIs(has_ipv6() ? 2 : 1)) << "no link-local address";
  }
  EXPECT_EQ(seen.filters, 0u);
}

TEST_F(RoutedPathTest, NeighboursAreKnownForEver) {
  const Observed seen = observe(make());
  EXPECT_THAT(seen.neighbours, SizeIs(has_ipv6() ? 8 : 4));
  EXPECT_THAT(seen.neighbours,
              ::testing::Each(AllOf(HasSubstr("lladdr 02:00:00:00:0"), HasSubstr(" PERMANENT"))));
  const std::string client = seen.links[0].name;
  EXPECT_THAT(seen.neighbours,
              Contains("client 198.51.100.254 lladdr 02:00:00:00:01:fe dev " + client + " PERMANENT"));
}

TEST_F(RoutedPathTest, EndpointsRouteThroughTheRouter) {
  const Observed seen = observe(make());
  EXPECT_THAT(seen.routes, Contains("client default via 198.51.100.254 dev " + seen.links[0].name));
  EXPECT_THAT(seen.routes, Contains("server default via 192.0.2.254 dev " + seen.links[3].name));
}

TEST_F(RoutedPathTest, OnlyTheRouterForwards) {
  const Observed seen = observe(make());
  EXPECT_EQ(setting(seen, "router/net.ipv4.ip_forward"), "1");
  EXPECT_EQ(setting(seen, "client/net.ipv4.ip_forward"), "0");
  EXPECT_EQ(setting(seen, "server/net.ipv4.ip_forward"), "0");
  if (!has_ipv6()) return;
  EXPECT_EQ(setting(seen, "router/net.ipv6.conf.all.forwarding"), "1");
  EXPECT_EQ(setting(seen, "client/net.ipv6.conf.all.forwarding"), "0");
}

TEST_F(RoutedPathTest, EndpointsHaveFixedTcpSettings) {
  const Observed seen = observe(make());
  for (const std::string side : {"client/", "server/"}) {
    EXPECT_EQ(setting(seen, side + "net.ipv4.tcp_rmem"), "4096 131072 6291456");
    EXPECT_EQ(setting(seen, side + "net.ipv4.tcp_wmem"), "4096 16384 4194304");
    EXPECT_EQ(setting(seen, side + "net.ipv4.tcp_no_metrics_save"), "1");
    EXPECT_EQ(setting(seen, side + "net.ipv4.tcp_ecn"), "2");
  }
  EXPECT_THAT(seen.unsupported, Contains(HasSubstr("tcp_mem")));
}

TEST_F(RoutedPathTest, ServerAloneGetsItsTcpSettings) {
  RoutedSpec spec = without_qdiscs();
  spec.congestion_control = "reno";
  spec.notsent_lowat_bytes = 16384;
  const RoutedPath path = make(spec);
  const Observed seen = observe(path);
  EXPECT_EQ(setting(seen, "server/net.ipv4.tcp_congestion_control"), "reno");
  EXPECT_EQ(setting(seen, "server/net.ipv4.tcp_notsent_lowat"), "16384");
  if (setting(seen, "client/net.ipv4.tcp_congestion_control") != "cubic") {
    EXPECT_THAT(seen.unsupported, Contains(AllOf(HasSubstr("client"), HasSubstr("tcp_congestion_control"))));
  }
  EXPECT_EQ(setting(seen, "client/net.ipv4.tcp_notsent_lowat"), "4294967295");
}

TEST_F(RoutedPathTest, SnapshotsShowBothEndsOfAConnection) {
  RoutedSpec spec = without_qdiscs();
  spec.congestion_control = "reno";
  const RoutedPath path = make(spec);
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  const auto connection = connect_across(path, *listener);
  ASSERT_TRUE(connection.ok()) << connection.status();
  const int64_t before = base::monotonic_ns();
  const uint16_t port = testing_support::local_port(connection->client.get());
  const auto server = path.snapshot_connection(Side::kServer, port, listener->port);
  const auto client = path.snapshot_connection(Side::kClient, port, listener->port);
  ASSERT_TRUE(server.ok() && client.ok()) << server.status() << client.status();
  EXPECT_EQ(server->socket.congestion_control, "reno");
  EXPECT_EQ(client->socket.congestion_control, "cubic");
  EXPECT_EQ(server->socket.value("tcpi_snd_mss"), 1448u);
  EXPECT_EQ(server->socket.local, client->socket.remote);
  EXPECT_GE(server->taken_ns, before);
  EXPECT_GE(client->taken_ns, server->taken_ns);
}

TEST_F(RoutedPathTest, SnapshotOfOneConnectionIsThatOfItsPorts) {
  const RoutedPath path = make();
  const auto listener = listen_at_server(path);
  ASSERT_TRUE(listener.ok());
  const auto first = connect_across(path, *listener);
  const auto second = connect_across(path, *listener);
  ASSERT_TRUE(first.ok() && second.ok());
  const uint16_t port = testing_support::local_port(second->client.get());
  const auto server = path.snapshot_connection(Side::kServer, port, listener->port);
  const auto client = path.snapshot_connection(Side::kClient, port, listener->port);
  ASSERT_TRUE(server.ok() && client.ok()) << server.status() << client.status();
  EXPECT_EQ(server->socket.remote, "198.51.100.1:" + std::to_string(port));
  EXPECT_EQ(client->socket.local, server->socket.remote);
  EXPECT_EQ(server->socket.state, "ESTAB");
  EXPECT_EQ(path.snapshot_connection(Side::kServer, 1, listener->port).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RoutedPathTest, QdiscSnapshotsNameAllFourLinksInOrder) {
  const RoutedPath path = make();
  const auto qdiscs = path.snapshot_qdiscs();
  ASSERT_TRUE(qdiscs.ok()) << qdiscs.status();
  const Observed seen = observe(path);
  ASSERT_THAT(*qdiscs, SizeIs(4));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ((*qdiscs)[i].link, seen.links[i].name);
    EXPECT_EQ((*qdiscs)[i].side, seen.links[i].side);
    EXPECT_EQ((*qdiscs)[i].qdisc.kind, "noqueue");
  }
}

// Reports, solicitations and detections would come within about two seconds.
TEST_F(RoutedPathTest, SendsNothingByItself) {
  const RoutedPath path = make();
  const auto listening = path.in(Side::kRouter).run([]() -> absl::StatusOr<base::Fd> {
    base::Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
    if (!fd.valid()) return base::errno_status("open", "packet socket");
    return fd;
  });
  ASSERT_TRUE(listening.ok()) << listening.status();
  pollfd waited = {listening->get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waited, 1, 2500), 0) << "a packet on an idle path";
  for (const Side side : kSides) {
    const absl::StatusOr<std::map<std::string, uint64_t>> sent = path.in(side).run(sent_packets);
    ASSERT_TRUE(sent.ok()) << sent.status();
    EXPECT_FALSE(sent->empty());
    for (const auto& [link, packets] : *sent) EXPECT_EQ(packets, 0u) << link;
  }
}

TEST_F(RoutedPathTest, TwoLiveSideBySide) {
  const RoutedPath a = make();
  const RoutedPath b = make();
  for (const RoutedPath* path : {&a, &b}) {
    const auto listener = listen_at_server(*path);
    ASSERT_TRUE(listener.ok());
    const auto connection = connect_across(*path, *listener);
    EXPECT_TRUE(connection.ok()) << connection.status();
  }
}

TEST_F(RoutedPathTest, LeavesTheCallersNetworkAsItWas) {
  const auto links_before = sent_packets();
  const auto forward_before = read_sysctl("net.ipv4.ip_forward");
  {
    const RoutedPath path = make();
    EXPECT_EQ(sent_packets().value(), *links_before);
  }
  EXPECT_EQ(sent_packets().value(), *links_before);
  EXPECT_EQ(read_sysctl("net.ipv4.ip_forward").value(), *forward_before);
}

TEST_F(RoutedPathTest, EndIsReportedByTheKernel) {
  RoutedPath path = make();
  const auto gone = std::move(path).tear_down(base::Deadline(seconds(20)));
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_TRUE(*gone);
}

TEST_F(RoutedPathTest, EndIsNotReportedWhileSomethingHoldsANamespace) {
  RoutedPath path = make();
  const auto held = path.tcp_socket(Side::kServer);
  ASSERT_TRUE(held.ok());
  const auto gone = std::move(path).tear_down(base::Deadline(milliseconds(200)));
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_FALSE(*gone);
}

// The server closes with a full buffer and a client that is gone, so the kernel goes on sending for nobody.
TEST_F(RoutedPathTest, EndsThoughASocketWasClosedWithDataUnsent) {
  RoutedPath path = make();
  {
    const auto listener = listen_at_server(path);
    ASSERT_TRUE(listener.ok());
    const auto connection = connect_across(path, *listener);
    ASSERT_TRUE(connection.ok()) << connection.status();
    ASSERT_TRUE(path.in(Side::kRouter).run([] { return write_sysctl("net.ipv4.ip_forward", "0"); }).ok());
    const std::string bytes(100'000, 'x');
    ASSERT_GT(::send(connection->server.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  }
  const auto gone = std::move(path).tear_down(base::Deadline(seconds(20)));
  ASSERT_TRUE(gone.ok()) << gone.status();
  EXPECT_TRUE(*gone);
}

TEST_F(RoutedPathTest, RefusesQdiscsTheKernelLacks) {
  const auto made = RoutedPath::make(RoutedSpec{.rtt = milliseconds(20)});
  if (made.ok()) GTEST_SKIP() << "this kernel has fq and netem";
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(made.status()),
              AllOf(HasSubstr("set qdisc: client link client"), HasSubstr("this kernel has no fq")));
}

TEST_F(RoutedPathTest, RefusesACongestionControlTheKernelLacksAndSaysWhatItHas) {
  RoutedSpec spec = without_qdiscs();
  spec.congestion_control = "nosuchcontrol";
  const auto made = RoutedPath::make(spec);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message(made.status()),
              AllOf(HasSubstr("server"), HasSubstr("'nosuchcontrol'"), HasSubstr("reno")));
}

struct Refusal {
  const char* name;
  RoutedSpec spec;
  const char* says;
};

class RefusedSpec : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedSpec, IsNamed) {
  const auto made = RoutedPath::make(GetParam().spec);
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << made.status();
  EXPECT_THAT(message(made.status()), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    RoutedPath, RefusedSpec,
    ::testing::Values(
        Refusal{"LossOver100Percent", {.loss = 1.4}, "loss: 1.4 is no fraction"},
        Refusal{"NegativeLoss", {.loss = -0.1}, "loss: -0.1"},
        Refusal{"NegativeRtt", {.rtt = milliseconds(-1)}, "rtt: negative"},
        Refusal{"NoRoom", {.limit_packets = 0}, "limit:"},
        Refusal{"RateOfPartOfAByte", {.rate_bps = 20'000'001}, "rate: 20000001 bit/s"},
        Refusal{"LastSeed", {.seed = UINT64_MAX}, "seed:"},
        Refusal{"NotsentOver32Bits", {.notsent_lowat_bytes = 1ull << 32}, "notsent_lowat: 4294967296"},
        Refusal{"DelayWithoutQdiscs", {.rtt = milliseconds(1), .qdiscs = false}, "without qdiscs"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace hopyard::lab
