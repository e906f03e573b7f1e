// SPDX-License-Identifier: Apache-2.0
// See evidence_reader.h. One function a table, in the order of schema.sql.
#include "store/evidence_reader.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hopyard/v1/result.pb.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/words.h"

namespace hopyard::store {
namespace {

// A row's values in the order of its columns.
class Columns {
 public:
  explicit Columns(const Statement& row) : row_(row) {}
  int64_t integer() { return row_.integer(next_++); }
  uint32_t u32() { return static_cast<uint32_t>(integer()); }
  int32_t i32() { return static_cast<int32_t>(integer()); }
  uint64_t u64() { return static_cast<uint64_t>(integer()); }
  bool boolean() { return integer() != 0; }
  double real() { return row_.real(next_++); }
  std::string text() { return row_.text(next_++); }

 private:
  const Statement& row_;
  int next_ = 0;
};

class EvidenceReader {
 public:
  EvidenceReader(Connection& connection, int64_t trial) : connection_(connection), trial_(trial) {}

  absl::Status read(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(checks(result));
    HOPYARD_RETURN_IF_ERROR(client(result));
    HOPYARD_RETURN_IF_ERROR(server(result));
    HOPYARD_RETURN_IF_ERROR(sockets(result));
    HOPYARD_RETURN_IF_ERROR(qdiscs(result));
    HOPYARD_RETURN_IF_ERROR(router(result));
    return environment(result);
  }

 private:
  // Calls `take` with every row of the trial.
  template <typename Take>
  absl::Status each(const char* select, Take take) {
    Statement statement = connection_.prepare(select);
    statement.bind(trial_);
    while (true) {
      HOPYARD_ASSIGN_OR_RETURN(const bool row, statement.step());
      if (!row) return absl::OkStatus();
      take(Columns(statement));
    }
  }

  // Foreign keys and the writer's numbering rule this out; a damaged file does not.
  static absl::Status rows_astray(const char* owner) {
    return absl::DataLossError(absl::StrCat("damaged database: values of a ", owner, " that is not there"));
  }

  absl::Status checks(v1::TrialResult& result) {
    return each(
        "SELECT name.content, expected.content, seen, outcome FROM evidence_check"
        " JOIN text name ON name.text_no = name_text JOIN text expected ON expected.text_no = expected_text"
        " WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::Check& check = *result.add_checks();
          check.set_name(row.text());
          check.set_expected(row.text());
          check.set_seen(row.text());
          check.set_outcome(static_cast<v1::Outcome>(row.integer()));
        });
  }

