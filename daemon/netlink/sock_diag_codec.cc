// SPDX-License-Identifier: Apache-2.0
// Tables of what sock_diag reports, and one pass over an answer.
#include "netlink/sock_diag_codec.h"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace hopyard::netlink {
namespace {

using wire::Bytes;
using wire::Field;

// struct tcp_info from its first 32-bit member on, with all that Linux 6.18 has but the last word, which 6.18
// and 7.0 lay out differently. The bytes before are bit fields and come apart below.
constexpr uint16_t kInfoBitFields = 8;
constexpr auto kTcpInfo = wire::lay_out(std::to_array<Field>({
    {"tcpi_state", 1},
    {"tcpi_ca_state", 1},
    {"tcpi_retransmits", 1},
    {"tcpi_probes", 1},
    {"tcpi_backoff", 1},
    {"tcpi_options", 1},
    {"", 1},  // tcpi_snd_wscale, tcpi_rcv_wscale
    {"", 1},  // tcpi_delivery_rate_app_limited, tcpi_fastopen_client_fail
    {"tcpi_rto", 4},
    {"tcpi_ato", 4},
    {"tcpi_snd_mss", 4},
    {"tcpi_rcv_mss", 4},
    {"tcpi_unacked", 4},
    {"tcpi_sacked", 4},
    {"tcpi_lost", 4},
    {"tcpi_retrans", 4},
    {"tcpi_fackets", 4},
    {"tcpi_last_data_sent", 4},
    {"tcpi_last_ack_sent", 4},
    {"tcpi_last_data_recv", 4},
    {"tcpi_last_ack_recv", 4},
    {"tcpi_pmtu", 4},
    {"tcpi_rcv_ssthresh", 4},
    {"tcpi_rtt", 4},
    {"tcpi_rttvar", 4},
    {"tcpi_snd_ssthresh", 4},
    {"tcpi_snd_cwnd", 4},
    {"tcpi_advmss", 4},
    {"tcpi_reordering", 4},
    {"tcpi_rcv_rtt", 4},
    {"tcpi_rcv_space", 4},
    {"tcpi_total_retrans", 4},
    {"tcpi_pacing_rate", 8},
    {"tcpi_max_pacing_rate", 8},
    {"tcpi_bytes_acked", 8},
    {"tcpi_bytes_received", 8},
    {"tcpi_segs_out", 4},
    {"tcpi_segs_in", 4},
    {"tcpi_notsent_bytes", 4},
    {"tcpi_min_rtt", 4},
    {"tcpi_data_segs_in", 4},
    {"tcpi_data_segs_out", 4},
    {"tcpi_delivery_rate", 8},
    {"tcpi_busy_time", 8},
    {"tcpi_rwnd_limited", 8},
    {"tcpi_sndbuf_limited", 8},
    {"tcpi_delivered", 4},
    {"tcpi_delivered_ce", 4},
    {"tcpi_bytes_sent", 8},
    {"tcpi_bytes_retrans", 8},
    {"tcpi_dsack_dups", 4},
    {"tcpi_reord_seen", 4},
    {"tcpi_rcv_ooopack", 4},
    {"tcpi_snd_wnd", 4},
    {"tcpi_rcv_wnd", 4},               // Linux 6.2
    {"tcpi_rehash", 4},                // Linux 6.2
    {"tcpi_total_rto", 2},             // Linux 6.7
    {"tcpi_total_rto_recoveries", 2},  // Linux 6.7
    {"tcpi_total_rto_time", 4},        // Linux 6.7
    {"tcpi_received_ce", 4},           // Linux 6.18, as all below
    {"tcpi_delivered_e1_bytes", 4},
    {"tcpi_delivered_e0_bytes", 4},
    {"tcpi_delivered_ce_bytes", 4},
    {"tcpi_received_e1_bytes", 4},
    {"tcpi_received_e0_bytes", 4},
    {"tcpi_received_ce_bytes", 4},
}));

// SK_MEMINFO_*, in order.
constexpr auto kMemory = wire::lay_out(std::to_array<Field>({
    {"skmem_rmem_alloc", 4},
    {"skmem_rcvbuf", 4},
    {"skmem_wmem_alloc", 4},
    {"skmem_sndbuf", 4},
    {"skmem_fwd_alloc", 4},
    {"skmem_wmem_queued", 4},
    {"skmem_optmem", 4},
    {"skmem_backlog", 4},
    {"skmem_drops", 4},
}));

// struct tcp_bbr_info; its first two words are one number.
constexpr auto kBbr = wire::lay_out(std::to_array<Field>({
    {"bbr_bw", 8},
    {"bbr_min_rtt", 4},
    {"bbr_pacing_gain", 4},
    {"bbr_cwnd_gain", 4},
}));
constexpr auto kVegas = wire::lay_out(std::to_array<Field>({
    {"tcpv_enabled", 4},
    {"tcpv_rttcnt", 4},
    {"tcpv_rtt", 4},
    {"tcpv_minrtt", 4},
}));
constexpr auto kDctcp = wire::lay_out(std::to_array<Field>({
    {"dctcp_enabled", 2},
    {"dctcp_ce_state", 2},
    {"dctcp_alpha", 4},
    {"dctcp_ab_ecn", 4},
    {"dctcp_ab_tot", 4},
}));
constexpr auto kTos = wire::lay_out(std::to_array<Field>({{"tos", 1}}));
constexpr auto kTclass = wire::lay_out(std::to_array<Field>({{"tclass", 1}}));
constexpr auto kShutdown = wire::lay_out(std::to_array<Field>({{"shutdown", 1}}));
constexpr auto kClassId = wire::lay_out(std::to_array<Field>({{"class_id", 4}}));
constexpr auto kMark = wire::lay_out(std::to_array<Field>({{"mark", 4}}));
constexpr auto kV6Only = wire::lay_out(std::to_array<Field>({{"v6only", 1}}));

// What each attribute holds: a structure whose members are named above.
struct Part {
  uint16_t attribute;
  std::span<const Field> fields;
};
constexpr Part kParts[] = {
    {INET_DIAG_SKMEMINFO, kMemory}, {INET_DIAG_INFO, kTcpInfo},      {INET_DIAG_BBRINFO, kBbr},
    {INET_DIAG_VEGASINFO, kVegas},  {INET_DIAG_DCTCPINFO, kDctcp},   {INET_DIAG_TOS, kTos},
    {INET_DIAG_TCLASS, kTclass},    {INET_DIAG_SHUTDOWN, kShutdown}, {INET_DIAG_CLASS_ID, kClassId},
    {INET_DIAG_MARK, kMark},        {INET_DIAG_SKV6ONLY, kV6Only},
};

constexpr std::string_view kStates[] = {"UNKNOWN",    "ESTAB",     "SYN-SENT", "SYN-RECV",   "FIN-WAIT-1",
                                        "FIN-WAIT-2", "TIME-WAIT", "UNCONN",   "CLOSE-WAIT", "LAST-ACK",
                                        "LISTEN",     "CLOSING",   "SYN-RECV"};

void append(std::span<const Field> fields, Bytes bytes, std::vector<SocketValue>& values) {
  for (const Field& field : fields) {
    if (!field.present_in(bytes)) return;
    if (!field.name.empty()) values.push_back({field.name, field.value_in(bytes)});
  }
}

// The bit fields lie from the lowest bit on, as compilers place them on little-endian machines.
void append_bit_fields(Bytes info, std::vector<SocketValue>& values) {
  if (info.size() < kInfoBitFields) return;
  const uint32_t scales = info[6];
  const uint32_t flags = info[7];
  values.push_back({"tcpi_snd_wscale", scales & 15});
  values.push_back({"tcpi_rcv_wscale", scales >> 4});
  values.push_back({"tcpi_delivery_rate_app_limited", flags & 1});
  values.push_back({"tcpi_fastopen_client_fail", flags >> 1 & 3});
}

void append_attribute(uint16_t type, Bytes value, SocketInfo& info) {
  if (type == INET_DIAG_CONG) info.congestion_control = wire::text(value);
  for (const Part& part : kParts) {
    if (part.attribute == type) append(part.fields, value, info.values);
  }
  if (type == INET_DIAG_INFO) append_bit_fields(value, info.values);
}

}  // namespace

