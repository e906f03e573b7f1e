// SPDX-License-Identifier: Apache-2.0
// The routed path as methods-and-limits.md describes it: four links, their addresses, routes and neighbours.
#include <algorithm>
#include <array>

#include "verify/consistency.h"

namespace hopyard::verify {
namespace {

struct Place {
  const char* side;
  const char* prefix;  // of the link's name; a number follows
  const char* mac;
  const char* v4;
  const char* v6;
  size_t peer;          // the other end of its network
  const char* network;  // of IPv4
};

constexpr std::array<Place, 4> kPlaces = {
    {{"client", "client", "02:00:00:00:01:01", "198.51.100.1", "2001:db8:1::1", 1, "198.51.100.0/24"},
     {"router", "router-c", "02:00:00:00:01:fe", "198.51.100.254", "2001:db8:1::fe", 0, "198.51.100.0/24"},
     {"router", "router-s", "02:00:00:00:02:fe", "192.0.2.254", "2001:db8:2::fe", 3, "192.0.2.0/24"},
     {"server", "server", "02:00:00:00:02:01", "192.0.2.1", "2001:db8:2::1", 2, "192.0.2.0/24"}}};

void check_link(const StoredLink& link, const Place& place, const std::string& number, Findings& findings) {
  constexpr char kTable[] = "environment_link";
  const std::string row = seq(link.seq);
  findings.same(kTable, row, "namespace_text", std::string(place.side), link.side, "the routed path's order");
  findings.same(kTable, row, "name_text", place.prefix + number, link.name, "the routed path's names");
  findings.same(kTable, row, "mac", std::string(place.mac), link.mac, "the routed path's addresses");
  findings.same(kTable, row, "mtu", kMtu, link.mtu, "the routed path's MTU");
  findings.hold(kTable, row, "tso, gso, gro", !link.tso && !link.gso && !link.gro, "off", "on",
                "offloads are off");
  std::vector<std::string> expected = {std::string(place.v4) + "/24"};
  if (link.addresses.size() > 1) expected.push_back(std::string(place.v6) + "/64");
  std::vector<std::string> seen = link.addresses;
  std::sort(seen.begin(), seen.end());
  std::sort(expected.begin(), expected.end());
  for (size_t i = 0; i < std::max(seen.size(), expected.size()); ++i)
    findings.same("environment_address", "link_" + row + fmt::format(", in order {}", i), "address_text",
                  i < expected.size() ? expected[i] : "none", i < seen.size() ? seen[i] : "none",
                  "the routed path's addresses");
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

void must_have(const std::vector<std::string>& lines, const char* kind, const std::string& line,
               Findings& findings) {
  if (!has(lines, line))
    findings.add("environment_line", kind, "content_text", line, "no such line", "the routed path's plan");
}

void check_lines(const StoredEnvironment& environment, const std::string& number, bool ipv6,
                 Findings& findings) {
  for (const Place& place : kPlaces) {
    const Place& peer = kPlaces[place.peer];
    const std::string dev = std::string(" dev ") + place.prefix + number;
    const std::string side = std::string(place.side) + " ";
    must_have(environment.routes, "route", side + place.network + dev, findings);
    if (std::string_view(place.side) != "router")
      must_have(environment.routes, "route", side + "default via " + peer.v4 + dev, findings);
    for (const char* address : {peer.v4, ipv6 ? peer.v6 : nullptr}) {
      if (address != nullptr)
        must_have(environment.neighbours, "neighbour",
                  side + address + " lladdr " + peer.mac + dev + " PERMANENT", findings);
    }
  }
  const size_t neighbours = kPlaces.size() * (ipv6 ? 2 : 1);
  findings.same("environment_line", "neighbour", "seq", neighbours, environment.neighbours.size(),
                "no neighbour but the planned ones");
}

struct Setting {
  const char* name;
  const char* value;
};
// Set, not left to the kernel: methods-and-limits.md.
constexpr std::array<Setting, 9> kSettings = {{{"client/net.ipv4.ip_forward", "0"},
                                               {"router/net.ipv4.ip_forward", "1"},
                                               {"server/net.ipv4.ip_forward", "0"},
                                               {"client/net.ipv4.tcp_rmem", "4096 131072 6291456"},
                                               {"server/net.ipv4.tcp_rmem", "4096 131072 6291456"},
                                               {"client/net.ipv4.tcp_wmem", "4096 16384 4194304"},
                                               {"server/net.ipv4.tcp_wmem", "4096 16384 4194304"},
                                               {"client/net.ipv4.tcp_no_metrics_save", "1"},
                                               {"server/net.ipv4.tcp_no_metrics_save", "1"}}};

void check_settings(const StoredTrial& trial, Findings& findings) {
  for (const auto& [name, value] : kSettings) {
    const std::string* seen = trial.setting(name);
    std::string plain = seen != nullptr ? *seen : "not read";
    std::replace(plain.begin(), plain.end(), '\t', ' ');
    findings.same("environment_setting", name, "value_text", std::string(value), plain, "set on every path");
  }
}

}  // namespace

void check_environment(const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  if (!trial.environment) return;
  const StoredEnvironment& environment = *trial.environment;
  findings.same("environment", "", "kernel_release_text", trial.kernel_release, environment.kernel_release,
                "the host the outcome names");
  findings.same("environment", "", "clock_text", trial.clock, environment.clock,
                "the host the outcome names");
  if (subject.path.kind != "routed" || environment.links.size() != kPlaces.size()) return;
  const std::string number =
      environment.links[0].name.substr(std::min<size_t>(6, environment.links[0].name.size()));
  bool ipv6 = true;
  for (size_t i = 0; i < kPlaces.size(); ++i) {
    check_link(environment.links[i], kPlaces[i], number, findings);
    ipv6 = ipv6 && environment.links[i].addresses.size() > 1;
  }
  check_lines(environment, number, ipv6, findings);
  check_settings(trial, findings);
  for (const StoredQdisc& qdisc : trial.qdiscs) {
    const bool known = std::any_of(
        environment.links.begin(), environment.links.end(),
        [&](const StoredLink& link) { return link.name == qdisc.link && link.side == qdisc.side; });
    findings.hold("qdisc_snapshot", seq(qdisc.seq), "link_text", known, "a link of the path", qdisc.link,
                  "the environment's links");
  }
}

}  // namespace hopyard::verify