  absl::Status client(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT connect_start_ns, connected_ns, handshake_done_ns, settled_ns, version.content, "
             "cipher.content,"
             " alpn.content, decrypted_bytes, error FROM client JOIN text version ON version.text_no = "
             "tls_version_text"
             " JOIN text cipher ON cipher.text_no = cipher_text JOIN text alpn ON alpn.text_no = alpn_text"
             " WHERE trial_no = ?",
             [&](Columns row) {
               v1::ClientEvidence& client = *result.mutable_client();
               client.set_connect_start_ns(row.integer());
               client.set_connected_ns(row.integer());
               client.set_handshake_done_ns(row.integer());
               client.set_settled_ns(row.integer());
               client.set_tls_version(row.text());
               client.set_cipher(row.text());
               client.set_alpn(row.text());
               client.set_decrypted_bytes(row.u64());
               client.set_error(row.text());
             }));
    if (!result.has_client()) return absl::OkStatus();
    HOPYARD_RETURN_IF_ERROR(tls_records(*result.mutable_client()));
    HOPYARD_RETURN_IF_ERROR(h2_frames(*result.mutable_client()));
    return responses(*result.mutable_client());
  }

  absl::Status tls_records(v1::ClientEvidence& client) {
    return each(
        "SELECT seq, content, outer_type, wire_bytes, plaintext_bytes, received_ns, decrypted_ns FROM "
        "tls_record"
        " WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::TlsRecord& record = *client.add_records();
          record.set_seq(row.u32());
          record.set_content(static_cast<v1::RecordContent>(row.integer()));
          record.set_outer_type(row.u32());
          record.set_wire_bytes(row.u32());
          record.set_plaintext_bytes(row.u32());
          record.set_received_ns(row.integer());
          record.set_decrypted_ns(row.integer());
        });
  }

  absl::Status h2_frames(v1::ClientEvidence& client) {
    return each(
        "SELECT seq, sent, stream, type.content, flags, length, first_byte_ns, complete_ns FROM h2_frame"
        " JOIN text type ON type.text_no = type_text WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::H2Frame& frame = *client.add_frames();
          frame.set_seq(row.u32());
          frame.set_sent(row.boolean());
          frame.set_stream(row.u32());
          frame.set_type(row.text());
          frame.set_flags(row.u32());
          frame.set_length(row.u32());
          frame.set_first_byte_ns(row.integer());
          frame.set_complete_ns(row.integer());
        });
  }

  absl::Status responses(v1::ClientEvidence& client) {
    return each(
        "SELECT stream, role.content, protocol.content, request_start_ns, request_written_ns, status, "
        "header_bytes,"
        " body_bytes, content_length, body_sha256, first_decrypted_ns, first_body_ns, body_1024_ns, "
        "body_4096_ns,"
        " body_8192_ns, first_data_frame_ns, complete_ns, dispatch_after_bytes, body_equals_fixture FROM "
        "response"
        " JOIN text role ON role.text_no = role_text JOIN text protocol ON protocol.text_no = protocol_text"
        " WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::Response& response = *client.add_responses();
          response.set_stream(row.u32());
          response.set_role(row.text());
          response.set_protocol(row.text());
          response.set_request_start_ns(row.integer());
          response.set_request_written_ns(row.integer());
          response.set_status(row.u32());
          response.set_header_bytes(row.u64());
          response.set_body_bytes(row.u64());
          response.set_content_length(row.u64());
          response.set_body_sha256(row.text());
          response.set_first_decrypted_ns(row.integer());
          response.set_first_body_ns(row.integer());
          response.set_body_1024_ns(row.integer());
          response.set_body_4096_ns(row.integer());
          response.set_body_8192_ns(row.integer());
          response.set_first_data_frame_ns(row.integer());
          response.set_complete_ns(row.integer());
          response.set_dispatch_after_bytes(row.u64());
          response.set_body_equals_fixture(row.boolean());
        });
  }

  absl::Status server(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT exit_code, signal, user_cpu_ns, system_cpu_ns, max_rss_bytes, config.content, "
             "version.content, errors"
             " FROM server JOIN text config ON config.text_no = config_text"
             " JOIN text version ON version.text_no = nginx_version_text WHERE trial_no = ?",
             [&](Columns row) {
               v1::ServerEvidence& server = *result.mutable_server();
               server.set_exit_code(row.i32());
               server.set_signal(row.i32());
               server.set_user_cpu_ns(row.integer());
               server.set_system_cpu_ns(row.integer());
               server.set_max_rss_bytes(row.u64());
               server.set_config(row.text());
               server.set_nginx_version(row.text());
               server.set_errors(row.text());
             }));
    if (!result.has_server()) return absl::OkStatus();
    HOPYARD_RETURN_IF_ERROR(ssl_writes(*result.mutable_server()));
    return fragments(*result.mutable_server());
  }

  absl::Status ssl_writes(v1::ServerEvidence& server) {
    return each("SELECT seq, requested, returned, response FROM ssl_write WHERE trial_no = ? ORDER BY seq",
                [&](Columns row) {
                  v1::SslWrite& write = *server.add_writes();
                  write.set_seq(row.u32());
                  write.set_requested(row.u32());
                  write.set_returned(row.i32());
                  write.set_response(row.u32());
                });
  }

  absl::Status fragments(v1::ServerEvidence& server) {
    return each(
        "SELECT before_write, fragment_bytes, restored, returned FROM fragment WHERE trial_no = ? ORDER BY "
        "seq",
        [&](Columns row) {
          v1::FragmentEvent& event = *server.add_fragments();
          event.set_before_write(row.u32());
          event.set_fragment_bytes(row.u32());
          event.set_restored(row.boolean());
          event.set_returned(row.i32());
        });
  }

  absl::Status sockets(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT at.content, side.content, taken_ns, local, remote, state.content, congestion.content"
             " FROM socket_snapshot JOIN text at ON at.text_no = at_text JOIN text side ON side.text_no = "
             "side_text"
             " JOIN text state ON state.text_no = state_text"
             " JOIN text congestion ON congestion.text_no = congestion_control_text WHERE trial_no = ? ORDER "
             "BY seq",
             [&](Columns row) {
               v1::SocketSnapshot& socket = *result.add_sockets();
               socket.set_at(row.text());
               socket.set_side(row.text());
               socket.set_taken_ns(row.integer());
               socket.set_local(row.text());
               socket.set_remote(row.text());
               socket.set_state(row.text());
               socket.set_congestion_control(row.text());
             }));
    bool astray = false;
    HOPYARD_RETURN_IF_ERROR(each(
        "SELECT seq, name, value FROM socket_value JOIN socket_figure USING (figure_no) WHERE trial_no = ?",
        [&](Columns row) {
          const int64_t seq = row.integer();
          const std::string name = row.text();
          astray |= seq < 0 || seq >= result.sockets_size();
          if (!astray) (*result.mutable_sockets(static_cast<int>(seq))->mutable_values())[name] = row.u64();
        }));
    return astray ? rows_astray("socket") : absl::OkStatus();
  }

  absl::Status qdiscs(v1::TrialResult& result) {
    return each(
        "SELECT at.content, namespace.content, link.content, taken_ns, kind.content, handle, parent, "
        "options.content,"
        " bytes, packets, drops, overlimits, requeues, backlog_bytes, backlog_packets, stats_json FROM "
        "qdisc_snapshot"
        " JOIN text at ON at.text_no = at_text JOIN text namespace ON namespace.text_no = namespace_text"
        " JOIN text link ON link.text_no = link_text JOIN text kind ON kind.text_no = kind_text"
        " JOIN text options ON options.text_no = options_text WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::QdiscSnapshot& qdisc = *result.add_qdiscs();
          qdisc.set_at(row.text());
          qdisc.set_namespace_(row.text());
          qdisc.set_link(row.text());
          qdisc.set_taken_ns(row.integer());
          qdisc.set_kind(row.text());
          qdisc.set_handle(row.u32());
          qdisc.set_parent(row.u32());
          qdisc.set_options_json(row.text());
          qdisc.set_bytes(row.u64());
          qdisc.set_packets(row.u64());
          qdisc.set_drops(row.u64());
          qdisc.set_overlimits(row.u64());
          qdisc.set_requeues(row.u64());
          qdisc.set_backlog_bytes(row.u64());
          qdisc.set_backlog_packets(row.u64());
          qdisc.set_stats_json(row.text());
        });
  }

  absl::Status router(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT direction.content, arrived_packets, departed_packets, queue_drops, unseen_packets, "
             "incomplete FROM router_traffic JOIN text direction ON direction.text_no = direction_text"
             " WHERE trial_no = ? ORDER BY seq",
             [&](Columns row) {
               v1::RouterTraffic& traffic = *result.add_router();
               traffic.set_direction(row.text());
               traffic.set_arrived_packets(row.u64());
               traffic.set_departed_packets(row.u64());
               traffic.set_queue_drops(row.u64());
               traffic.set_unseen_packets(row.u64());
               traffic.set_incomplete(row.text());
             }));
    bool astray = false;
    HOPYARD_RETURN_IF_ERROR(each(
        "SELECT seq, ordinal, arrived_ns, ip_protocol, ip_bytes, flags, sequence, payload_bytes, repeated"
        " FROM router_drop WHERE trial_no = ? ORDER BY seq, ordinal",
        [&](Columns row) {
          const int64_t seq = row.integer();
          astray |= seq < 0 || seq >= result.router_size();
          if (!astray) add_drop(row, *result.mutable_router(static_cast<int>(seq)));
        }));
    return astray ? rows_astray("direction") : absl::OkStatus();
  }

  static void add_drop(Columns row, v1::RouterTraffic& traffic) {
    v1::Drop& drop = *traffic.add_drops();
    drop.set_ordinal(row.u32());
    drop.set_arrived_ns(row.integer());
    drop.set_ip_protocol(row.u32());
    drop.set_ip_bytes(row.u32());
    drop.set_flags(row.u32());
    drop.set_sequence(row.u64());
    drop.set_payload_bytes(row.u32());
    drop.set_repeated(row.boolean());
  }

  absl::Status environment(v1::TrialResult& result) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT release.content, version.content, clock.content, filters, load_1m, namespaces_gone FROM "
             "environment"
             " JOIN text release ON release.text_no = kernel_release_text"
             " JOIN text version ON version.text_no = kernel_version_text"
             " JOIN text clock ON clock.text_no = clock_text WHERE trial_no = ?",
             [&](Columns row) {
               v1::Environment& environment = *result.mutable_environment();
               environment.set_kernel_release(row.text());
               environment.set_kernel_version(row.text());
               environment.set_clock(row.text());
               environment.set_filters(row.u32());
               environment.set_load_1m(row.real());
               environment.set_namespaces_gone(row.boolean());
             }));
    if (!result.has_environment()) return absl::OkStatus();
    v1::Environment& environment = *result.mutable_environment();
    HOPYARD_RETURN_IF_ERROR(settings(environment));
    HOPYARD_RETURN_IF_ERROR(links(environment));
    return lines(environment);
  }

  absl::Status settings(v1::Environment& environment) {
    return each(
        "SELECT name.content, value.content FROM environment_setting JOIN text name ON name.text_no = "
        "name_text"
        " JOIN text value ON value.text_no = value_text WHERE trial_no = ? ORDER BY seq",
        [&](Columns row) {
          v1::Setting& setting = *environment.add_sysctls();
          setting.set_name(row.text());
          setting.set_value(row.text());
        });
  }

  absl::Status links(v1::Environment& environment) {
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT namespace.content, name.content, mac, mtu, tso, gso, gro FROM environment_link"
             " JOIN text namespace ON namespace.text_no = namespace_text JOIN text name ON name.text_no = "
             "name_text"
             " WHERE trial_no = ? ORDER BY seq",
             [&](Columns row) {
               v1::Link& link = *environment.add_links();
               link.set_namespace_(row.text());
               link.set_name(row.text());
               link.set_mac(row.text());
               link.set_mtu(row.u32());
               link.set_tso(row.boolean());
               link.set_gso(row.boolean());
               link.set_gro(row.boolean());
             }));
    bool astray = false;
    HOPYARD_RETURN_IF_ERROR(
        each("SELECT link_seq, content FROM environment_address JOIN text ON text_no = address_text WHERE "
             "trial_no = ?"
             " ORDER BY link_seq, seq",
             [&](Columns row) {
               const int64_t seq = row.integer();
               astray |= seq < 0 || seq >= environment.links_size();
               if (!astray) environment.mutable_links(static_cast<int>(seq))->add_addresses(row.text());
             }));
    return astray ? rows_astray("link") : absl::OkStatus();
  }

  absl::Status lines(v1::Environment& environment) {
    return each(
        "SELECT kind, content FROM environment_line JOIN text ON text_no = content_text WHERE trial_no = ?"
        " ORDER BY kind, seq",
        [&](Columns row) {
          const std::string kind = row.text();
          std::string* line = kind == "route"       ? environment.add_routes()
                              : kind == "neighbour" ? environment.add_neighbours()
                                                    : environment.add_unsupported();
          *line = row.text();
        });
  }

  Connection& connection_;
  const int64_t trial_;
};

}  // namespace