std::optional<uint64_t> SocketInfo::value(std::string_view name) const {
  const auto found =
      std::find_if(values.begin(), values.end(), [name](const auto& v) { return v.name == name; });
  if (found == values.end()) return std::nullopt;
  return found->value;
}

std::string endpoint_text(uint8_t family, const uint32_t (&address)[4], uint16_t port) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family, address, text, sizeof text);
  if (family == AF_INET6) return fmt::format("[{}]:{}", text, ntohs(port));
  return fmt::format("{}:{}", text, ntohs(port));
}

absl::StatusOr<Endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [text] {
    return absl::InvalidArgumentError(fmt::format("read endpoint: {}: not address:port", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refuse();
  std::string address(text.substr(0, colon));
  const std::string_view port = text.substr(colon + 1);
  Endpoint endpoint;
  endpoint.family = AF_INET;
  if (address.size() > 2 && address.front() == '[' && address.back() == ']') {
    endpoint.family = AF_INET6;
    address = address.substr(1, address.size() - 2);
  }
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size()) return refuse();
  endpoint.port = htons(number);
  if (::inet_pton(endpoint.family, address.c_str(), endpoint.address) != 1) return refuse();
  return endpoint;
}

inet_diag_req_v2 diag_request(uint8_t family) {
  inet_diag_req_v2 request{};
  request.sdiag_family = family;
  request.sdiag_protocol = IPPROTO_TCP;
  // VEGASINFO brings the congestion control's own numbers, TCLASS the class id; SKMEMINFO has all of MEMINFO.
  for (const int extension : {INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG, INET_DIAG_TOS,
                              INET_DIAG_TCLASS, INET_DIAG_SKMEMINFO, INET_DIAG_SHUTDOWN}) {
    request.idiag_ext |= static_cast<uint8_t>(1u << (extension - 1));
  }
  request.id.idiag_cookie[0] = request.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return request;
}

std::optional<SocketInfo> decode_socket(Bytes payload) {
  const auto message = wire::read<inet_diag_msg>(payload);
  if (!message) return std::nullopt;
  const bool known = message->idiag_state < std::size(kStates);
  SocketInfo info;
  info.local = endpoint_text(message->idiag_family, message->id.idiag_src, message->id.idiag_sport);
  info.remote = endpoint_text(message->idiag_family, message->id.idiag_dst, message->id.idiag_dport);
  info.state = kStates[known ? message->idiag_state : 0];
  info.uid = message->idiag_uid;
  info.inode = message->idiag_inode;
  info.values.reserve(kTcpInfo.size() + kMemory.size() + 20);
  info.values.push_back({"rqueue", message->idiag_rqueue});
  info.values.push_back({"wqueue", message->idiag_wqueue});
  info.values.push_back({"timer", message->idiag_timer});
  info.values.push_back({"timer_expires_ms", message->idiag_expires});
  info.values.push_back({"timer_retrans", message->idiag_retrans});
  wire::for_each_attribute(payload.subspan(sizeof *message),
                           [&info](uint16_t type, Bytes value) { append_attribute(type, value, info); });
  return info;
}

}  // namespace hopyard::netlink
