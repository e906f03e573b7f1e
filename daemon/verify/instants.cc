// SPDX-License-Identifier: Apache-2.0
// The order in which things can happen.
#include <vector>

#include "verify/consistency.h"

namespace hopyard::verify {
namespace {

struct Instant {
  const char* column;
  int64_t ns;  // 0: did not happen
};

void in_order(const char* table, const std::string& row, const std::vector<Instant>& instants,
              Findings& findings) {
  const Instant* before = nullptr;
  for (const Instant& instant : instants) {
    if (instant.ns == 0) continue;
    if (before != nullptr)
      findings.hold(table, row, instant.column, instant.ns >= before->ns,
                    fmt::format("at least {} {}", before->column, before->ns), instant.ns,
                    "it cannot happen earlier");
    before = &instant;
  }
}

}  // namespace

void check_instants(const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  if (trial.started_ns == 0 || !trial.client) return;
  const StoredClient& client = *trial.client;
  in_order("outcome", "", {{"started_ns", trial.started_ns}, {"finished_ns", trial.finished_ns}}, findings);
  std::vector<Instant> connection = {{"started_ns", trial.started_ns},
                                     {"connect_start_ns", client.connect_start_ns},
                                     {"connected_ns", client.connected_ns},
                                     {"handshake_done_ns", client.handshake_done_ns},
                                     {"settled_ns", client.settled_ns}};
  if (!trial.responses.empty())
    connection.push_back({"request_start_ns", trial.responses.front().request_start_ns});
  connection.push_back({"finished_ns", trial.finished_ns});
  in_order("client", "", connection, findings);
  if (subject.workload.protocol == "h1")
    findings.same("client", "", "settled_ns", client.handshake_done_ns, client.settled_ns,
                  "HTTP/1.1 has nothing to settle");
  for (const StoredResponse& response : trial.responses) {
    in_order("response", seq(response.seq),
             {{"request_start_ns", response.request_start_ns},
              {"request_written_ns", response.request_written_ns},
              {"complete_ns", response.complete_ns},
              {"finished_ns", trial.finished_ns}},
             findings);
    in_order("response", seq(response.seq),
             {{"request_start_ns", response.request_start_ns},
              {"first_decrypted_ns", response.first_decrypted_ns},
              {"first_body_ns", response.first_body_ns},
              {"body_1024_ns", response.body_1024_ns},
              {"body_4096_ns", response.body_4096_ns},
              {"body_8192_ns", response.body_8192_ns},
              {"complete_ns", response.complete_ns}},
             findings);
  }
  if (!trial.records.empty())
    in_order("tls_record", seq(trial.records.front().seq),
             {{"connected_ns", client.connected_ns}, {"received_ns", trial.records.front().received_ns}},
             findings);
  for (const StoredSocket& socket : trial.sockets)
    in_order("socket_snapshot", seq(socket.seq),
             {{"settled_ns", client.settled_ns},
              {"taken_ns", socket.taken_ns},
              {"finished_ns", trial.finished_ns}},
             findings);
  for (const StoredQdisc& qdisc : trial.qdiscs)
    in_order(
        "qdisc_snapshot", seq(qdisc.seq),
        {{"started_ns", trial.started_ns}, {"taken_ns", qdisc.taken_ns}, {"finished_ns", trial.finished_ns}},
        findings);
}

}  // namespace hopyard::verify
