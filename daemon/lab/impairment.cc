// SPDX-License-Identifier: Apache-2.0
// The qdiscs of a path: never netem under fq, and netem on a sender only where the path is a loopback.
#include "lab/impairment.h"

#include <sys/utsname.h>

#include "fmt/format.h"

namespace hopyard::lab {
namespace {

// The kernel's defaults, stated, so that they are known to be the same everywhere.
netlink::FqOptions endpoint_options() {
  return {.limit_packets = 10000, .flow_limit_packets = 100, .pacing = true};
}

// `slot` is a router egress. The half that an odd round trip cannot share goes to the way back.
netlink::NetemOptions router_options(LinkSlot slot, const RoutedSpec& spec) {
  const bool to_server = slot == kRouterToServer;
  netlink::NetemOptions options;
  options.limit_packets = spec.limit_packets;
  options.delay = to_server ? spec.rtt / 2 : spec.rtt - spec.rtt / 2;
  options.rate_bps = spec.rate_bps;
  options.loss = spec.loss;
  if (spec.seed) options.seed = *spec.seed + (to_server ? 0 : 1);
  return options;
}

bool at_router(LinkSlot slot) { return slot == kRouterToClient || slot == kRouterToServer; }

absl::Status add_one(const Topology& topology, LinkSlot slot, const RoutedSpec& spec, Ends& ends) {
  const LinkPlan& link = topology.links[slot];
  netlink::QdiscSocket& socket = ends[side_index(link.side)].qdisc;
  const absl::Status status = at_router(slot) ? socket.add_root(link.index, router_options(slot, spec))
                                              : socket.add_root(link.index, endpoint_options());
  if (status.ok()) return status;
  const std::string object = fmt::format("{} link {}", side_name(link.side), link.name);
  if (!absl::IsNotFound(status)) return base::annotate(status, "set qdisc", object);
  return absl::FailedPreconditionError(fmt::format("set qdisc: {}: this kernel has no {} ({})", object,
                                                   at_router(slot) ? "netem" : "fq",
                                                   std::string(status.message())));
}

// One option as asked and as read back.
class Comparison {
 public:
  explicit Comparison(const QdiscSnapshot& seen) : seen_(seen) {}

  template <typename T>
  void same(std::string_view option, const T& asked, const T& seen) {
    if (asked != seen) differences_ += fmt::format("; {}: asked {}, the kernel has {}", option, asked, seen);
  }
  void different_kind(std::string_view asked) {
    differences_ += fmt::format("; kind: asked {}, the kernel has {}", asked, seen_.qdisc.kind);
  }
  absl::Status result() const {
    if (differences_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        fmt::format("read back qdisc: {} link {}{}", side_name(seen_.side), seen_.link, differences_));
  }

