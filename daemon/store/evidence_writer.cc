// SPDX-License-Identifier: Apache-2.0
// See evidence_writer.h. One function a table, in the order of schema.sql; evidence_reader.cc is the mirror.
#include "store/evidence_writer.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "hopyard/v1/result.pb.h"
#include "store/metrics.h"
#include "store/pool.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/words.h"

namespace hopyard::store {
namespace {

// One row of a table of a trial: values in the order of the columns, shared texts by number.
class Row {
 public:
  Row(Connection& connection, Pools& pools, const char* insert, int64_t trial)
      : connection_(connection), pools_(pools), statement_(connection.prepare(insert)) {
    statement_.bind(trial);
  }
  template <typename T>
  Row& add(const T& value) {
    statement_.bind(value);
    return *this;
  }
  Row& blob(const std::string& bytes) {
    statement_.bind_blob(bytes);
    return *this;
  }
  Row& instant(int64_t ns) {
    statement_.bind_instant(ns);
    return *this;
  }
  Row& shared(const std::string& text) {
    const auto number = pools_.text.number(connection_, text);
    if (!number.ok()) status_.Update(number.status());
    statement_.bind(number.value_or(0));
    return *this;
  }
  absl::Status insert() {
    HOPYARD_RETURN_IF_ERROR(status_);
    return statement_.run();
  }

 private:
  Connection& connection_;
  Pools& pools_;
  Statement statement_;
  absl::Status status_;
};

class EvidenceWriter {
 public:
  EvidenceWriter(Connection& connection, Pools& pools, int64_t trial)
      : connection_(connection), pools_(pools), trial_(trial) {}

  absl::Status write(const v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(checks(result));
    if (result.has_client()) HOPYARD_RETURN_IF_ERROR(client(result.client()));
    if (result.has_server()) HOPYARD_RETURN_IF_ERROR(server(result.server()));
    for (int i = 0; i < result.sockets_size(); ++i) HOPYARD_RETURN_IF_ERROR(socket(i, result.sockets(i)));
    for (int i = 0; i < result.qdiscs_size(); ++i) HOPYARD_RETURN_IF_ERROR(qdisc(i, result.qdiscs(i)));
    for (int i = 0; i < result.router_size(); ++i) HOPYARD_RETURN_IF_ERROR(router(i, result.router(i)));
    if (result.has_environment()) HOPYARD_RETURN_IF_ERROR(environment(result.environment()));
    return absl::OkStatus();
  }

 private:
  Row row(const char* insert) { return Row(connection_, pools_, insert, trial_); }

  // A gap or a repetition would mean lost or mixed evidence.
  static absl::Status counts(const char* what, int place, uint32_t seq) {
    if (static_cast<uint32_t>(place) == seq) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(what, " number ", place, " says it is number ", seq));
  }

  absl::Status checks(const v1::TrialResult& result) {
    for (int i = 0; i < result.checks_size(); ++i) {
      const v1::Check& check = result.checks(i);
      HOPYARD_RETURN_IF_ERROR(row("INSERT INTO evidence_check VALUES (?, ?, ?, ?, ?, ?)")
                                  .add(i)
                                  .shared(check.name())
                                  .shared(check.expected())
                                  .add(check.seen())
                                  .add(static_cast<int>(check.outcome()))
                                  .insert());
    }
    return absl::OkStatus();
  }

