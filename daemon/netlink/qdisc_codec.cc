// SPDX-License-Identifier: Apache-2.0
// A qdisc's message: identity, the counters every kind has, and the kind's own part by table.
#include "netlink/qdisc_codec.h"

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <iterator>

#include "fmt/format.h"
#include "netlink/fq_codec.h"
#include "netlink/netem_codec.h"

namespace hopyard::netlink {
namespace {

struct Kind {
  std::string_view name;
  void (*decode_options)(wire::Bytes, QdiscInfo&);
  void (*decode_stats)(wire::Bytes, QdiscInfo&);  // nullptr: the kind has none
};
constexpr Kind kKinds[] = {
    {"fq", decode_fq, decode_fq_stats},
    {"netem", decode_netem, nullptr},
};

// The parts of the message that only the kind can read.
struct OfKind {
  wire::Bytes options;
  wire::Bytes stats;
};

void decode_counters(wire::Bytes nest, QdiscInfo& info, OfKind& of_kind) {
  std::optional<uint64_t> packets64;
  wire::for_each_attribute(nest, [&](uint16_t type, wire::Bytes value) {
    if (type == TCA_STATS_BASIC && value.size() >= 12) {  // the structure's tail padding may be cut
      info.bytes = *wire::read<uint64_t>(value);
      info.packets = *wire::read<uint32_t>(value.subspan(8));
    } else if (type == TCA_STATS_PKT64) {  // there once 32 bits do not do
      packets64 = wire::read<uint64_t>(value);
    } else if (const auto queue = wire::read<gnet_stats_queue>(value); queue && type == TCA_STATS_QUEUE) {
      info.backlog_packets = queue->qlen;
      info.backlog_bytes = queue->backlog;
      info.drops = queue->drops;
      info.requeues = queue->requeues;
      info.overlimits = queue->overlimits;
    } else if (type == TCA_STATS_APP) {
      of_kind.stats = value;
    }
  });
  if (packets64) info.packets = *packets64;
}

std::string json_of(const std::vector<QdiscValue>& values) {
  std::string json = "{";
  for (const QdiscValue& entry : values) {
    if (json.size() > 1) json += ',';
    // Doubles by fmt are the shortest text that reads back as the same number.
    std::visit([&](auto value) { fmt::format_to(std::back_inserter(json), "\"{}\":{}", entry.name, value); },
               entry.value);
  }
  return json + "}";
}

}  // namespace

std::string QdiscInfo::options_json() const { return json_of(options); }
std::string QdiscInfo::xstats_json() const { return json_of(xstats); }

std::optional<QdiscInfo> decode_qdisc(wire::Bytes payload) {
  const auto message = wire::read<tcmsg>(payload);
  if (!message) return std::nullopt;
  QdiscInfo info;
  info.link = message->tcm_ifindex;
  info.handle = message->tcm_handle;
  info.parent = message->tcm_parent;
  OfKind of_kind;
  wire::for_each_attribute(payload.subspan(sizeof *message), [&](uint16_t type, wire::Bytes value) {
    if (type == TCA_KIND) info.kind = wire::text(value);
    if (type == TCA_OPTIONS) of_kind.options = value;
    if (type == TCA_STATS2) decode_counters(value, info, of_kind);
  });
  for (const Kind& kind : kKinds) {
    if (kind.name != info.kind) continue;
    kind.decode_options(of_kind.options, info);
    if (kind.decode_stats != nullptr && !of_kind.stats.empty()) kind.decode_stats(of_kind.stats, info);
  }
  return info;
}

}  // namespace hopyard::netlink
