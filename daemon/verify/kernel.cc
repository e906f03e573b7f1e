// SPDX-License-Identifier: Apache-2.0
// Snapshots of sockets and qdiscs: options as asked, counters that only grow, two ends of one connection.
#include <array>
#include <cmath>
#include <map>

#include "verify/consistency.h"
#include "verify/json_value.h"

namespace hopyard::verify {
namespace {

constexpr char kSockets[] = "socket_snapshot";
constexpr char kValues[] = "socket_value";
constexpr char kQdiscs[] = "qdisc_snapshot";

// Of tcp_info: what a connection counts and never counts back.
constexpr std::array kGrowing = {
    "tcpi_bytes_acked",  "tcpi_bytes_received", "tcpi_bytes_sent",    "tcpi_bytes_retrans", "tcpi_segs_out",
    "tcpi_segs_in",      "tcpi_data_segs_in",   "tcpi_data_segs_out", "tcpi_total_retrans", "tcpi_delivered",
    "tcpi_delivered_ce", "tcpi_dsack_dups",     "tcpi_busy_time"};

void check_growing(const StoredSocket& before, const StoredSocket& now, Findings& findings) {
  findings.same(kSockets, seq(now.seq), "local", before.local, now.local, "one connection");
  findings.same(kSockets, seq(now.seq), "remote", before.remote, now.remote, "one connection");
  for (const char* name : kGrowing) {
    const auto was = before.values.find(name), is = now.values.find(name);
    if (was == before.values.end() || is == now.values.end()) continue;
    findings.hold(kValues, seq(now.seq) + ", " + name, "value", is->second >= was->second,
                  fmt::format("at least {}", was->second), is->second, "it was so much earlier");
  }
}

void check_sockets(const Subject& subject, Findings& findings) {
  std::map<std::string, const StoredSocket*> last;  // by side
  const auto& sockets = subject.trial.sockets;
  for (size_t i = 0; i < sockets.size(); ++i) {
    const StoredSocket& socket = sockets[i];
    const std::string row = seq(socket.seq);
    findings.same(kSockets, row, "seq", static_cast<int64_t>(i), socket.seq, "rows count from 0");
    findings.hold(kSockets, row, "side_text", socket.side == "client" || socket.side == "server",
                  "client or server", socket.side, "the ends of the connection");
    if (socket.side == "server" && subject.one_case.congestion_control)
      findings.same(kSockets, row, "congestion_control_text", *subject.one_case.congestion_control,
                    socket.congestion_control, "asked by the case");
    const StoredSocket*& before = last[socket.side];
    if (before != nullptr) check_growing(*before, socket, findings);
    before = &socket;
  }
  const StoredSocket* client = last["client"];
  const StoredSocket* server = last["server"];
  if (client == nullptr || server == nullptr) return;
  findings.same(kSockets, seq(server->seq), "remote", client->local, server->remote,
                "two ends of one connection");
  findings.same(kSockets, seq(server->seq), "local", client->remote, server->local,
                "two ends of one connection");
}

void check_option(const StoredQdisc& qdisc, const std::string& name, const std::string& expected,
                  const std::string& seen, Findings& findings) {
  if (expected == seen) return;
  findings.add(kQdiscs, seq(qdisc.seq), "options_text (" + name + ")", expected, seen.empty() ? "none" : seen,
               "asked by the path");
}

void check_netem(const Subject& subject, const StoredQdisc& qdisc, Findings& findings) {
  const AskedPath& path = subject.path;
  const bool towards_client = qdisc.link.starts_with("router-c");  // never on a loopback, which has but one
  const int64_t there = path.rtt_ns / 2;
  const int64_t delay = towards_client ? path.rtt_ns - there : there;
  const std::string& json = qdisc.options_json;
  for (const auto& [name, seen] : json_members(json)) {
    const double number = json_number(json, name);
    if (name == "delay") {
      check_option(qdisc, name, std::to_string(delay), std::to_string(std::llrint(number * 1e9)), findings);
    } else if (name == "loss") {
      check_option(qdisc, name, std::to_string(fraction_bits(path.loss)),
                   std::to_string(fraction_bits(number)), findings);
    } else if (name == "rate") {
      check_option(qdisc, name, std::to_string(path.rate_bps / 8), seen, findings);
    } else if (name == "limit") {
      check_option(qdisc, name, std::to_string(path.limit_packets), seen, findings);
    } else if (name == "seed") {
      check_option(qdisc, name, std::to_string(subject.trial.seed + (towards_client ? 1 : 0)), seen,
                   findings);
    } else if (name == "ecn") {
      check_option(qdisc, name, "false", seen, findings);
    } else {
      check_option(qdisc, name, "0", seen, findings);  // jitter, duplicates, corruption, …: nobody asked
    }
  }
  for (const char* name : {"delay", "loss", "limit"}) {
    if (json_text(json, name).empty()) check_option(qdisc, name, "a value", "none", findings);
  }
  if (path.rate_bps > 0 && json_text(json, "rate").empty())
    check_option(qdisc, "rate", std::to_string(path.rate_bps / 8), "none", findings);
}

void check_fq(const StoredQdisc& qdisc, Findings& findings) {
  const auto one = [&](const char* name, const char* expected) {
    check_option(qdisc, name, expected, json_text(qdisc.options_json, name), findings);
  };
  one("limit", "10000");
  one("flow_limit", "100");
  one("pacing", "true");
}

void check_counters(const StoredQdisc& before, const StoredQdisc& now, Findings& findings) {
  const std::string row = seq(now.seq);
  const auto grows = [&](const char* column, uint64_t was, uint64_t is) {
    findings.hold(kQdiscs, row, column, is >= was, fmt::format("at least {}", was), is,
                  "it was so much earlier");
  };
  grows("bytes", before.bytes, now.bytes);
  grows("packets", before.packets, now.packets);
  grows("drops", before.drops, now.drops);
  grows("overlimits", before.overlimits, now.overlimits);
  grows("requeues", before.requeues, now.requeues);
  findings.same(kQdiscs, row, "options_text", before.options_json, now.options_json, "they were so earlier");
  findings.same(kQdiscs, row, "kind_text", before.kind, now.kind, "it was so earlier");
  findings.same(kQdiscs, row, "handle", before.handle, now.handle, "it was so earlier");
}

void check_qdiscs(const Subject& subject, Findings& findings) {
  constexpr int64_t kRoot = 0xffffffff;
  std::map<std::string, const StoredQdisc*> last;  // by link
  const auto& qdiscs = subject.trial.qdiscs;
  for (size_t i = 0; i < qdiscs.size(); ++i) {
    const StoredQdisc& qdisc = qdiscs[i];
    const std::string row = seq(qdisc.seq);
    findings.same(kQdiscs, row, "seq", static_cast<int64_t>(i), qdisc.seq, "rows count from 0");
    findings.same(kQdiscs, row, "parent", kRoot, qdisc.parent, "qdiscs are at the root");
    const bool router = qdisc.side == "router" || subject.path.kind == "loopback";
    findings.same(kQdiscs, row, "kind_text", std::string(router ? "netem" : "fq"), qdisc.kind,
                  "netem is at the router, fq at the endpoints");
    if (qdisc.kind == "netem") check_netem(subject, qdisc, findings);
    if (qdisc.kind == "fq") check_fq(qdisc, findings);
    const StoredQdisc*& before = last[qdisc.link];
    if (before != nullptr) check_counters(*before, qdisc, findings);
    before = &qdisc;
  }
}

}  // namespace

void check_kernel(const Subject& subject, Findings& findings) {
  if (subject.path.kind == "unix") return;
  check_sockets(subject, findings);
  check_qdiscs(subject, findings);
}

}  // namespace hopyard::verify
