// SPDX-License-Identifier: Apache-2.0
// Checks of the bed a trial lay on.
#include "trial/bed_checks.h"

#include <algorithm>
#include <optional>
#include <set>

#include "fmt/ranges.h"
#include "lab/loopback_path.h"

namespace hopyard::trial {
namespace {

constexpr uint32_t kMtuBytes = 1500;
constexpr int kLinks = 4;

std::optional<std::string> setting(const v1::Environment& environment, std::string_view name) {
  for (const v1::Setting& candidate : environment.sysctls()) {
    if (candidate.name() == name) return candidate.value();
  }
  return std::nullopt;
}

// What one netem was asked for.
struct Asked {
  std::string name;
  std::chrono::nanoseconds delay;
  std::optional<uint64_t> seed;
};

// The netem of the router's egress towards the client carries the server's bytes, and the second seed; and
// the half that an odd round trip cannot share goes there.
Asked asked_of(const lab::RoutedSpec& asked, bool towards_client) {
  Asked one{towards_client ? "netem towards client" : "netem towards server",
            towards_client ? asked.rtt - asked.rtt / 2 : asked.rtt / 2, asked.seed};
  if (one.seed && towards_client) ++*one.seed;
  return one;
}

void check_seed(const std::string& name, std::optional<uint64_t> asked, const netlink::NetemOptions& seen,
                const v1::Environment& environment, CheckList& checks) {
  if (!asked) return;
  const auto missing = std::find_if(environment.unsupported().begin(), environment.unsupported().end(),
                                    [](const std::string& text) { return text.starts_with(lab::kNoSeed); });
  if (missing != environment.unsupported().end()) {
    checks.unsupported(name + " seed", fmt::format("{}", *asked), *missing);
    return;
  }
  checks.holds(name + " seed", fmt::format("{}", *asked), seen.seed ? fmt::format("{}", *seen.seed) : "none",
               seen.seed == asked);
}

void check_netem(const lab::RoutedSpec& asked, const Asked& one, const lab::QdiscSnapshot& snapshot,
                 const v1::Environment& environment, CheckList& checks) {
  const std::string& name = one.name;
  checks.equal<std::string>(name + " kind", "netem", snapshot.qdisc.kind);
  if (!snapshot.qdisc.netem) return;
  const netlink::NetemOptions& seen = *snapshot.qdisc.netem;
  checks.equal<int64_t>(name + " delay ns", one.delay.count(), seen.delay.count());
  checks.equal<int64_t>(name + " jitter ns", 0, seen.jitter.count());
  checks.equal(name + " rate bit/s", asked.rate_bps, seen.rate_bps);
  checks.equal(name + " loss (of 2^32)", netlink::netem_fraction_bits(asked.loss),
               netlink::netem_fraction_bits(seen.loss));
  checks.equal(name + " limit packets", asked.limit_packets, seen.limit_packets);
  check_seed(name, one.seed, seen, environment, checks);
  // With no loss asked for, a drop here would be the queue's limit: the path was not as asked.
  if (asked.loss == 0) checks.equal<uint64_t>(name + " drops", 0, snapshot.qdisc.drops);
}

void check_fq(const lab::QdiscSnapshot& snapshot, CheckList& checks) {
  const std::string name = fmt::format("fq at {}", lab::side_name(snapshot.side));
  checks.equal<std::string>(name + " kind", "fq", snapshot.qdisc.kind);
  const bool pacing = snapshot.qdisc.fq && snapshot.qdisc.fq->pacing.value_or(false);
  checks.holds(name + " pacing", "on", pacing ? "on" : "off", pacing);
  checks.equal<uint64_t>(name + " drops", 0, snapshot.qdisc.drops);
}

// Every instant after "before" at which the server's socket must still have been there.
std::set<std::string> later_instants(const v1::Workload& workload) {
  std::set<std::string> names = {"after"};
  for (const v1::Request& request : workload.requests()) {
    if (request.has_after()) names.insert("request:" + request.name());
  }
  return names;
}

}  // namespace

void check_links(const v1::Environment& environment, CheckList& checks) {
  uint32_t offloading = 0, other_mtu = 0;
  for (const v1::Link& link : environment.links()) {
    offloading += link.tso() || link.gso() || link.gro();
    other_mtu += link.mtu() != kMtuBytes;
  }
  checks.equal("links", kLinks, environment.links_size());
  checks.equal("links with TSO, GSO or GRO", 0u, offloading);
  checks.equal(fmt::format("links with an MTU other than {}", kMtuBytes), 0u, other_mtu);
  checks.equal("traffic-control filters", 0u, environment.filters());
}

void check_loopback_link(const v1::Environment& environment, CheckList& checks) {
  checks.equal("links", 1, environment.links_size());
  if (environment.links_size() != 1) return;
  const v1::Link& lo = environment.links(0);
  checks.equal("loopback MTU", lab::kLoopbackMtu, lo.mtu());
  const auto text = [](bool tso, bool gso) { return fmt::format("TSO {}, GSO {}", tso, gso); };
  checks.equal("loopback offloads", text(true, true), text(lo.tso(), lo.gso()));
  checks.equal("traffic-control filters", 0u, environment.filters());
}

void check_sysctls(const v1::Tcp& tcp, const std::vector<std::string>& sides,
                   const v1::Environment& environment, CheckList& checks) {
  const auto check = [&](const std::string& name, const std::string& expected) {
    const auto seen = setting(environment, name);
    checks.holds(name, expected, seen.value_or("not read"), seen == expected);
  };
  const std::string& server = sides.back();
  if (tcp.has_congestion_control()) {
    check(server + "/net.ipv4.tcp_congestion_control", tcp.congestion_control());
  }
  if (tcp.has_notsent_lowat_bytes()) {
    check(server + "/net.ipv4.tcp_notsent_lowat", fmt::format("{}", tcp.notsent_lowat_bytes()));
  }
  for (const std::string& side : sides) {
    check(fmt::format("{}/net.ipv4.tcp_no_metrics_save", side), "1");
    check(fmt::format("{}/net.ipv4.tcp_ecn", side), "2");
  }
}

void check_sockets(const v1::TrialSpec& spec, const v1::TrialResult& result, Mss mss_range, CheckList& bed,
                   CheckList& server) {
  std::set<std::string> missing = later_instants(spec.workload());
  bool seen_before = false;
  std::set<std::string> algorithms;
  std::set<uint64_t> mss;
  for (const v1::SocketSnapshot& socket : result.sockets()) {
    if (socket.side() != "server") continue;
    seen_before |= socket.at() == "before";
    missing.erase(socket.at());
    algorithms.insert(socket.congestion_control());
    const auto value = socket.values().find("tcpi_snd_mss");
    mss.insert(value != socket.values().end() ? value->second : 0);
  }
  // A client that stopped early did not reach every instant; that is judged by itself.
  if (result.client().error().empty()) {
    bed.holds("server socket seen", "before", seen_before ? "before" : "not before", seen_before);
    server.holds("connection kept", "at every instant",
                 missing.empty() ? "at every instant" : fmt::format("not at {}", *missing.begin()),
                 missing.empty());
  }
  if (mss.empty()) return;
  const bool one = mss_range.least_bytes == mss_range.most_bytes;
  bed.holds("server socket mss",
            one ? fmt::format("{}", std::set<uint64_t>{mss_range.least_bytes})
                : fmt::format("from {} to {}", mss_range.least_bytes, mss_range.most_bytes),
            fmt::format("{}", mss),
            *mss.begin() >= mss_range.least_bytes && *mss.rbegin() <= mss_range.most_bytes);
  if (spec.case_().tcp().has_congestion_control()) {
    const std::set<std::string> expected = {spec.case_().tcp().congestion_control()};
    bed.equal("server socket congestion control", fmt::format("{}", expected), fmt::format("{}", algorithms));
  }
}

void check_qdiscs(const lab::RoutedSpec& asked, const std::vector<lab::QdiscSnapshot>& qdiscs,
                  const v1::Environment& environment, CheckList& checks) {
  checks.equal("root qdiscs", kLinks, static_cast<int>(qdiscs.size()));
  if (qdiscs.size() != kLinks) return;
  // In the lab's order: client, router towards client, router towards server, server.
  check_fq(qdiscs[0], checks);
  check_netem(asked, asked_of(asked, /*towards_client=*/true), qdiscs[1], environment, checks);
  check_netem(asked, asked_of(asked, /*towards_client=*/false), qdiscs[2], environment, checks);
  check_fq(qdiscs[3], checks);
}

void check_loopback_qdisc(const lab::RoutedSpec& asked, const std::optional<lab::QdiscSnapshot>& qdisc,
                          const v1::Environment& environment, CheckList& checks) {
  checks.equal("root qdiscs", 1, qdisc ? 1 : 0);
  if (qdisc) check_netem(asked, {"netem", asked.rtt / 2, asked.seed}, *qdisc, environment, checks);
}

void check_drops(const v1::TrialResult& result, CheckList& checks) {
  const std::string name = "drops_listed";
  for (const std::string& missing : result.environment().unsupported()) {
    if (missing.starts_with(lab::kNoDropList)) return checks.unsupported(name, "every drop", missing);
  }
  checks.equal(name + " directions", 2, result.router_size());
  for (const v1::RouterTraffic& traffic : result.router()) {
    const std::string of = fmt::format("{} {}", name, traffic.direction());
    if (!traffic.incomplete().empty()) {
      checks.unsupported(of, fmt::format("{}", traffic.queue_drops()), traffic.incomplete());
    } else {
      checks.equal(of, traffic.queue_drops(), static_cast<uint64_t>(traffic.drops_size()));
    }
  }
}

}  // namespace hopyard::trial
