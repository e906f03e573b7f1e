// SPDX-License-Identifier: Apache-2.0
// netem's options: a fixed structure, then attributes that refine it.
#include "netlink/netem_codec.h"

#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace hopyard::netlink {
namespace {

constexpr double kAlways = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kRateIn64 = std::numeric_limits<uint32_t>::max();

// The scheduler's tick is 64 ns. The tick fields are only a fallback: kernels since 4.15 take the 64-bit
// attributes, which count nanoseconds.
uint32_t ticks(std::chrono::nanoseconds time) {
  return static_cast<uint32_t>(std::min<int64_t>(time.count() >> 6, std::numeric_limits<uint32_t>::max()));
}

absl::Status refuse(std::string_view what, std::string_view why) {
  return absl::InvalidArgumentError(fmt::format("netem: {}: {}", what, why));
}

void put_rate(nlmsghdr* request, uint64_t bytes_per_s) {
  tc_netem_rate rate{};
  if (bytes_per_s > kRateIn64 - 1) {
    mnl_attr_put_u64(request, TCA_NETEM_RATE64, bytes_per_s);
    rate.rate = kRateIn64;
  } else {
    rate.rate = static_cast<uint32_t>(bytes_per_s);
  }
  mnl_attr_put(request, TCA_NETEM_RATE, sizeof rate, &rate);
}

// What one dump of netem says, before it is put in order.
struct Seen {
  tc_netem_qopt qopt{};
  std::optional<tc_netem_corr> correlation;
  std::optional<tc_netem_reorder> reorder;
  std::optional<tc_netem_corrupt> corrupt;
  std::optional<tc_netem_rate> rate;
  std::optional<uint64_t> rate64;
  std::optional<int64_t> latency64;
  std::optional<int64_t> jitter64;
  std::optional<uint32_t> ecn;
  std::optional<tc_netem_gimodel> gi;
  std::optional<tc_netem_gemodel> ge;
  std::optional<tc_netem_slot> slot;
  std::optional<uint64_t> seed;
};

void take_loss_model(wire::Bytes nest, Seen& seen) {
  wire::for_each_attribute(nest, [&seen](uint16_t type, wire::Bytes value) {
    if (type == NETEM_LOSS_GI) seen.gi = wire::read<tc_netem_gimodel>(value);
    if (type == NETEM_LOSS_GE) seen.ge = wire::read<tc_netem_gemodel>(value);
  });
}

void take_attribute(uint16_t type, wire::Bytes value, Seen& seen) {
  switch (type) {
    case TCA_NETEM_CORR:
      seen.correlation = wire::read<tc_netem_corr>(value);
      break;
    case TCA_NETEM_REORDER:
      seen.reorder = wire::read<tc_netem_reorder>(value);
      break;
    case TCA_NETEM_CORRUPT:
      seen.corrupt = wire::read<tc_netem_corrupt>(value);
      break;
    case TCA_NETEM_LOSS:
      take_loss_model(value, seen);
      break;
    case TCA_NETEM_RATE:
      seen.rate = wire::read<tc_netem_rate>(value);
      break;
    case TCA_NETEM_RATE64:
      seen.rate64 = wire::read<uint64_t>(value);
      break;
    case TCA_NETEM_ECN:
      seen.ecn = wire::read<uint32_t>(value);
      break;
    case TCA_NETEM_LATENCY64:
      seen.latency64 = wire::read<int64_t>(value);
      break;
    case TCA_NETEM_JITTER64:
      seen.jitter64 = wire::read<int64_t>(value);
      break;
    case TCA_NETEM_SLOT:
      seen.slot = wire::read<tc_netem_slot>(value);
      break;
    case kTcaNetemPrngSeed:
      seen.seed = wire::read<uint64_t>(value);
      break;
    default:
      break;
  }
}

uint64_t bytes_per_s(const Seen& seen) {
  if (seen.rate64) return *seen.rate64;
  return seen.rate ? seen.rate->rate : 0;
}

NetemOptions to_options(const Seen& seen) {
  NetemOptions options;
  options.limit_packets = seen.qopt.limit;
  options.delay = std::chrono::nanoseconds(seen.latency64.value_or(int64_t{seen.qopt.latency} << 6));
  options.jitter = std::chrono::nanoseconds(seen.jitter64.value_or(int64_t{seen.qopt.jitter} << 6));
  const uint64_t rate = bytes_per_s(seen);
  options.rate_bps =
      rate > std::numeric_limits<uint64_t>::max() / 8 ? std::numeric_limits<uint64_t>::max() : rate * 8;
  options.loss = netem_fraction(seen.qopt.loss);
  options.duplicate = netem_fraction(seen.qopt.duplicate);
  if (seen.corrupt) options.corrupt = netem_fraction(seen.corrupt->probability);
  if (seen.reorder) options.reorder = netem_fraction(seen.reorder->probability);
  options.reorder_gap = seen.qopt.gap;
  options.seed = seen.seed;
  return options;
}

void list_times(const Seen& seen, const NetemOptions& options, std::vector<QdiscValue>& out) {
  out.push_back({"delay", static_cast<double>(options.delay.count()) / 1e9});
  out.push_back({"jitter", static_cast<double>(options.jitter.count()) / 1e9});
  if (seen.correlation) out.push_back({"delay_correlation", netem_fraction(seen.correlation->delay_corr)});
}

void list_loss(const Seen& seen, std::vector<QdiscValue>& out) {
  out.push_back({"loss", netem_fraction(seen.qopt.loss)});
  if (seen.correlation) out.push_back({"loss_correlation", netem_fraction(seen.correlation->loss_corr)});
  if (seen.gi) {
    out.push_back({"loss_state_p13", netem_fraction(seen.gi->p13)});
    out.push_back({"loss_state_p31", netem_fraction(seen.gi->p31)});
    out.push_back({"loss_state_p32", netem_fraction(seen.gi->p32)});
    out.push_back({"loss_state_p14", netem_fraction(seen.gi->p14)});
    out.push_back({"loss_state_p23", netem_fraction(seen.gi->p23)});
  }
  if (seen.ge) {
    out.push_back({"loss_gemodel_p", netem_fraction(seen.ge->p)});
    out.push_back({"loss_gemodel_r", netem_fraction(seen.ge->r)});
    out.push_back({"loss_gemodel_1-h", netem_fraction(~seen.ge->h)});
    out.push_back({"loss_gemodel_1-k", netem_fraction(seen.ge->k1)});
  }
}

void list_changes(const Seen& seen, std::vector<QdiscValue>& out) {
  out.push_back({"duplicate", netem_fraction(seen.qopt.duplicate)});
  if (seen.correlation) out.push_back({"duplicate_correlation", netem_fraction(seen.correlation->dup_corr)});
  if (seen.reorder) {
    out.push_back({"reorder", netem_fraction(seen.reorder->probability)});
    out.push_back({"reorder_correlation", netem_fraction(seen.reorder->correlation)});
  }
  if (seen.corrupt) {
    out.push_back({"corrupt", netem_fraction(seen.corrupt->probability)});
    out.push_back({"corrupt_correlation", netem_fraction(seen.corrupt->correlation)});
  }
}

void list_rate(const Seen& seen, std::vector<QdiscValue>& out) {
  if (!seen.rate) return;
  out.push_back({"rate", bytes_per_s(seen)});
  out.push_back({"packetoverhead", int64_t{seen.rate->packet_overhead}});
  out.push_back({"cellsize", uint64_t{seen.rate->cell_size}});
  out.push_back({"celloverhead", int64_t{seen.rate->cell_overhead}});
}

void list_slot(const Seen& seen, std::vector<QdiscValue>& out) {
  if (!seen.slot) return;
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  out.push_back({"slot_min-delay", seconds(seen.slot->min_delay)});
  out.push_back({"slot_max-delay", seconds(seen.slot->max_delay)});
  out.push_back({"slot_distribution-delay", seconds(seen.slot->dist_delay)});
  out.push_back({"slot_distribution-jitter", seconds(seen.slot->dist_jitter)});
  out.push_back({"slot_packets", int64_t{seen.slot->max_packets}});
  out.push_back({"slot_bytes", int64_t{seen.slot->max_bytes}});
}

}  // namespace

