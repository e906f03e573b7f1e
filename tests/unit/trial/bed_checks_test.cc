// SPDX-License-Identifier: Apache-2.0
// Each check of the routed bed holds on a bed as asked and breaks, by its own name, on one wrong value.
#include "trial/bed_checks.h"

#include <functional>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hopyard::trial {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Bed {
  v1::TrialSpec spec;
  v1::TrialResult result;
  lab::RoutedSpec asked;
  std::vector<lab::QdiscSnapshot> qdiscs;
};

lab::QdiscSnapshot fq(lab::Side side) {
  lab::QdiscSnapshot snapshot{side, "link"};
  snapshot.qdisc.kind = "fq";
  snapshot.qdisc.fq.emplace().pacing = true;
  return snapshot;
}

lab::QdiscSnapshot netem(const lab::RoutedSpec& asked, uint64_t seed) {
  lab::QdiscSnapshot snapshot{lab::Side::kRouter, "link"};
  snapshot.qdisc.kind = "netem";
  netlink::NetemOptions& options = snapshot.qdisc.netem.emplace();
  options.limit_packets = asked.limit_packets;
  options.delay = asked.rtt / 2;
  options.rate_bps = asked.rate_bps;
  options.loss = asked.loss;
  options.seed = seed;
  return snapshot;
}

Bed good() {
  Bed bed;
  bed.asked.rtt = std::chrono::milliseconds(20);
  bed.asked.rate_bps = 20'000'000;
  bed.asked.limit_packets = 10000;
  bed.asked.seed = 7;
  bed.qdiscs = {fq(lab::Side::kClient), netem(bed.asked, 8), netem(bed.asked, 7), fq(lab::Side::kServer)};
  v1::Environment& environment = *bed.result.mutable_environment();
  for (int i = 0; i < 4; ++i) environment.add_links()->set_mtu(1500);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"server/net.ipv4.tcp_congestion_control", "bbr"},
                                                        {"server/net.ipv4.tcp_notsent_lowat", "16384"},
                                                        {"client/net.ipv4.tcp_no_metrics_save", "1"},
                                                        {"server/net.ipv4.tcp_no_metrics_save", "1"},
                                                        {"client/net.ipv4.tcp_ecn", "2"},
                                                        {"server/net.ipv4.tcp_ecn", "2"}}) {
    v1::Setting* setting = environment.add_sysctls();
    setting->set_name(name);
    setting->set_value(value);
  }
  bed.spec.mutable_case_()->mutable_tcp()->set_congestion_control("bbr");
  bed.spec.mutable_case_()->mutable_tcp()->set_notsent_lowat_bytes(16384);
  bed.spec.mutable_workload()->add_requests()->set_name("bulk");
  v1::Request* later = bed.spec.mutable_workload()->add_requests();
  later->set_name("later");
  later->mutable_after()->set_request("bulk");
  for (const char* at : {"before", "request:later", "after"}) {
    v1::SocketSnapshot* socket = bed.result.add_sockets();
    socket->set_at(at);
    socket->set_side("server");
    socket->set_congestion_control("bbr");
    (*socket->mutable_values())["tcpi_snd_mss"] = 1448;
  }
  return bed;
}

// The bed's checks, then the server's with "server: " before their names.
std::vector<v1::Check> checks_of(const Bed& bed) {
  CheckList checks(Blame::kBed), server(Blame::kServer);
  check_links(bed.result.environment(), checks);
  check_sysctls(bed.spec.case_().tcp(), {"client", "server"}, bed.result.environment(), checks);
  check_sockets(bed.spec, bed.result, kMss, checks, server);
  check_qdiscs(bed.asked, bed.qdiscs, bed.result.environment(), checks);
  std::vector<v1::Check> all = checks.checks();
  for (v1::Check check : server.checks()) {
    check.set_name("server: " + check.name());
    all.push_back(check);
  }
  return all;
}