absl::StatusOr<std::optional<v1::TrialResult>> read_result(Connection& connection,
                                                           std::string_view trial_id) {
  Statement find = connection.prepare(
      "SELECT trial_no, verdict, reason, started_ns, finished_ns FROM outcome JOIN trial USING (trial_no)"
      " WHERE trial_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(trial_id).step());
  std::optional<v1::TrialResult> result;
  if (!found) return result;
  result.emplace();
  result->set_trial_id(std::string(trial_id));
  result->set_verdict(verdict_of(find.view(1)));
  result->set_reason(find.text(2));
  result->set_started_ns(find.integer(3));
  result->set_finished_ns(find.integer(4));
  HOPYARD_RETURN_IF_ERROR(EvidenceReader(connection, find.integer(0)).read(*result));
  return result;
}

absl::StatusOr<Provenance> read_provenance(Connection& connection, std::string_view trial_id) {
  Statement find = connection.prepare(
      "SELECT execution, kernel, tool_version, variant, variant_sha256, nginx_path, inputs, binary_sha256,"
      " fragment_bytes, early_fragment_bytes, early_budget_bytes, transitions, settings, dynamic"
      " FROM v_provenance WHERE trial_id = ?");
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(trial_id).step());
  if (!found) {
    return absl::NotFoundError(
        absl::StrCat("trial \"", absl::string_view(trial_id.data(), trial_id.size()), "\" has no outcome"));
  }
  Columns row(find);
  Provenance provenance{.execution = row.text(), .kernel_release = row.text(), .tool_version = row.text()};
  provenance.build.set_variant(row.text());
  provenance.build.set_sha256(row.text());
  provenance.build.set_nginx_path(row.text());
  provenance.inputs = absl::StrSplit(row.text(), '\n');
  provenance.binary_sha256 = row.text();
  v1::RecordPolicy& records = *provenance.build.mutable_records();
  records.set_fragment_bytes(row.u32());
  records.set_early_fragment_bytes(row.u32());
  records.set_early_budget_bytes(row.u32());
  records.set_transitions(row.u32());
  records.set_settings(row.u32());
  records.set_dynamic(row.boolean());
  return provenance;
}

}  // namespace hopyard::store
