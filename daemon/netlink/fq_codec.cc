// SPDX-License-Identifier: Apache-2.0
// fq's options, one attribute each.
#include "netlink/fq_codec.h"

#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "fmt/format.h"

namespace hopyard::netlink {
namespace {

struct NumberOption {
  uint16_t attribute;
  std::string_view name;  // as `tc -j` has it
  std::optional<uint32_t> FqOptions::*member;
};
struct FlagOption {
  uint16_t attribute;
  std::string_view name;
  std::optional<bool> FqOptions::*member;
};

constexpr NumberOption kNumbers[] = {
    {TCA_FQ_PLIMIT, "limit", &FqOptions::limit_packets},
    {TCA_FQ_FLOW_PLIMIT, "flow_limit", &FqOptions::flow_limit_packets},
    {TCA_FQ_BUCKETS_LOG, "buckets", &FqOptions::buckets_log},  // shown as the number itself
    {TCA_FQ_ORPHAN_MASK, "orphan_mask", &FqOptions::orphan_mask},
    {TCA_FQ_QUANTUM, "quantum", &FqOptions::quantum_bytes},
    {TCA_FQ_INITIAL_QUANTUM, "initial_quantum", &FqOptions::initial_quantum_bytes},
    {TCA_FQ_FLOW_MAX_RATE, "maxrate", &FqOptions::max_rate_bytes_per_s},
    {TCA_FQ_LOW_RATE_THRESHOLD, "low_rate_threshold", &FqOptions::low_rate_threshold_bytes_per_s},
    {TCA_FQ_FLOW_REFILL_DELAY, "refill_delay", &FqOptions::refill_delay_us},
    {TCA_FQ_CE_THRESHOLD, "ce_threshold", &FqOptions::ce_threshold_us},
    {TCA_FQ_TIMER_SLACK, "timer_slack", &FqOptions::timer_slack_ns},
    {TCA_FQ_HORIZON, "horizon", &FqOptions::horizon_us},
    {kTcaFqOffloadHorizon, "offload_horizon", nullptr},
};
constexpr FlagOption kFlags[] = {
    {TCA_FQ_RATE_ENABLE, "pacing", &FqOptions::pacing},
    {TCA_FQ_HORIZON_DROP, "horizon_drop", &FqOptions::horizon_drop},
};

// struct tc_fq_qd_stats, with what Linux 6.7 put at its end.
constexpr auto kStats = wire::lay_out(std::to_array<wire::Field>({
    {"gc_flows", 8},
    {"highprio_packets", 8},
    {"tcp_retrans", 8},
    {"throttled", 8},
    {"flows_plimit", 8},
    {"pkts_too_long", 8},
    {"allocation_errors", 8},
    {"time_next_delayed_flow", 8, true},
    {"flows", 4},
    {"inactive_flows", 4},
    {"throttled_flows", 4},
    {"unthrottle_latency_ns", 4},
    {"ce_mark", 8},
    {"horizon_drops", 8},
    {"horizon_caps", 8},
    {"fastpath_packets", 8},
    {"band0_drops", 8},
    {"band1_drops", 8},
    {"band2_drops", 8},
    {"band0_pkt_count", 4},
    {"band1_pkt_count", 4},
    {"band2_pkt_count", 4},
}));

void decode_number(const NumberOption& option, uint32_t value, FqOptions& fq,
                   std::vector<QdiscValue>& options) {
  if (option.member != nullptr) fq.*option.member = value;
  uint64_t shown = value;
  if (option.attribute == TCA_FQ_BUCKETS_LOG) shown = value < 64 ? uint64_t{1} << value : 0;
  options.push_back({option.name, shown});
}

void decode_weights(wire::Bytes value, std::vector<QdiscValue>& options) {
  constexpr std::string_view kNames[] = {"weight0", "weight1", "weight2"};
  for (size_t band = 0; band < std::size(kNames) && (band + 1) * 4 <= value.size(); ++band) {
    options.push_back({kNames[band], int64_t{*wire::read<int32_t>(value.subspan(band * 4))}});
  }
}

}  // namespace

absl::Status check(const FqOptions& options) {
  if (options.quantum_bytes && (*options.quantum_bytes == 0 || *options.quantum_bytes > 1u << 20)) {
    return absl::InvalidArgumentError(
        fmt::format("fq: quantum {}: not between 1 and 1048576", *options.quantum_bytes));
  }
  if (options.buckets_log && (*options.buckets_log < 1 || *options.buckets_log > 18)) {
    return absl::InvalidArgumentError(
        fmt::format("fq: buckets 2^{}: not between 2^1 and 2^18", *options.buckets_log));
  }
  return absl::OkStatus();
}

void put_options(nlmsghdr* request, const FqOptions& options) {
  nlattr* nest = mnl_attr_nest_start(request, TCA_OPTIONS);
  for (const NumberOption& option : kNumbers) {
    if (option.member == nullptr || !(options.*option.member)) continue;
    mnl_attr_put_u32(request, option.attribute, *(options.*option.member));
  }
  if (options.pacing) mnl_attr_put_u32(request, TCA_FQ_RATE_ENABLE, *options.pacing);
  if (options.horizon_drop) mnl_attr_put_u8(request, TCA_FQ_HORIZON_DROP, *options.horizon_drop);
  mnl_attr_nest_end(request, nest);
}

void decode_fq(wire::Bytes payload, QdiscInfo& info) {
  FqOptions& fq = info.fq.emplace();
  info.options.reserve(std::size(kNumbers) + std::size(kFlags) + 3);
  wire::for_each_attribute(payload, [&](uint16_t type, wire::Bytes value) {
    for (const NumberOption& option : kNumbers) {
      if (option.attribute != type) continue;
      if (const auto number = wire::read<uint32_t>(value)) decode_number(option, *number, fq, info.options);
    }
    for (const FlagOption& option : kFlags) {
      if (option.attribute != type || value.empty()) continue;
      const bool on = value[0] != 0 || wire::read<uint32_t>(value).value_or(0) != 0;  // u8 or u32
      fq.*option.member = on;
      info.options.push_back({option.name, on});
    }
    if (type == kTcaFqWeights) decode_weights(value, info.options);
  });
}

void decode_fq_stats(wire::Bytes payload, QdiscInfo& info) {
  info.xstats.reserve(kStats.size());
  for (const wire::Field& field : kStats) {
    if (!field.present_in(payload)) continue;
    const uint64_t value = field.value_in(payload);
    // The one signed member is the time until a delayed flow goes on: negative nonsense if no flow is
    // delayed.
    if (field.is_signed && static_cast<int64_t>(value) <= 0) continue;
    info.xstats.push_back({field.name, value});
  }
}

}  // namespace hopyard::netlink