std::vector<std::string> broken_after(const std::function<void(Bed&)>& change) {
  Bed bed = good();
  change(bed);
  std::vector<std::string> names;
  for (const v1::Check& check : checks_of(bed)) {
    if (check.outcome() == v1::BROKEN) names.push_back(check.name());
  }
  return names;
}

TEST(BedChecks, HoldOnABedAsAsked) {
  EXPECT_THAT(broken_after([](Bed&) {}), IsEmpty());
}

// Directions with so many drops counted and so many listed.
v1::TrialResult with_drops(uint64_t counted, int listed, const std::string& incomplete = "") {
  v1::TrialResult result;
  for (const char* direction : {"to_server", "to_client"}) {
    v1::RouterTraffic& traffic = *result.add_router();
    traffic.set_direction(direction);
    traffic.set_queue_drops(counted);
    traffic.set_incomplete(incomplete);
    for (int i = 0; i < listed; ++i) traffic.add_drops();
  }
  return result;
}

std::vector<std::string> drop_checks(const v1::TrialResult& result) {
  CheckList checks(Blame::kBed);
  check_drops(result, checks);
  std::vector<std::string> lines;
  for (const v1::Check& check : checks.checks()) {
    lines.push_back(fmt::format("{} {}: {} | {}", v1::Outcome_Name(check.outcome()), check.name(),
                                check.expected(), check.seen()));
  }
  return lines;
}

TEST(BedChecks, CompareTheListOfDropsWithNetemsCounter) {
  EXPECT_THAT(drop_checks(with_drops(3, 3)),
              ElementsAre("HOLDS drops_listed directions: 2 | 2", "HOLDS drops_listed to_server: 3 | 3",
                          "HOLDS drops_listed to_client: 3 | 3"));
  EXPECT_THAT(drop_checks(with_drops(3, 2)),
              ElementsAre("HOLDS drops_listed directions: 2 | 2", "BROKEN drops_listed to_server: 3 | 2",
                          "BROKEN drops_listed to_client: 3 | 2"));
}

TEST(BedChecks, RecordAnIncompleteListOfDropsAndDoNotJudgeIt) {
  EXPECT_THAT(
      drop_checks(with_drops(3, 2, "no room")),
      ElementsAre("HOLDS drops_listed directions: 2 | 2", "UNSUPPORTED drops_listed to_server: 3 | no room",
                  "UNSUPPORTED drops_listed to_client: 3 | no room"));
}

TEST(BedChecks, SayWhyThereIsNoListOfDrops) {
  v1::TrialResult result;
  EXPECT_THAT(drop_checks(result), ElementsAre("BROKEN drops_listed directions: 2 | 0"));
  result.mutable_environment()->add_unsupported("list of drops: no packet sockets");
  EXPECT_THAT(drop_checks(result),
              ElementsAre("UNSUPPORTED drops_listed: every drop | list of drops: no packet sockets"));
}

TEST(BedChecks, NameAnOffloadAnMtuAndAFilter) {
  EXPECT_THAT(broken_after([](Bed& b) { b.result.mutable_environment()->mutable_links(2)->set_gro(true); }),
              ElementsAre("links with TSO, GSO or GRO"));
  EXPECT_THAT(broken_after([](Bed& b) { b.result.mutable_environment()->mutable_links(0)->set_mtu(9000); }),
              ElementsAre("links with an MTU other than 1500"));
  EXPECT_THAT(broken_after([](Bed& b) { b.result.mutable_environment()->set_filters(1); }),
              ElementsAre("traffic-control filters"));
}

TEST(BedChecks, NameASettingThatWasNotTaken) {
  EXPECT_THAT(broken_after([](Bed& b) {
                b.result.mutable_environment()->mutable_sysctls(1)->set_value("4294967295");
              }),
              ElementsAre("server/net.ipv4.tcp_notsent_lowat"));
}

