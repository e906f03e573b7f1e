// SPDX-License-Identifier: Apache-2.0
// Checks of the path and the kernel.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "verify/checks.h"
#include "verify/json_value.h"

namespace hopyard::verify {
namespace {

constexpr uint64_t kLinks = 4;
constexpr char kMss[] = "{1448}";  // 1500 less IP and TCP headers with timestamps
// On lo 65535, what IPv4 can carry, less the same; or half of the peer's window, while that is small.
constexpr uint64_t kLoopbackMss[] = {32768, 65483};
constexpr uint64_t kLoopbackMtu = 65536;

void links(const StoredEnvironment& environment, DerivedChecks& checks) {
  const auto count = [&](auto predicate) {
    return static_cast<uint64_t>(
        std::count_if(environment.links.begin(), environment.links.end(), predicate));
  };
  checks.equal("links", kLinks, environment.links.size());
  checks.equal("links with TSO, GSO or GRO", 0,
               count([](const StoredLink& link) { return link.tso || link.gso || link.gro; }));
  checks.equal("links with an MTU other than 1500", 0,
               count([](const StoredLink& link) { return link.mtu != kMtu; }));
  checks.equal("traffic-control filters", 0, static_cast<uint64_t>(environment.filters));
}

void sysctls(const Subject& subject, DerivedChecks& checks) {
  const auto one = [&](const std::string& name, const std::string& expected) {
    const std::string* seen = subject.trial.setting(name);
    checks.holds(name, expected, seen != nullptr ? *seen : "not read", seen != nullptr && *seen == expected);
  };
  const AskedCase& asked = subject.one_case;
  const bool loopback = subject.path.kind == "loopback";
  const std::string server = loopback ? "loopback" : "server";
  if (asked.congestion_control) one(server + "/net.ipv4.tcp_congestion_control", *asked.congestion_control);
  if (asked.notsent_lowat_bytes)
    one(server + "/net.ipv4.tcp_notsent_lowat", std::to_string(*asked.notsent_lowat_bytes));
  for (const std::string& side :
       loopback ? std::vector<std::string>{server} : std::vector<std::string>{"client", server}) {
    one(side + "/net.ipv4.tcp_no_metrics_save", "1");
    one(side + "/net.ipv4.tcp_ecn", "2");
  }
}

void loopback_link(const StoredEnvironment& environment, DerivedChecks& checks) {
  checks.equal("links", 1, environment.links.size());
  if (environment.links.size() != 1) return;
  const StoredLink& lo = environment.links[0];
  checks.equal("loopback MTU", kLoopbackMtu, static_cast<uint64_t>(lo.mtu));
  checks.equal("loopback offloads", "TSO true, GSO true", fmt::format("TSO {}, GSO {}", lo.tso, lo.gso));
  checks.equal("traffic-control filters", 0, static_cast<uint64_t>(environment.filters));
}

std::string in_braces(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return "{" + text + "}";
}

void sockets(const Subject& subject, DerivedChecks& checks) {
  std::set<std::string> instants, algorithms, mss;
  for (const StoredSocket& socket : subject.trial.sockets) {
    if (socket.side != "server") continue;
    instants.insert(socket.at);
    algorithms.insert("\"" + socket.congestion_control + "\"");
    const auto value = socket.values.find("tcpi_snd_mss");
    mss.insert(value == socket.values.end() ? "0" : std::to_string(value->second));
  }
  if (subject.trial.client->error.empty()) {
    const bool before = instants.contains("before");
    checks.holds("server socket seen", "before", before ? "before" : "not before", before);
    std::set<std::string> missing;
    if (!instants.contains("after")) missing.insert("after");
    for (const AskedRequest& request : subject.workload.requests) {
      if (request.later && !instants.contains("request:" + request.name))
        missing.insert("request:" + request.name);
    }
    checks.of_bed(false);
    checks.holds("connection kept", "at every instant",
                 missing.empty() ? "at every instant" : "not at " + *missing.begin(), missing.empty());
    checks.of_bed(true);
  }
  if (mss.empty()) return;
  if (subject.path.kind == "loopback") {
    const auto within = [](const std::string& bytes) {
      const uint64_t value = std::stoull(bytes);
      return value >= kLoopbackMss[0] && value <= kLoopbackMss[1];
    };
    checks.holds("server socket mss", fmt::format("from {} to {}", kLoopbackMss[0], kLoopbackMss[1]),
                 in_braces(mss), std::all_of(mss.begin(), mss.end(), within));
  } else {
    checks.equal("server socket mss", kMss, in_braces(mss));
  }
  if (subject.one_case.congestion_control)
    checks.equal("server socket congestion control", "{\"" + *subject.one_case.congestion_control + "\"}",
                 in_braces(algorithms));
}

void fq(const StoredQdisc& qdisc, DerivedChecks& checks) {
  const std::string name = "fq at " + qdisc.side;
  checks.equal(name + " kind", "fq", qdisc.kind);
  const bool pacing = qdisc.kind == "fq" && json_text(qdisc.options_json, "pacing") == "true";
  checks.holds(name + " pacing", "on", pacing ? "on" : "off", pacing);
  checks.equal(name + " drops", 0, qdisc.drops);
}

// One netem, and what is asked of it.
struct AskedNetem {
  std::string name;
  int64_t delay_ns;
  uint64_t seed;
};

// The half that an odd round trip cannot share, and the second seed, are for the way back.
AskedNetem asked_of(const Subject& subject, bool towards_client) {
  const int64_t there = subject.path.rtt_ns / 2;
  if (!towards_client) return {"netem towards server", there, subject.trial.seed};
  return {"netem towards client", subject.path.rtt_ns - there, subject.trial.seed + 1};
}

void seed(const Subject& subject, const AskedNetem& asked, const std::string& options,
          DerivedChecks& checks) {
  const std::string wanted = std::to_string(asked.seed);
  for (const std::string& missing : subject.trial.environment->unsupported) {
    if (missing.starts_with("netem seed")) return checks.unsupported(asked.name + " seed", wanted, missing);
  }
  const std::string seen = json_text(options, "seed");
  checks.equal(asked.name + " seed", wanted, seen.empty() ? "none" : seen);
}

void netem(const Subject& subject, const AskedNetem& asked, const StoredQdisc& qdisc, DerivedChecks& checks) {
  const std::string& name = asked.name;
  checks.equal(name + " kind", "netem", qdisc.kind);
  if (qdisc.kind != "netem") return;
  const std::string& options = qdisc.options_json;
  const auto ns = [&](const char* key) {
    return std::to_string(std::llrint(json_number(options, key) * 1e9));
  };
  checks.equal(name + " delay ns", std::to_string(asked.delay_ns), ns("delay"));
  checks.equal(name + " jitter ns", "0", ns("jitter"));
  checks.equal(name + " rate bit/s", subject.path.rate_bps, json_unsigned(options, "rate") * 8);
  checks.equal(name + " loss (of 2^32)", fraction_bits(subject.path.loss),
               fraction_bits(json_number(options, "loss")));
  checks.equal(name + " limit packets", subject.path.limit_packets, json_unsigned(options, "limit"));
  seed(subject, asked, options, checks);
  if (subject.path.loss == 0) checks.equal(name + " drops", 0, qdisc.drops);
}

// The last snapshot's, in the order client, router towards client, router towards server, server.
void qdiscs(const Subject& subject, DerivedChecks& checks) {
  const auto& all = subject.trial.qdiscs;
  size_t first = all.size();
  while (first > 0 && all[first - 1].at == all.back().at) --first;
  const size_t seen = all.size() - first;
  if (subject.path.kind == "loopback") {
    const size_t last = std::min<size_t>(seen, 1);
    checks.equal("root qdiscs", 1, last);
    if (last == 1) netem(subject, {"netem", subject.path.rtt_ns / 2, subject.trial.seed}, all.back(), checks);
    return;
  }
  checks.equal("root qdiscs", kLinks, seen);
  if (seen != kLinks) return;
  fq(all[first], checks);
  netem(subject, asked_of(subject, true), all[first + 1], checks);
  netem(subject, asked_of(subject, false), all[first + 2], checks);
  fq(all[first + 3], checks);
}

// Trials recorded before drops were listed have neither the lists nor their checks.
bool lists_drops(const StoredTrial& trial) {
  return !trial.router.empty() ||
         std::any_of(trial.checks.begin(), trial.checks.end(),
                     [](const StoredCheck& check) { return check.name.starts_with("drops_listed"); });
}

void drops(const Subject& subject, DerivedChecks& checks) {
  if (subject.path.loss == 0 || !lists_drops(subject.trial)) return;
  for (const std::string& missing : subject.trial.environment->unsupported) {
    if (missing.starts_with("list of drops"))
      return checks.unsupported("drops_listed", "every drop", missing);
  }
  checks.equal("drops_listed directions", 2, subject.trial.router.size());
  for (const StoredTraffic& traffic : subject.trial.router) {
    const std::string name = "drops_listed " + traffic.direction;
    if (traffic.incomplete.empty()) {
      checks.equal(name, traffic.queue_drops, traffic.drops);
    } else {
      checks.unsupported(name, std::to_string(traffic.queue_drops), traffic.incomplete);
    }
  }
}

}  // namespace

uint32_t fraction_bits(double fraction) {
  constexpr double kAll = 4294967295.0;
  return static_cast<uint32_t>(std::rint(std::clamp(fraction, 0.0, 1.0) * kAll));
}

void derive_bed_checks(const Subject& subject, DerivedChecks& checks) {
  checks.of_bed(true);
  if (!subject.trial.environment) return;
  const StoredEnvironment& environment = *subject.trial.environment;
  const bool routed = subject.path.kind == "routed";
  if (subject.trial.client && (routed || subject.path.kind == "loopback")) {
    routed ? links(environment, checks) : loopback_link(environment, checks);
    sysctls(subject, checks);
    sockets(subject, checks);
    qdiscs(subject, checks);
    if (routed) drops(subject, checks);
  }
  checks.of_bed(true);
  if (!subject.clock.empty()) checks.equal("clock", subject.clock, environment.clock);
  checks.equal("namespaces gone", "yes", environment.namespaces_gone ? "yes" : "no");
}

}  // namespace hopyard::verify