  absl::Status client(const v1::ClientEvidence& client) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO client VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                                .instant(client.connect_start_ns())
                                .instant(client.connected_ns())
                                .instant(client.handshake_done_ns())
                                .instant(client.settled_ns())
                                .shared(client.tls_version())
                                .shared(client.cipher())
                                .shared(client.alpn())
                                .add(client.decrypted_bytes())
                                .add(client.error())
                                .insert());
    for (int i = 0; i < client.records_size(); ++i) HOPYARD_RETURN_IF_ERROR(tls_record(i, client.records(i)));
    for (int i = 0; i < client.frames_size(); ++i) HOPYARD_RETURN_IF_ERROR(h2_frame(i, client.frames(i)));
    for (int i = 0; i < client.responses_size(); ++i)
      HOPYARD_RETURN_IF_ERROR(response(i, client.responses(i)));
    return absl::OkStatus();
  }

  absl::Status tls_record(int place, const v1::TlsRecord& record) {
    HOPYARD_RETURN_IF_ERROR(counts("TLS record", place, record.seq()));
    return row("INSERT INTO tls_record VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .add(record.seq())
        .add(static_cast<int>(record.content()))
        .add(record.outer_type())
        .add(record.wire_bytes())
        .add(record.plaintext_bytes())
        .instant(record.received_ns())
        .instant(record.decrypted_ns())
        .insert();
  }

  absl::Status h2_frame(int place, const v1::H2Frame& frame) {
    HOPYARD_RETURN_IF_ERROR(counts("HTTP/2 frame", place, frame.seq()));
    return row("INSERT INTO h2_frame VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .add(frame.seq())
        .add(frame.sent())
        .add(frame.stream())
        .shared(frame.type())
        .add(frame.flags())
        .add(frame.length())
        .instant(frame.first_byte_ns())
        .instant(frame.complete_ns())
        .insert();
  }

  absl::Status response(int place, const v1::Response& response) {
    return row("INSERT INTO response VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .add(place)
        .add(response.stream())
        .shared(response.role())
        .shared(response.protocol())
        .instant(response.request_start_ns())
        .instant(response.request_written_ns())
        .add(response.status())
        .add(response.header_bytes())
        .add(response.body_bytes())
        .add(response.content_length())
        .blob(response.body_sha256())
        .instant(response.first_decrypted_ns())
        .instant(response.first_body_ns())
        .instant(response.body_1024_ns())
        .instant(response.body_4096_ns())
        .instant(response.body_8192_ns())
        .instant(response.first_data_frame_ns())
        .instant(response.complete_ns())
        .add(response.dispatch_after_bytes())
        .add(response.body_equals_fixture())
        .insert();
  }

  absl::Status server(const v1::ServerEvidence& server) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO server VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
                                .add(server.exit_code())
                                .add(server.signal())
                                .add(server.user_cpu_ns())
                                .add(server.system_cpu_ns())
                                .add(server.max_rss_bytes())
                                .shared(server.config())
                                .shared(server.nginx_version())
                                .add(server.errors())
                                .insert());
    for (int i = 0; i < server.writes_size(); ++i) HOPYARD_RETURN_IF_ERROR(ssl_write(i, server.writes(i)));
    for (int i = 0; i < server.fragments_size(); ++i)
      HOPYARD_RETURN_IF_ERROR(fragment(i, server.fragments(i)));
    return absl::OkStatus();
  }

  absl::Status ssl_write(int place, const v1::SslWrite& write) {
    HOPYARD_RETURN_IF_ERROR(counts("SSL_write", place, write.seq()));
    return row("INSERT INTO ssl_write VALUES (?, ?, ?, ?, ?)")
        .add(write.seq())
        .add(write.requested())
        .add(write.returned())
        .add(write.response())
        .insert();
  }

  absl::Status fragment(int place, const v1::FragmentEvent& event) {
    return row("INSERT INTO fragment VALUES (?, ?, ?, ?, ?, ?)")
        .add(place)
        .add(event.before_write())
        .add(event.fragment_bytes())
        .add(event.restored())
        .add(event.returned())
        .insert();
  }

  absl::Status socket(int place, const v1::SocketSnapshot& socket) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO socket_snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
                                .add(place)
                                .shared(socket.at())
                                .shared(socket.side())
                                .instant(socket.taken_ns())
                                .add(socket.local())
                                .add(socket.remote())
                                .shared(socket.state())
                                .shared(socket.congestion_control())
                                .insert());
    for (const auto& [name, value] : socket.values()) {
      HOPYARD_ASSIGN_OR_RETURN(const int64_t figure, pools_.figure.number(connection_, name));
      HOPYARD_RETURN_IF_ERROR(row("INSERT INTO socket_value VALUES (?, ?, ?, ?)")
                                  .add(place)
                                  .add(figure)
                                  .add(uint64_t{value})
                                  .insert());
    }
    return absl::OkStatus();
  }

  absl::Status qdisc(int place, const v1::QdiscSnapshot& qdisc) {
    return row("INSERT INTO qdisc_snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        .add(place)
        .shared(qdisc.at())
        .shared(qdisc.namespace_())
        .shared(qdisc.link())
        .instant(qdisc.taken_ns())
        .shared(qdisc.kind())
        .add(qdisc.handle())
        .add(qdisc.parent())
        .shared(qdisc.options_json())
        .add(qdisc.bytes())
        .add(qdisc.packets())
        .add(qdisc.drops())
        .add(qdisc.overlimits())
        .add(qdisc.requeues())
        .add(qdisc.backlog_bytes())
        .add(qdisc.backlog_packets())
        .add(qdisc.stats_json())
        .insert();
  }

  absl::Status router(int place, const v1::RouterTraffic& traffic) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO router_traffic VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                                .add(place)
                                .shared(traffic.direction())
                                .add(traffic.arrived_packets())
                                .add(traffic.departed_packets())
                                .add(traffic.queue_drops())
                                .add(traffic.unseen_packets())
                                .add(traffic.incomplete())
                                .insert());
    for (const v1::Drop& drop : traffic.drops()) {
      HOPYARD_RETURN_IF_ERROR(row("INSERT INTO router_drop VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
                                  .add(place)
                                  .add(drop.ordinal())
                                  .instant(drop.arrived_ns())
                                  .add(drop.ip_protocol())
                                  .add(drop.ip_bytes())
                                  .add(drop.flags())
                                  .add(drop.sequence())
                                  .add(drop.payload_bytes())
                                  .add(drop.repeated())
                                  .insert());
    }
    return absl::OkStatus();
  }

  absl::Status environment(const v1::Environment& environment) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO environment VALUES (?, ?, ?, ?, ?, ?, ?)")
                                .shared(environment.kernel_release())
                                .shared(environment.kernel_version())
                                .shared(environment.clock())
                                .add(environment.filters())
                                .add(environment.load_1m())
                                .add(environment.namespaces_gone())
                                .insert());
    for (int i = 0; i < environment.sysctls_size(); ++i) {
      HOPYARD_RETURN_IF_ERROR(row("INSERT INTO environment_setting VALUES (?, ?, ?, ?)")
                                  .add(i)
                                  .shared(environment.sysctls(i).name())
                                  .shared(environment.sysctls(i).value())
                                  .insert());
    }
    for (int i = 0; i < environment.links_size(); ++i) HOPYARD_RETURN_IF_ERROR(link(i, environment.links(i)));
    HOPYARD_RETURN_IF_ERROR(lines("route", environment.routes()));
    HOPYARD_RETURN_IF_ERROR(lines("neighbour", environment.neighbours()));
    return lines("unsupported", environment.unsupported());
  }

  absl::Status link(int place, const v1::Link& link) {
    HOPYARD_RETURN_IF_ERROR(row("INSERT INTO environment_link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
                                .add(place)
                                .shared(link.namespace_())
                                .shared(link.name())
                                .add(link.mac())
                                .add(link.mtu())
                                .add(link.tso())
                                .add(link.gso())
                                .add(link.gro())
                                .insert());
    for (int i = 0; i < link.addresses_size(); ++i) {
      HOPYARD_RETURN_IF_ERROR(row("INSERT INTO environment_address VALUES (?, ?, ?, ?)")
                                  .add(place)
                                  .add(i)
                                  .shared(link.addresses(i))
                                  .insert());
    }
    return absl::OkStatus();
  }

  template <typename Lines>
  absl::Status lines(const char* kind, const Lines& lines) {
    for (int i = 0; i < lines.size(); ++i) {
      HOPYARD_RETURN_IF_ERROR(
          row("INSERT INTO environment_line VALUES (?, ?, ?, ?)").add(kind).add(i).shared(lines[i]).insert());
    }
    return absl::OkStatus();
  }

  Connection& connection_;
  Pools& pools_;
  const int64_t trial_;
};