TEST(BedChecks, NameASocketThatIsNotAsAsked) {
  EXPECT_THAT(broken_after([](Bed& b) { b.result.mutable_sockets(1)->set_congestion_control("cubic"); }),
              ElementsAre("server socket congestion control"));
  EXPECT_THAT(
      broken_after([](Bed& b) { (*b.result.mutable_sockets(0)->mutable_values())["tcpi_snd_mss"] = 536; }),
      ElementsAre("server socket mss"));
}

TEST(BedChecks, BlameTheServerForAConnectionThatWentAway) {
  for (const int at : {1, 2}) {
    EXPECT_THAT(broken_after([at](Bed& b) { b.result.mutable_sockets()->DeleteSubrange(at, 1); }),
                ElementsAre("server: connection kept"));
  }
  EXPECT_THAT(broken_after([](Bed& b) { b.result.mutable_sockets()->DeleteSubrange(0, 1); }),
              ElementsAre("server socket seen"));
}

TEST(BedChecks, MissASnapshotOnlyWhenTheClientGotThatFar) {
  EXPECT_THAT(broken_after([](Bed& b) {
                b.result.mutable_sockets()->RemoveLast();
                b.result.mutable_client()->set_error("closed mid-record");
              }),
              IsEmpty());
}

TEST(BedChecks, NameEachNetemValue) {
  const auto netem_broken = [](const std::function<void(netlink::NetemOptions&)>& change) {
    return broken_after([&](Bed& b) { change(*b.qdiscs[1].qdisc.netem); });
  };
  using Options = netlink::NetemOptions;
  EXPECT_THAT(netem_broken([](Options& o) { o.delay += std::chrono::nanoseconds(1); }),
              ElementsAre("netem towards client delay ns"));
  EXPECT_THAT(netem_broken([](Options& o) { o.rate_bps = 0; }),
              ElementsAre("netem towards client rate bit/s"));
  EXPECT_THAT(netem_broken([](Options& o) { o.loss = 0.001; }),
              ElementsAre("netem towards client loss (of 2^32)"));
  EXPECT_THAT(netem_broken([](Options& o) { o.limit_packets = 1000; }),
              ElementsAre("netem towards client limit packets"));
  EXPECT_THAT(netem_broken([](Options& o) { o.seed = 7; }), ElementsAre("netem towards client seed"));
}

TEST(BedChecks, LeaveTheOddNanosecondToTheWayBack) {
  const auto odd = [](int longer) {
    return broken_after([longer](Bed& b) {
      b.asked.rtt += std::chrono::nanoseconds(1);
      b.qdiscs[static_cast<size_t>(longer)].qdisc.netem->delay += std::chrono::nanoseconds(1);
    });
  };
  EXPECT_THAT(odd(1), IsEmpty());
  EXPECT_THAT(odd(2), ElementsAre("netem towards client delay ns", "netem towards server delay ns"));
}

TEST(BedChecks, RecordASeedTheKernelLacksWithoutJudgingIt) {
  EXPECT_THAT(broken_after([](Bed& b) {
                b.qdiscs[1].qdisc.netem->seed.reset();
                b.qdiscs[2].qdisc.netem->seed.reset();
                b.result.mutable_environment()->add_unsupported("netem seed: this kernel has none");
              }),
              IsEmpty());
}

TEST(BedChecks, NameADropWhereNoneMayBe) {
  EXPECT_THAT(broken_after([](Bed& b) { b.qdiscs[3].qdisc.drops = 1; }), ElementsAre("fq at server drops"));
  EXPECT_THAT(broken_after([](Bed& b) { b.qdiscs[2].qdisc.drops = 1; }),
              ElementsAre("netem towards server drops"));
  EXPECT_THAT(broken_after([](Bed& b) {
                b.asked.loss = 0.5;
                for (int i : {1, 2}) b.qdiscs[i].qdisc.netem->loss = 0.5;
                b.qdiscs[2].qdisc.drops = 1;
              }),
              IsEmpty());
}

