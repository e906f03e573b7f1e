// SPDX-License-Identifier: Apache-2.0
// Socket messages built from the C headers' structures, read by name; cut and hostile ones.
#include "netlink/sock_diag_codec.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <libmnl/libmnl.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

#include <cstddef>

namespace hopyard::netlink {
namespace {

using Buffer = std::vector<uint8_t>;

Buffer payload_of(wire::Request request) {
  const wire::Bytes bytes = request.bytes();
  return {bytes.begin() + sizeof(nlmsghdr), bytes.end()};
}

wire::Request message(uint8_t state = 1) {
  wire::Request request(SOCK_DIAG_BY_FAMILY, 0);
  auto* socket = request.extra<inet_diag_msg>();
  socket->idiag_family = AF_INET;
  socket->idiag_state = state;
  socket->idiag_timer = 1;
  socket->idiag_retrans = 2;
  socket->idiag_expires = 204;
  socket->idiag_rqueue = 11;
  socket->idiag_wqueue = 22;
  socket->idiag_uid = 1000;
  socket->idiag_inode = 4242;
  socket->id.idiag_sport = htons(443);
  socket->id.idiag_dport = htons(50000);
  ::inet_pton(AF_INET, "192.0.2.1", socket->id.idiag_src);
  ::inet_pton(AF_INET, "198.51.100.1", socket->id.idiag_dst);
  return request;
}

// Every member holds its own offset, so that a wrong place is a wrong value.
std::array<uint8_t, 512> offsets_as_values() {
  std::array<uint8_t, 512> bytes{};
  for (size_t i = 0; i < bytes.size(); i += 4) {
    bytes[i] = static_cast<uint8_t>(i);
    bytes[i + 1] = static_cast<uint8_t>(i >> 8);
  }
  return bytes;
}

uint64_t wide(size_t offset) { return offset | (uint64_t{offset} + 4) << 32; }

TEST(SocketMessage, IdentityQueuesAndTimerAreRead) {
  const auto info = decode_socket(payload_of(message()));
  EXPECT_EQ(info->local, "192.0.2.1:443");
  EXPECT_EQ(info->remote, "198.51.100.1:50000");
  EXPECT_EQ(info->state, "ESTAB");
  EXPECT_EQ(info->uid, 1000u);
  EXPECT_EQ(info->inode, 4242u);
  EXPECT_EQ(info->value("rqueue"), 11u);
  EXPECT_EQ(info->value("wqueue"), 22u);
  EXPECT_EQ(info->value("timer"), 1u);
  EXPECT_EQ(info->value("timer_expires_ms"), 204u);
  EXPECT_EQ(info->value("timer_retrans"), 2u);
  EXPECT_EQ(info->values.size(), 5u);
  EXPECT_EQ(decode_socket(payload_of(message(10)))->state, "LISTEN");
  EXPECT_EQ(decode_socket(payload_of(message(200)))->state, "UNKNOWN");
}

TEST(SocketMessage, TcpInfoIsReadWhereTheHeadersPutIt) {
  wire::Request request = message();
  const auto bytes = offsets_as_values();
  mnl_attr_put(request.header(), INET_DIAG_INFO, bytes.size(), bytes.data());
  const auto info = decode_socket(payload_of(request));
  // One in each run between changes of width: a slip anywhere moves all that follow.
  EXPECT_EQ(info->value("tcpi_rto"), offsetof(tcp_info, tcpi_rto));
  EXPECT_EQ(info->value("tcpi_rtt"), offsetof(tcp_info, tcpi_rtt));
  EXPECT_EQ(info->value("tcpi_total_retrans"), offsetof(tcp_info, tcpi_total_retrans));
  EXPECT_EQ(info->value("tcpi_pacing_rate"), wide(offsetof(tcp_info, tcpi_pacing_rate)));
  EXPECT_EQ(info->value("tcpi_bytes_received"), wide(offsetof(tcp_info, tcpi_bytes_received)));
  EXPECT_EQ(info->value("tcpi_segs_out"), offsetof(tcp_info, tcpi_segs_out));
  EXPECT_EQ(info->value("tcpi_notsent_bytes"), offsetof(tcp_info, tcpi_notsent_bytes));
  EXPECT_EQ(info->value("tcpi_delivery_rate"), wide(offsetof(tcp_info, tcpi_delivery_rate)));
  EXPECT_EQ(info->value("tcpi_sndbuf_limited"), wide(offsetof(tcp_info, tcpi_sndbuf_limited)));
  EXPECT_EQ(info->value("tcpi_delivered"), offsetof(tcp_info, tcpi_delivered));
  EXPECT_EQ(info->value("tcpi_bytes_sent"), wide(offsetof(tcp_info, tcpi_bytes_sent)));
  EXPECT_EQ(info->value("tcpi_rcv_ooopack"), offsetof(tcp_info, tcpi_rcv_ooopack));
  EXPECT_EQ(info->value("tcpi_snd_wnd"), offsetof(tcp_info, tcpi_snd_wnd));
  // Members younger than the headers: the kernel only ever adds at the end.
  EXPECT_EQ(info->value("tcpi_rcv_wnd"), sizeof(tcp_info));
  EXPECT_EQ(info->value("tcpi_total_rto_time"), sizeof(tcp_info) + 12);
  EXPECT_EQ(info->value("tcpi_received_ce_bytes"), sizeof(tcp_info) + 40);
}

TEST(SocketMessage, BitFieldsComeApart) {
  wire::Request request = message();
  tcp_info tcp{};
  tcp.tcpi_ca_state = 3;
  tcp.tcpi_snd_wscale = 7;
  tcp.tcpi_rcv_wscale = 10;
  tcp.tcpi_delivery_rate_app_limited = 1;
  tcp.tcpi_fastopen_client_fail = 2;
  mnl_attr_put(request.header(), INET_DIAG_INFO, sizeof tcp, &tcp);
  const auto info = decode_socket(payload_of(request));
  EXPECT_EQ(info->value("tcpi_ca_state"), 3u);
  EXPECT_EQ(info->value("tcpi_snd_wscale"), 7u);
  EXPECT_EQ(info->value("tcpi_rcv_wscale"), 10u);
  EXPECT_EQ(info->value("tcpi_delivery_rate_app_limited"), 1u);
  EXPECT_EQ(info->value("tcpi_fastopen_client_fail"), 2u);
}

TEST(SocketMessage, AnOlderKernelGivesOnlyWhatItHas) {
  wire::Request request = message();
  const auto bytes = offsets_as_values();
  mnl_attr_put(request.header(), INET_DIAG_INFO, offsetof(tcp_info, tcpi_delivered), bytes.data());
  const auto info = decode_socket(payload_of(request));
  EXPECT_TRUE(info->value("tcpi_sndbuf_limited").has_value());
  EXPECT_FALSE(info->value("tcpi_delivered").has_value());
  EXPECT_FALSE(info->value("tcpi_snd_wnd").has_value());
}

TEST(SocketMessage, OtherPartsHaveTheirNames) {
  wire::Request request = message();
  const auto bytes = offsets_as_values();
  mnl_attr_put(request.header(), INET_DIAG_SKMEMINFO, 9 * 4, bytes.data());
  mnl_attr_put(request.header(), INET_DIAG_BBRINFO, sizeof(tcp_bbr_info), bytes.data());
  mnl_attr_put_strz(request.header(), INET_DIAG_CONG, "bbr");
  mnl_attr_put_u8(request.header(), INET_DIAG_TOS, 2);
  const auto info = decode_socket(payload_of(request));
  EXPECT_EQ(info->congestion_control, "bbr");
  EXPECT_EQ(info->value("skmem_rmem_alloc"), 0u);
  EXPECT_EQ(info->value("skmem_fwd_alloc"), 16u);
  EXPECT_EQ(info->value("skmem_drops"), 32u);
  EXPECT_EQ(info->value("bbr_bw"), wide(offsetof(tcp_bbr_info, bbr_bw_lo)));
  EXPECT_EQ(info->value("bbr_min_rtt"), offsetof(tcp_bbr_info, bbr_min_rtt));
  EXPECT_EQ(info->value("bbr_cwnd_gain"), offsetof(tcp_bbr_info, bbr_cwnd_gain));
  EXPECT_EQ(info->value("tos"), 2u);
  EXPECT_FALSE(info->value("tcpv_rtt").has_value());
}

Buffer sample() {
  wire::Request request = message();
  const auto bytes = offsets_as_values();
  mnl_attr_put(request.header(), INET_DIAG_INFO, 280, bytes.data());
  mnl_attr_put(request.header(), INET_DIAG_SKMEMINFO, 36, bytes.data());
  mnl_attr_put(request.header(), INET_DIAG_VEGASINFO, 16, bytes.data());
  mnl_attr_put(request.header(), INET_DIAG_DCTCPINFO, 16, bytes.data());
  mnl_attr_put(request.header(), INET_DIAG_CONG, 4, "four");  // no NUL inside
  return payload_of(request);
}

TEST(HostileSocketMessages, CutAnywhereGiveNoMoreThanWasThere) {
  const Buffer whole = sample();
  const auto all = decode_socket(whole);
  EXPECT_EQ(all->congestion_control, "four");
  for (size_t size = 0; size <= whole.size(); ++size) {
    const Buffer cut(whole.begin(), whole.begin() + static_cast<long>(size));
    const auto info = decode_socket(cut);
    EXPECT_EQ(info.has_value(), size >= sizeof(inet_diag_msg)) << size;
    EXPECT_LE(info ? info->values.size() : 0, all->values.size());
  }
}

TEST(HostileSocketMessages, AnyByteMayBeWrong) {
  const Buffer whole = sample();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Buffer changed = whole;
      changed[at] = static_cast<uint8_t>(value);
      EXPECT_TRUE(decode_socket(changed).has_value());
    }
  }
}

TEST(EndpointTest, TextsComeBack) {
  for (const std::string text :
       {"192.0.2.1:443", "0.0.0.0:0", "[2001:db8:2::1]:65535", "[::ffff:192.0.2.1]:1"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint.ok()) << endpoint.status();
    EXPECT_EQ(endpoint_text(endpoint->family, endpoint->address, endpoint->port), text);
  }
}

TEST(EndpointTest, OtherTextsAreRefused) {
  for (const std::string text : {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:-1",
                                 "192.0.2.1:44x", "2001:db8::1:443", "[192.0.2.1]:1", "[]:1", "name:80"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(parse_endpoint(text).status())) << text;
  }
}

}  // namespace
}  // namespace hopyard::netlink