uint32_t netem_fraction_bits(double fraction) {
  return static_cast<uint32_t>(std::rint(std::clamp(fraction, 0.0, 1.0) * kAlways));
}

double netem_fraction(uint32_t bits) { return bits / kAlways; }

absl::Status check(const NetemOptions& options) {
  if (options.limit_packets == 0) return refuse("limit", "must be given");
  if (options.delay.count() < 0) return refuse("delay", "is negative");
  if (options.jitter.count() < 0) return refuse("jitter", "is negative");
  if (options.jitter.count() > 0 && options.delay.count() == 0) return refuse("jitter", "needs a delay");
  if (options.rate_bps % 8 != 0) {
    return refuse("rate",
                  fmt::format("{} bit/s is not a whole number of bytes per second", options.rate_bps));
  }
  const std::pair<std::string_view, double> fractions[] = {{"loss", options.loss},
                                                           {"duplicate", options.duplicate},
                                                           {"corrupt", options.corrupt},
                                                           {"reorder", options.reorder}};
  for (const auto& [name, value] : fractions) {
    if (!(value >= 0 && value <= 1)) return refuse(name, fmt::format("{} is not between 0 and 1", value));
  }
  if (options.reorder > 0 && options.delay.count() == 0) return refuse("reorder", "needs a delay");
  if (options.reorder_gap > 0 && options.reorder == 0) return refuse("gap", "needs a reorder fraction");
  return absl::OkStatus();
}

