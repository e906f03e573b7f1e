// SPDX-License-Identifier: Apache-2.0
// Snapshots of real connections, figure by figure against ss, and how they are found.
#include "netlink/sock_diag.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fmt/format.h"
#include "unit/netlink/network.h"
#include "unit/netlink/ss_text.h"

namespace hopyard::netlink {
namespace {

using netlink_test::connect_tcp;
using netlink_test::expect_as_ss_says;
using netlink_test::output_of;
using netlink_test::TcpPair;
using netlink_test::transfer;

class SockDiagTest : public netlink_test::NetworkTest {};

SocketFilter ports(uint16_t local, uint16_t remote) { return {.local_port = local, .remote_port = remote}; }

// The only socket that matches; a default one, with a failure, if there is not just one.
SocketInfo only(SockDiag& diag, const SocketFilter& filter) {
  const auto sockets = diag.dump(filter);
  EXPECT_TRUE(sockets.ok()) << sockets.status();
  if (!sockets.ok() || sockets->size() != 1) {
    ADD_FAILURE() << "sockets that match: " << (sockets.ok() ? sockets->size() : 0);
    return {};
  }
  return sockets->front();
}

void expect_same_as_ss(SockDiag& diag, uint16_t local, uint16_t remote, size_t least_figures) {
  const SocketInfo before = only(diag, ports(local, remote));
  const std::string line = output_of({"/bin/ss", "-tinmoH", "sport", "=", fmt::format(":{}", local), "and",
                                      "dport", "=", fmt::format(":{}", remote)});
  const SocketInfo after = only(diag, ports(local, remote));
  SCOPED_TRACE(line);
  EXPECT_GE(expect_as_ss_says(line, before, after), least_figures);
}

TEST_F(SockDiagTest, EveryFigureOfBothEndsIsAsSsShowsIt) {
  const TcpPair pair = connect_tcp("127.0.0.1");
  transfer(pair.client, pair.server, 600'000);
  transfer(pair.server, pair.client, 30'000);
  ASSERT_TRUE(base::write_all(pair.server.get(), std::string(700, 'u')).ok());  // left unread
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  expect_same_as_ss(diag, pair.client_port, pair.server_port, 40);
  expect_same_as_ss(diag, pair.server_port, pair.client_port, 40);
  EXPECT_EQ(only(diag, ports(pair.client_port, pair.server_port)).value("rqueue"), 700u);
}

TEST_F(SockDiagTest, AnIpv6ConnectionIsAsSsShowsIt) {
  const TcpPair pair = connect_tcp("::1", "cubic");
  transfer(pair.client, pair.server, 50'000);
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  expect_same_as_ss(diag, pair.client_port, pair.server_port, 30);
  const SocketInfo info = only(diag, ports(pair.client_port, pair.server_port));
  EXPECT_EQ(info.local, fmt::format("[::1]:{}", pair.client_port));
  EXPECT_EQ(info.congestion_control, "cubic");
  EXPECT_FALSE(info.value("bbr_bw").has_value());
}

TEST_F(SockDiagTest, BytesAreCountedWhereTheyAre) {
  const TcpPair pair = connect_tcp("127.0.0.1");
  transfer(pair.client, pair.server, 12'345);
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  const SocketInfo client = only(diag, ports(pair.client_port, pair.server_port));
  const SocketInfo server = only(diag, ports(pair.server_port, pair.client_port));
  EXPECT_EQ(client.value("tcpi_bytes_sent"), 12'345u);
  EXPECT_EQ(server.value("tcpi_bytes_received"), 12'345u);
  EXPECT_EQ(server.value("tcpi_bytes_sent"), 0u);
  EXPECT_EQ(client.value("tcpi_state"), 1u);
  EXPECT_FALSE(client.value("tcpi_no_such_member").has_value());
}

TEST_F(SockDiagTest, InodeAndOwnerAreTheDescriptors) {
  const TcpPair pair = connect_tcp("127.0.0.1");
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  const SocketInfo info = only(diag, ports(pair.client_port, pair.server_port));
  struct stat file {};
  ASSERT_EQ(::fstat(pair.client.get(), &file), 0);
  EXPECT_EQ(info.inode, file.st_ino);
  EXPECT_EQ(info.uid, file.st_uid);
}

TEST_F(SockDiagTest, ARunningTimerIsTold) {
  const TcpPair pair = connect_tcp("127.0.0.1");
  const int on = 1;
  ASSERT_EQ(::setsockopt(pair.client.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on), 0);
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  const SocketInfo info = only(diag, ports(pair.client_port, pair.server_port));
  EXPECT_EQ(info.value("timer"), 2u);
  EXPECT_GT(info.value("timer_expires_ms"), 7'000'000u);  // two hours by default
  EXPECT_EQ(info.value("timer_retrans"), 0u);
  EXPECT_EQ(only(diag, ports(pair.server_port, pair.client_port)).value("timer"), 0u);
}

TEST_F(SockDiagTest, ASocketIsFoundByItsEndpoints) {
  for (const std::string address : {"127.0.0.1", "::1"}) {
    const TcpPair pair = connect_tcp(address);
    transfer(pair.client, pair.server, 100);
    ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
    const SocketInfo listed = only(diag, ports(pair.server_port, pair.client_port));
    ASSERT_OK_AND_TAKE(const SocketInfo found, diag.find(listed.local, listed.remote));
    EXPECT_EQ(found.local, listed.local);
    EXPECT_EQ(found.remote, listed.remote);
    EXPECT_EQ(found.inode, listed.inode);
    EXPECT_EQ(found.values.size(), listed.values.size());
    EXPECT_EQ(found.value("tcpi_bytes_received"), 100u);
  }
}

TEST_F(SockDiagTest, AConnectionThatIsNotThereIsNotFound) {
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  EXPECT_TRUE(absl::IsNotFound(diag.find("127.0.0.1:1", "127.0.0.1:2").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(diag.find("127.0.0.1", "127.0.0.1:2").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(diag.find("127.0.0.1:1", "::1:2:x").status()));
}

TEST_F(SockDiagTest, TheListenerIsNotTakenForAConnection) {
  const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::listen(listener.get(), 1), 0);  // binds to a port of the kernel's choice
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  const SocketInfo info = only(diag, {.states = kListening});
  EXPECT_EQ(info.state, "LISTEN");
  const std::string port = info.local.substr(info.local.rfind(':') + 1);
  EXPECT_TRUE(absl::IsNotFound(diag.find("127.0.0.1:" + port, "127.0.0.1:5").status()));
}

TEST_F(SockDiagTest, FiltersChooseByPortStateAndFamily) {
  const TcpPair first = connect_tcp("127.0.0.1");
  const TcpPair second = connect_tcp("127.0.0.1");
  const TcpPair third = connect_tcp("::1");
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  EXPECT_EQ(diag.dump({}).value().size(), 6u);
  EXPECT_EQ(diag.dump({.ipv6 = false}).value().size(), 4u);
  EXPECT_EQ(diag.dump({.ipv4 = false}).value().size(), 2u);
  EXPECT_EQ(diag.dump({.local_port = first.server_port}).value().size(), 1u);
  EXPECT_EQ(diag.dump({.remote_port = second.server_port}).value().size(), 1u);
  EXPECT_EQ(diag.dump({.states = kListening}).value().size(), 0u);
  ASSERT_EQ(::shutdown(first.client.get(), SHUT_WR), 0);
  char byte;
  ASSERT_EQ(::read(first.server.get(), &byte, 1), 0);  // the FIN is there
  EXPECT_THAT(only(diag, ports(first.client_port, first.server_port)).state,
              testing::StartsWith("FIN-WAIT-"));
  EXPECT_EQ(only(diag, ports(first.server_port, first.client_port)).state, "CLOSE-WAIT");
}

TEST_F(SockDiagTest, ManySocketsNeedMoreThanOneAnswer) {
  std::vector<TcpPair> pairs;
  for (int i = 0; i < 100; ++i) pairs.push_back(connect_tcp("127.0.0.1"));
  ASSERT_OK_AND_TAKE(SockDiag diag, SockDiag::open());
  ASSERT_OK_AND_TAKE(const auto sockets, diag.dump({}));
  EXPECT_EQ(sockets.size(), 200u);
  EXPECT_EQ(diag.dump({}).value().size(), 200u);
}

TEST_F(SockDiagTest, ASocketOpenedInsideSeesItsNamespaceFromOutside) {
  const base::Fd other = netlink_test::new_netns();
  std::optional<SockDiag> diag;
  netlink_test::inside(other, [&diag] { diag = SockDiag::open().value(); });
  const TcpPair here = connect_tcp("127.0.0.1");
  EXPECT_EQ(diag->dump({}).value().size(), 0u);
  EXPECT_EQ(SockDiag::open()->dump({}).value().size(), 2u);
}

}  // namespace
}  // namespace hopyard::netlink