v1::Environment& environment_of(Bed& bed) { return *bed.result.mutable_environment(); }

// Value `i` of the settings in good().
std::function<void(Bed&)> setting(int i) {
  return [i](Bed& b) { environment_of(b).mutable_sysctls(i)->set_value("0"); };
}

std::map<std::string, std::function<void(Bed&)>> breaks() {
  std::map<std::string, std::function<void(Bed&)>> all = {
      {"links", [](Bed& b) { environment_of(b).mutable_links()->RemoveLast(); }},
      {"links with TSO, GSO or GRO", [](Bed& b) { environment_of(b).mutable_links(1)->set_tso(true); }},
      {"links with an MTU other than 1500",
       [](Bed& b) { environment_of(b).mutable_links(3)->set_mtu(1400); }},
      {"traffic-control filters", [](Bed& b) { environment_of(b).set_filters(1); }},
      {"server/net.ipv4.tcp_congestion_control", setting(0)},
      {"server/net.ipv4.tcp_notsent_lowat", setting(1)},
      {"client/net.ipv4.tcp_no_metrics_save", setting(2)},
      {"server/net.ipv4.tcp_no_metrics_save", setting(3)},
      {"client/net.ipv4.tcp_ecn", setting(4)},
      {"server/net.ipv4.tcp_ecn", setting(5)},
      {"server socket seen", [](Bed& b) { b.result.mutable_sockets(0)->set_at("after"); }},
      {"server: connection kept", [](Bed& b) { b.result.mutable_sockets(2)->set_at("before"); }},
      {"server socket mss", [](Bed& b) { b.result.mutable_sockets(1)->clear_values(); }},
      {"server socket congestion control",
       [](Bed& b) { b.result.mutable_sockets(2)->set_congestion_control("reno"); }},
      {"root qdiscs", [](Bed& b) { b.qdiscs.pop_back(); }},
  };
  for (const auto& [name, slot] : {std::pair("fq at client", 0), std::pair("fq at server", 3)}) {
    const auto at = static_cast<size_t>(slot);
    all[name + std::string(" kind")] = [at](Bed& b) { b.qdiscs[at].qdisc.kind = "pfifo_fast"; };
    all[name + std::string(" pacing")] = [at](Bed& b) { b.qdiscs[at].qdisc.fq->pacing = false; };
    all[name + std::string(" drops")] = [at](Bed& b) { b.qdiscs[at].qdisc.drops = 1; };
  }
  for (const auto& [name, slot] :
       {std::pair("netem towards client", 1), std::pair("netem towards server", 2)}) {
    const auto at = static_cast<size_t>(slot);
    const auto option = [&, start = std::string(name)](const char* what, auto change) {
      all[start + what] = [at, change](Bed& b) { change(*b.qdiscs[at].qdisc.netem); };
    };
    using Options = netlink::NetemOptions;
    all[name + std::string(" kind")] = [at](Bed& b) { b.qdiscs[at].qdisc.kind = "tbf"; };
    all[name + std::string(" drops")] = [at](Bed& b) { b.qdiscs[at].qdisc.drops = 1; };
    option(" delay ns", [](Options& o) { o.delay = {}; });
    option(" jitter ns", [](Options& o) { o.jitter = std::chrono::nanoseconds(1); });
    option(" rate bit/s", [](Options& o) { o.rate_bps += 8; });
    option(" loss (of 2^32)", [](Options& o) { o.loss = 1e-9; });
    option(" limit packets", [](Options& o) { ++o.limit_packets; });
    option(" seed", [](Options& o) { o.seed.reset(); });
  }
  return all;
}

TEST(BedChecks, CanEachBreak) {
  std::set<std::string> names, breakable;
  for (const v1::Check& check : checks_of(good())) names.insert(check.name());
  for (const auto& [name, change] : breaks()) {
    EXPECT_THAT(broken_after(change), testing::Contains(name));
    breakable.insert(name);
  }
  EXPECT_EQ(names, breakable) << "a check that nothing here breaks";
}