void put_options(nlmsghdr* request, const NetemOptions& options) {
  tc_netem_qopt qopt{};
  qopt.limit = options.limit_packets;
  qopt.latency = ticks(options.delay);
  qopt.jitter = ticks(options.jitter);
  qopt.loss = netem_fraction_bits(options.loss);
  qopt.duplicate = netem_fraction_bits(options.duplicate);
  qopt.gap = options.reorder > 0 ? std::max(options.reorder_gap, 1u) : 0;
  nlattr* nest = mnl_attr_nest_start(request, TCA_OPTIONS);
  // The structure lies bare at the start of the nest, not in an attribute of its own.
  std::memcpy(mnl_nlmsg_get_payload_tail(request), &qopt, sizeof qopt);
  request->nlmsg_len += MNL_ALIGN(sizeof qopt);
  mnl_attr_put_u64(request, TCA_NETEM_LATENCY64, static_cast<uint64_t>(options.delay.count()));
  mnl_attr_put_u64(request, TCA_NETEM_JITTER64, static_cast<uint64_t>(options.jitter.count()));
  if (options.rate_bps > 0) put_rate(request, options.rate_bps / 8);
  if (options.corrupt > 0) {
    const tc_netem_corrupt corrupt{netem_fraction_bits(options.corrupt), 0};
    mnl_attr_put(request, TCA_NETEM_CORRUPT, sizeof corrupt, &corrupt);
  }
  if (options.reorder > 0) {
    const tc_netem_reorder reorder{netem_fraction_bits(options.reorder), 0};
    mnl_attr_put(request, TCA_NETEM_REORDER, sizeof reorder, &reorder);
  }
  if (options.seed) mnl_attr_put_u64(request, kTcaNetemPrngSeed, *options.seed);
  mnl_attr_nest_end(request, nest);
}

void decode_netem(wire::Bytes payload, QdiscInfo& info) {
  const auto qopt = wire::read<tc_netem_qopt>(payload);
  if (!qopt) return;
  Seen seen;
  seen.qopt = *qopt;
  wire::for_each_attribute(payload.subspan(sizeof *qopt),
                           [&seen](uint16_t type, wire::Bytes value) { take_attribute(type, value, seen); });
  info.netem = to_options(seen);
  std::vector<QdiscValue>& out = info.options;
  out.reserve(24);
  out.push_back({"limit", uint64_t{qopt->limit}});
  list_times(seen, *info.netem, out);
  list_loss(seen, out);
  list_changes(seen, out);
  list_rate(seen, out);
  list_slot(seen, out);
  out.push_back({"ecn", seen.ecn.value_or(0) != 0});
  out.push_back({"gap", uint64_t{qopt->gap}});
  if (seen.seed) out.push_back({"seed", *seen.seed});
}

}  // namespace hopyard::netlink