 private:
  const QdiscSnapshot& seen_;
  std::string differences_;
};

absl::Status compare_fq(const QdiscSnapshot& seen) {
  Comparison comparison(seen);
  if (!seen.qdisc.fq) {
    comparison.different_kind("fq");
    return comparison.result();
  }
  const netlink::FqOptions asked = endpoint_options();
  comparison.same("limit", *asked.limit_packets, seen.qdisc.fq->limit_packets.value_or(0));
  comparison.same("flow_limit", *asked.flow_limit_packets, seen.qdisc.fq->flow_limit_packets.value_or(0));
  comparison.same("pacing", *asked.pacing, seen.qdisc.fq->pacing.value_or(false));
  return comparison.result();
}

void compare_seed(const netlink::NetemOptions& asked, const netlink::NetemOptions& has,
                  Comparison& comparison, std::vector<std::string>& unsupported) {
  if (!asked.seed) return;
  if (has.seed) {
    comparison.same("seed", *asked.seed, *has.seed);
    return;
  }
  utsname kernel = {};
  ::uname(&kernel);
  const std::string note = fmt::format("{}: kernel {} has none", kNoSeed, kernel.release);
  if (unsupported.empty() || unsupported.back() != note) unsupported.push_back(note);
}

absl::Status compare_netem(const netlink::NetemOptions& asked, const QdiscSnapshot& seen,
                           std::vector<std::string>& unsupported) {
  Comparison comparison(seen);
  if (!seen.qdisc.netem) {
    comparison.different_kind("netem");
    return comparison.result();
  }
  const netlink::NetemOptions& has = *seen.qdisc.netem;
  comparison.same("limit", asked.limit_packets, has.limit_packets);
  comparison.same("delay_ns", asked.delay.count(), has.delay.count());
  comparison.same("jitter_ns", asked.jitter.count(), has.jitter.count());
  comparison.same("rate_bps", asked.rate_bps, has.rate_bps);
  comparison.same("loss/2^32", netlink::netem_fraction_bits(asked.loss),
                  netlink::netem_fraction_bits(has.loss));
  comparison.same("duplicate", asked.duplicate, has.duplicate);
  comparison.same("corrupt", asked.corrupt, has.corrupt);
  comparison.same("reorder", asked.reorder, has.reorder);
  compare_seed(asked, has, comparison, unsupported);
  return comparison.result();
}

absl::Status refuse(std::string_view object, std::string_view cause) {
  return absl::InvalidArgumentError(fmt::format("set up path: {}: {}", object, cause));
}

}  // namespace

absl::Status check_impairment(const RoutedSpec& spec) {
  if (spec.rtt.count() < 0) return refuse("rtt", "negative");
  if (!(spec.loss >= 0 && spec.loss <= 1))
    return refuse("loss", fmt::format("{} is no fraction of 1", spec.loss));
  if (spec.limit_packets == 0) return refuse("limit", "netem with no room drops every packet");
  if (spec.rate_bps % 8 != 0)
    return refuse("rate", fmt::format("{} bit/s is no whole number of bytes", spec.rate_bps));
  if (spec.seed && *spec.seed == UINT64_MAX) return refuse("seed", "leaves no successor for the way back");
  if (!spec.qdiscs && (spec.rtt.count() != 0 || spec.rate_bps != 0 || spec.loss != 0 || spec.seed)) {
    return refuse("rtt, rate, loss, seed", "asked for a path without qdiscs");
  }
  return absl::OkStatus();
}

absl::Status add_qdiscs(const Topology& topology, const RoutedSpec& spec, Ends& ends) {
  for (const LinkSlot slot : {kClientLink, kRouterToClient, kRouterToServer, kServerLink}) {
    HOPYARD_RETURN_IF_ERROR(add_one(topology, slot, spec, ends));
  }
  return absl::OkStatus();
}

absl::Status compare_qdiscs(const Topology& topology, const RoutedSpec& spec,
                            const std::vector<QdiscSnapshot>& seen, std::vector<std::string>& unsupported) {
  if (seen.size() != topology.links.size()) {
    return absl::FailedPreconditionError(fmt::format("read back qdisc: path: {} roots, not 4", seen.size()));
  }
  for (const LinkSlot slot : {kClientLink, kRouterToClient, kRouterToServer, kServerLink}) {
    HOPYARD_RETURN_IF_ERROR(at_router(slot)
                                ? compare_netem(router_options(slot, spec), seen[slot], unsupported)
                                : compare_fq(seen[slot]));
  }
  return absl::OkStatus();
}

netlink::NetemOptions loopback_options(const RoutedSpec& spec) {
  netlink::NetemOptions options;
  options.limit_packets = spec.limit_packets;
  options.delay = spec.rtt / 2;
  options.rate_bps = spec.rate_bps;
  options.loss = spec.loss;
  options.seed = spec.seed;
  return options;
}

absl::Status compare_loopback_qdisc(const RoutedSpec& spec, const QdiscSnapshot& seen,
                                    std::vector<std::string>& unsupported) {
  return compare_netem(loopback_options(spec), seen, unsupported);
}

}  // namespace hopyard::lab