struct PlannedTrialRow {
  int64_t trial;
  int64_t cell;
  std::string clock;  // the campaign's
};

absl::StatusOr<PlannedTrialRow> find_open_trial(Connection& connection, std::string_view campaign_id,
                                                const std::string& trial_id) {
  Statement find = connection.prepare(
      "SELECT t.trial_no, t.cell_no, json_extract(c.campaign_json, '$.clock'), o.verdict"
      " FROM trial t JOIN cell USING (cell_no) JOIN campaign c USING (campaign_no) LEFT JOIN outcome o USING "
      "(trial_no)"
      " WHERE t.trial_id = ? AND c.campaign_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(trial_id).bind(campaign_id).step());
  if (!found) {
    return absl::NotFoundError(absl::StrCat("trial \"", trial_id, "\" is not planned in campaign \"",
                                            absl::string_view(campaign_id.data(), campaign_id.size()), "\""));
  }
  if (!find.is_null(3)) {
    return absl::AlreadyExistsError(absl::StrCat("trial \"", trial_id, "\" has an outcome (", find.text(3),
                                                 "), which is never overwritten"));
  }
  return PlannedTrialRow{find.integer(0), find.integer(1), find.text(2)};
}

const std::string& first_of(const std::string& wanted, const std::string& otherwise) {
  return wanted.empty() ? otherwise : wanted;
}

absl::StatusOr<int64_t> host_number(Connection& connection, const v1::Environment& environment,
                                    const Provenance& provenance, const std::string& campaign_clock) {
  const std::string& release = first_of(environment.kernel_release(), provenance.kernel_release);
  const std::string& clock = first_of(environment.clock(), campaign_clock);
  Statement find =
      connection.prepare("SELECT host_no FROM host WHERE execution = ? AND kernel_release = ? AND clock = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found,
                           find.bind(provenance.execution).bind(release).bind(clock).step());
  if (found) return find.integer(0);
  HOPYARD_RETURN_IF_ERROR(
      connection.prepare("INSERT INTO host (execution, kernel_release, clock) VALUES (?, ?, ?)")
          .bind(provenance.execution)
          .bind(release)
          .bind(clock)
          .run());
  return connection.last_insert_rowid();
}

Statement& bind_build(Statement& statement, const Provenance& provenance, const std::string& inputs) {
  const v1::ServerBuild& build = provenance.build;
  const v1::RecordPolicy& records = build.records();
  return statement.bind(build.variant())
      .bind(build.sha256())
      .bind(build.nginx_path())
      .bind(provenance.binary_sha256)
      .bind(inputs)
      .bind(records.fragment_bytes())
      .bind(records.early_fragment_bytes())
      .bind(records.early_budget_bytes())
      .bind(records.transitions())
      .bind(records.settings())
      .bind(records.dynamic() ? 1 : 0);
}

absl::StatusOr<int64_t> build_number(Connection& connection, const Provenance& provenance) {
  const std::string inputs = absl::StrJoin(provenance.inputs, "\n");
  Statement find = connection.prepare(
      "SELECT build_no FROM server_build WHERE variant = ? AND sha256 = ? AND nginx_path = ? AND "
      "binary_sha256 = ?"
      " AND inputs = ? AND fragment_bytes = ? AND early_fragment_bytes = ? AND early_budget_bytes = ?"
      " AND transitions = ? AND settings = ? AND dynamic = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, bind_build(find, provenance, inputs).step());
  if (found) return find.integer(0);
  Statement insert = connection.prepare(
      "INSERT INTO server_build (variant, sha256, nginx_path, binary_sha256, inputs, fragment_bytes,"
      " early_fragment_bytes, early_budget_bytes, transitions, settings, dynamic) VALUES (?, ?, ?, ?, ?, ?, "
      "?, "
      "?, ?, ?, ?)");
  HOPYARD_RETURN_IF_ERROR(bind_build(insert, provenance, inputs).run());
  return connection.last_insert_rowid();
}

absl::Status insert_outcome(Connection& connection, Pools& pools, const PlannedTrialRow& planned,
                            const v1::TrialResult& result, const Provenance& provenance) {
  HOPYARD_ASSIGN_OR_RETURN(const int64_t host,
                           host_number(connection, result.environment(), provenance, planned.clock));
  HOPYARD_ASSIGN_OR_RETURN(const int64_t build, build_number(connection, provenance));
  const std::string verdict = word_of(result.verdict());
  return Row(connection, pools, "INSERT INTO outcome VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", planned.trial)
      .add(verdict)
      .add(result.reason())
      .add(host)
      .add(build)
      .shared(provenance.tool_version)
      .instant(result.started_ns())
      .instant(result.finished_ns())
      .add(base::unix_ns())
      .insert();
}

absl::Status insert_samples(Connection& connection, const PlannedTrialRow& planned,
                            const v1::TrialResult& result) {
  if (result.verdict() != v1::PASSED) return absl::OkStatus();
  // Figures that the cell's workload does not have are left out: the evidence keeps them.
  Statement insert = connection.prepare(
      "INSERT INTO sample (cell_no, metric_no, host_no, trial_no, value_ns)"
      " SELECT cell_no, metric_no, host_no, trial_no, ?1 FROM outcome JOIN cell_metric JOIN metric USING "
      "(metric_no)"
      " WHERE trial_no = ?2 AND cell_no = ?3 AND name = ?4");
  for (const Sample& sample : trial_samples(result.client())) {
    HOPYARD_RETURN_IF_ERROR(
        insert.bind(sample.value_ns).bind(planned.trial).bind(planned.cell).bind(sample.metric).run());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status insert_result(Connection& connection, Pools& pools, std::string_view campaign_id,
                           const v1::TrialResult& result, const Provenance& provenance) {
  if (word_of(result.verdict()).empty() || result.verdict() == v1::VERDICT_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat("trial \"", result.trial_id(), "\" comes without a verdict"));
  }
  HOPYARD_ASSIGN_OR_RETURN(const PlannedTrialRow planned,
                           find_open_trial(connection, campaign_id, result.trial_id()));
  HOPYARD_RETURN_IF_ERROR(insert_outcome(connection, pools, planned, result, provenance));
  HOPYARD_RETURN_IF_ERROR(EvidenceWriter(connection, pools, planned.trial).write(result));
  return insert_samples(connection, planned, result);
}

}  // namespace hopyard::store