// ---- the loopback bed ----

struct Loopback {
  lab::RoutedSpec asked;
  v1::Environment environment;
  std::optional<lab::QdiscSnapshot> qdisc;
};

std::vector<std::string> loopback_broken_after(const std::function<void(Loopback&)>& change) {
  Loopback bed;
  bed.asked.rtt = std::chrono::milliseconds(100);
  bed.asked.loss = 0.01;
  bed.asked.limit_packets = 1000;
  bed.asked.seed = 7;
  bed.qdisc = netem(bed.asked, 7);
  v1::Link* lo = bed.environment.add_links();
  lo->set_mtu(65536);
  lo->set_tso(true);
  lo->set_gso(true);
  lo->set_gro(true);
  change(bed);
  CheckList checks(Blame::kBed);
  check_loopback_link(bed.environment, checks);
  check_loopback_qdisc(bed.asked, bed.qdisc, bed.environment, checks);
  std::vector<std::string> names;
  for (const v1::Check& check : checks.checks()) {
    if (check.outcome() == v1::BROKEN) names.push_back(check.name());
  }
  return names;
}

TEST(LoopbackChecks, TakeTheSegmentsOfASmallWindowButNotThoseOfAnEthernet) {
  for (const auto& [bytes, held] : {std::pair(32768, true), std::pair(65483, true), std::pair(1448, false)}) {
    Bed bed = good();
    (*bed.result.mutable_sockets(0)->mutable_values())["tcpi_snd_mss"] = static_cast<uint64_t>(bytes);
    for (int i : {1, 2}) (*bed.result.mutable_sockets(i)->mutable_values())["tcpi_snd_mss"] = 65483;
    CheckList checks(Blame::kBed), server(Blame::kServer);
    check_sockets(bed.spec, bed.result, kLoopbackMss, checks, server);
    for (const v1::Check& check : checks.checks()) {
      if (check.name() != "server socket mss") continue;
      EXPECT_EQ(check.outcome() == v1::HOLDS, held) << bytes;
    }
  }
}

TEST(LoopbackChecks, HoldOnALoopbackAsAsked) {
  EXPECT_THAT(loopback_broken_after([](Loopback&) {}), IsEmpty());
}

TEST(LoopbackChecks, NameEachThingThatIsOtherwise) {
  const auto broken = loopback_broken_after;
  EXPECT_THAT(broken([](Loopback& b) { b.environment.add_links(); }), ElementsAre("links"));
  EXPECT_THAT(broken([](Loopback& b) { b.environment.mutable_links(0)->set_mtu(1500); }),
              ElementsAre("loopback MTU"));
  EXPECT_THAT(broken([](Loopback& b) { b.environment.mutable_links(0)->set_tso(false); }),
              ElementsAre("loopback offloads"));
  EXPECT_THAT(broken([](Loopback& b) { b.environment.set_filters(1); }),
              ElementsAre("traffic-control filters"));
  EXPECT_THAT(broken([](Loopback& b) { b.qdisc.reset(); }), ElementsAre("root qdiscs"));
  EXPECT_THAT(broken([](Loopback& b) { b.qdisc->qdisc.netem->delay *= 2; }), ElementsAre("netem delay ns"));
  EXPECT_THAT(broken([](Loopback& b) { b.qdisc->qdisc.netem->loss = 0.02; }),
              ElementsAre("netem loss (of 2^32)"));
  EXPECT_THAT(broken([](Loopback& b) { b.qdisc->qdisc.netem->seed = 8; }), ElementsAre("netem seed"));
  EXPECT_THAT(broken([](Loopback& b) { b.qdisc->qdisc.netem->limit_packets = 999; }),
              ElementsAre("netem limit packets"));
}

}  // namespace
}  // namespace hopyard::trial
