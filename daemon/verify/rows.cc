// SPDX-License-Identifier: Apache-2.0
// One query a table.
#include "verify/rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hopyard::verify {
namespace {

using store::Statement;

template <typename Named>
const Named* named(const std::vector<Named>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Named& one) { return one.name == name; });
  return found == list.end() ? nullptr : &*found;
}

uint64_t u64(const Statement& row, int column) { return static_cast<uint64_t>(row.integer(column)); }

std::optional<uint64_t> optional_u64(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return u64(row, column);
}

}  // namespace

const AskedPath* Asked::path(const std::string& name) const { return named(paths, name); }
const AskedCase* Asked::one_case(const std::string& name) const { return named(cases, name); }
const AskedWorkload* Asked::workload(const std::string& name) const { return named(workloads, name); }

std::optional<int64_t> Asked::margin_ns(const std::string& a, const std::string& b) const {
  for (const AskedMargin& margin : margins) {
    const auto names = [&](const std::string& name) {
      return std::find(margin.cases.begin(), margin.cases.end(), name) != margin.cases.end();
    };
    if (names(a) && names(b)) return margin.margin_ns;
  }
  return std::nullopt;
}

const std::string* StoredTrial::setting(const std::string& name) const {
  if (!environment) return nullptr;
  for (const auto& [key, value] : environment->settings) {
    if (key == name) return &value;
  }
  return nullptr;
}

template <typename Take>
absl::Status Rows::each(const char* select, int64_t number, Take take) {
  Statement statement = connection_.prepare(select);
  statement.bind(number);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, statement.step());
    if (!row) return status_;
    ++rows_;
    take(statement);
  }
}

std::string Rows::text(const Statement& row, int column) {
  const int64_t number = row.integer(column);
  if (const auto known = texts_.find(number); known != texts_.end()) return known->second;
  Statement find = connection_.prepare("SELECT content FROM text WHERE text_no = ?");
  const auto found = find.bind(number).step();
  if (!found.ok()) status_.Update(found.status());
  std::string content =
      found.ok() && *found ? find.text(0) : absl::StrCat("text ", number, ", which is not there");
  texts_.emplace(number, content);
  return content;
}

absl::StatusOr<Asked> Rows::asked(std::string_view campaign_id) {
  Asked asked;
  {
    Statement select = connection_.prepare(
        "SELECT campaign_no, campaign_id, state, yaml, yaml_sha256, COALESCE(json_extract(campaign_json, "
        "'$.seed'), '0'), COALESCE(json_extract(campaign_json, '$.clock'), '') FROM campaign WHERE "
        "campaign_id = ?");
    HOPYARD_ASSIGN_OR_RETURN(const bool found, select.bind(campaign_id).step());
    if (!found) {
      return absl::NotFoundError(
          absl::StrCat("no campaign \"", absl::string_view(campaign_id.data(), campaign_id.size()), "\""));
    }
    asked.number = select.integer(0);
    asked.id = select.text(1);
    asked.state = select.text(2);
    asked.yaml = select.text(3);
    asked.yaml_sha256 = select.text(4);
    asked.seed = select.text(5);
    asked.clock = select.text(6);
  }
  HOPYARD_RETURN_IF_ERROR(read_lists(asked));
  HOPYARD_RETURN_IF_ERROR(read_phases(asked));
  HOPYARD_RETURN_IF_ERROR(read_comparisons(asked));
  return asked;
}

absl::Status Rows::read_comparisons(Asked& asked) {
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT e.key, e.value ->> 'margin_ns', n.value FROM campaign c, json_each(c.campaign_json, "
           "'$.equivalence') e,"
           " json_each(e.value, '$.cases') n WHERE campaign_no = ? ORDER BY e.key, n.key",
           asked.number, [&](const Statement& row) {
             const auto place = static_cast<size_t>(row.integer(0));
             if (place >= asked.margins.size()) asked.margins.push_back({{}, row.integer(1)});
             asked.margins.back().cases.push_back(row.text(2));
           }));
  return each(
      "SELECT f.value ->> 'name', f.value ->> 'neither', f.value ->> 'first', f.value ->> 'second', f.value "
      "->> 'both'"
      " FROM campaign c, json_each(c.campaign_json, '$.factorials') f WHERE campaign_no = ? ORDER BY f.key",
      asked.number, [&](const Statement& row) {
        asked.factorials.push_back({row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)});
      });
}

absl::Status Rows::read_phases(Asked& asked) {
  return each(
      "SELECT p.name, p.first_block, CASE WHEN p.seq > 0 THEN"
      " c.campaign_json ->> ('$.extensions[' || (p.seq - 1) || '].seed') END, p.yaml,"
      " p.options, p.yaml_sha256 FROM phase p JOIN campaign c USING (campaign_no) WHERE campaign_no = ? "
      "ORDER BY p.seq",
      asked.number, [&](const Statement& row) {
        asked.phases.push_back({row.text(0), row.integer(1), row.is_null(2) ? asked.seed : row.text(2),
                                row.text(3), row.text(4), row.text(5)});
      });
}

absl::Status Rows::read_lists(Asked& asked) {
  HOPYARD_RETURN_IF_ERROR(each("SELECT content FROM campaign_override WHERE campaign_no = ? ORDER BY seq",
                               asked.number,
                               [&](const Statement& row) { asked.overrides.push_back(row.text(0)); }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT j.value ->> 'name', j.value ->> 'kind', CAST(j.value ->> 'rtt_ns' AS INTEGER),"
           " CAST(j.value ->> 'rate_bps' AS INTEGER), j.value ->> 'loss', CAST(j.value ->> 'limit_packets' "
           "AS INTEGER)"
           " FROM campaign c, json_each(c.campaign_json, '$.paths') j WHERE campaign_no = ?",
           asked.number, [&](const Statement& row) {
             AskedPath& path = asked.paths.emplace_back();
             path.name = row.text(0);
             path.kind = row.text(1);
             path.rtt_ns = row.integer(2);
             path.rate_bps = u64(row, 3);
             path.loss = row.real(4);
             if (!row.is_null(5)) path.limit_packets = u64(row, 5);
           }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT j.value ->> 'name', j.value ->> 'variant',"
           " CAST(j.value ->> '$.server.ssl_buffer_size_bytes' AS INTEGER), j.value ->> "
           "'$.tcp.congestion_control', CAST(j.value ->> '$.tcp.notsent_lowat_bytes' AS INTEGER),"
           " COALESCE(j.value ->> '$.server.ssl_dyn_rec_enable', 0), CAST(j.value ->> "
           "'$.server.ssl_dyn_rec_size_lo_bytes' AS INTEGER),"
           " CAST(j.value ->> '$.server.ssl_dyn_rec_size_hi_bytes' AS INTEGER), CAST(j.value ->> "
           "'$.server.ssl_dyn_rec_threshold' AS INTEGER),"
           " CAST(j.value ->> '$.server.ssl_dyn_rec_timeout_ns' AS INTEGER)"
           " FROM campaign c, json_each(c.campaign_json, '$.cases') j WHERE campaign_no = ?",
           asked.number, [&](const Statement& row) {
             AskedCase& one = asked.cases.emplace_back();
             one.name = row.text(0);
             one.variant = row.text(1);
             one.ssl_buffer_bytes = optional_u64(row, 2);
             if (!row.is_null(3)) one.congestion_control = row.text(3);
             one.notsent_lowat_bytes = optional_u64(row, 4);
             one.dyn_rec = row.integer(5) != 0;
             if (!row.is_null(6)) one.dyn_rec_low_bytes = u64(row, 6);
             if (!row.is_null(7)) one.dyn_rec_high_bytes = u64(row, 7);
             if (!row.is_null(8)) one.dyn_rec_threshold = u64(row, 8);
             if (!row.is_null(9)) one.dyn_rec_timeout_ns = row.integer(9);
           }));
  return each(
      "SELECT w.key, w.value ->> 'name', w.value ->> 'protocol', r.value ->> 'name',"
      " CAST(r.value ->> 'body_bytes' AS INTEGER), r.value -> 'after' IS NOT NULL, r.value ->> "
      "'$.after.request',"
      " CAST(r.value ->> '$.after.body_bytes' AS INTEGER), CAST(r.value ->> '$.after.pause_ns' AS INTEGER)"
      " FROM campaign c, json_each(c.campaign_json, '$.workloads') w, json_each(w.value, '$.requests') r"
      " WHERE campaign_no = ? ORDER BY w.key, r.key",
      asked.number, [&](const Statement& row) {
        if (static_cast<size_t>(row.integer(0)) >= asked.workloads.size())
          asked.workloads.push_back({row.text(1), row.text(2), {}});
        AskedRequest& request = asked.workloads.back().requests.emplace_back();
        request.name = row.text(3);
        request.body_bytes = u64(row, 4);
        request.later = row.integer(5) != 0;
        request.after_request = row.text(6);
        request.after_body_bytes = optional_u64(row, 7);
        request.pause_ns = row.integer(8);
      });
}

absl::StatusOr<std::vector<StoredTrial>> Rows::trials(int64_t campaign_no) {
  std::vector<StoredTrial> trials;
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT t.trial_no, t.trial_id, t.cell_no, t.run_index, t.block, t.position, t.seed, cell.path,"
           " cell.workload, cell.case_name, cell.kernel_name, o.verdict, o.reason, o.host_no, h.execution,"
           " h.kernel_release, h.clock, o.started_ns, o.finished_ns, b.variant, b.fragment_bytes,"
           " b.early_fragment_bytes, b.early_budget_bytes, b.transitions, b.settings, b.dynamic"
           " FROM cell JOIN trial t USING (cell_no) LEFT JOIN outcome o USING (trial_no)"
           " LEFT JOIN host h USING (host_no) LEFT JOIN server_build b USING (build_no)"
           " WHERE cell.campaign_no = ? ORDER BY t.run_index, t.trial_no",
           campaign_no, [&](const Statement& row) {
             StoredTrial& trial = trials.emplace_back();
             trial.number = row.integer(0);
             trial.id = row.text(1);
             trial.cell_no = row.integer(2);
             trial.run_index = row.integer(3);
             trial.block = row.integer(4);
             trial.position = row.integer(5);
             trial.seed = u64(row, 6);
             trial.path = row.text(7);
             trial.workload = row.text(8);
             trial.case_name = row.text(9);
             trial.kernel_name = row.text(10);
             trial.verdict = row.text(11);
             trial.reason = row.text(12);
             trial.host_no = row.integer(13);
             trial.execution = row.text(14);
             trial.kernel_release = row.text(15);
             trial.clock = row.text(16);
             trial.started_ns = row.integer(17);
             trial.finished_ns = row.integer(18);
             trial.build = {row.text(19), u64(row, 20), u64(row, 21),        u64(row, 22),
                            u64(row, 23), u64(row, 24), row.integer(25) != 0};
           }));
  return trials;
}

absl::StatusOr<uint64_t> Rows::add_evidence(StoredTrial& trial) {
  rows_ = 0;
  HOPYARD_RETURN_IF_ERROR(each(
      "SELECT seq, name_text, expected_text, seen, outcome FROM evidence_check WHERE trial_no = ? ORDER BY "
      "seq",
      trial.number, [&](const Statement& row) {
        trial.checks.push_back({row.integer(0), text(row, 1), text(row, 2), row.text(3), row.integer(4)});
      }));
  HOPYARD_RETURN_IF_ERROR(read_client(trial));
  HOPYARD_RETURN_IF_ERROR(read_server(trial));
  HOPYARD_RETURN_IF_ERROR(read_kernel(trial));
  HOPYARD_RETURN_IF_ERROR(read_environment(trial));
  HOPYARD_RETURN_IF_ERROR(read_router(trial));
  return rows_;
}

absl::Status Rows::read_router(StoredTrial& trial) {
  return each(
      "SELECT seq, direction_text, arrived_packets, departed_packets, queue_drops, incomplete,"
      " (SELECT COUNT(*) FROM router_drop d WHERE d.trial_no = r.trial_no AND d.seq = r.seq)"
      " FROM router_traffic r WHERE trial_no = ? ORDER BY seq",
      trial.number, [&](const Statement& row) {
        trial.router.push_back(
            {row.integer(0), text(row, 1), u64(row, 2), u64(row, 3), u64(row, 4), row.text(5), u64(row, 6)});
      });
}

absl::Status Rows::read_client(StoredTrial& trial) {
  HOPYARD_RETURN_IF_ERROR(each(
      "SELECT connect_start_ns, connected_ns, handshake_done_ns, settled_ns, tls_version_text, cipher_text,"
      " alpn_text, decrypted_bytes, error FROM client WHERE trial_no = ?",
      trial.number, [&](const Statement& row) {
        trial.client = {row.integer(0), row.integer(1), row.integer(2), row.integer(3), text(row, 4),
                        text(row, 5),   text(row, 6),   u64(row, 7),    row.text(8)};
      }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT seq, content, outer_type, wire_bytes, plaintext_bytes, received_ns, decrypted_ns FROM "
           "tls_record WHERE trial_no = ? ORDER BY seq",
           trial.number, [&](const Statement& row) {
             trial.records.push_back({row.integer(0), row.integer(1), row.integer(2), u64(row, 3),
                                      u64(row, 4), row.integer(5), row.integer(6)});
           }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT seq, sent, stream, type_text, flags, length, first_byte_ns, complete_ns FROM h2_frame "
           "WHERE trial_no = ? ORDER BY seq",
           trial.number, [&](const Statement& row) {
             trial.frames.push_back({row.integer(0), row.integer(1) != 0, row.integer(2), text(row, 3),
                                     row.integer(4), u64(row, 5), row.integer(6), row.integer(7)});
           }));
  return each(
      "SELECT seq, stream, role_text, protocol_text, request_start_ns, request_written_ns, status, "
      "header_bytes,"
      " body_bytes, content_length, body_sha256, first_decrypted_ns, first_body_ns, body_1024_ns, "
      "body_4096_ns,"
      " body_8192_ns, first_data_frame_ns, complete_ns, dispatch_after_bytes, body_equals_fixture"
      " FROM response WHERE trial_no = ? ORDER BY seq",
      trial.number, [&](const Statement& row) {
        StoredResponse& response = trial.responses.emplace_back();
        response.seq = row.integer(0);
        response.stream = row.integer(1);
        response.role = text(row, 2);
        response.protocol = text(row, 3);
        response.request_start_ns = row.integer(4);
        response.request_written_ns = row.integer(5);
        response.status = row.integer(6);
        response.header_bytes = u64(row, 7);
        response.body_bytes = u64(row, 8);
        response.content_length = u64(row, 9);
        response.body_sha256 = row.text(10);
        response.first_decrypted_ns = row.integer(11);
        response.first_body_ns = row.integer(12);
        response.body_1024_ns = row.integer(13);
        response.body_4096_ns = row.integer(14);
        response.body_8192_ns = row.integer(15);
        response.first_data_frame_ns = row.integer(16);
        response.complete_ns = row.integer(17);
        response.dispatch_after_bytes = u64(row, 18);
        response.body_equals_fixture = row.integer(19) != 0;
      });
}

absl::Status Rows::read_server(StoredTrial& trial) {
  HOPYARD_RETURN_IF_ERROR(each("SELECT exit_code, signal, errors FROM server WHERE trial_no = ?",
                               trial.number, [&](const Statement& row) {
                                 trial.server = {row.integer(0), row.integer(1), row.text(2)};
                               }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT seq, requested, returned, response FROM ssl_write WHERE trial_no = ? ORDER BY seq",
           trial.number, [&](const Statement& row) {
             trial.writes.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3)});
           }));
  return each(
      "SELECT seq, before_write, fragment_bytes, restored, returned FROM fragment WHERE trial_no = ? ORDER "
      "BY seq",
      trial.number, [&](const Statement& row) {
        trial.fragments.push_back(
            {row.integer(0), row.integer(1), u64(row, 2), row.integer(3) != 0, row.integer(4)});
      });
}

absl::Status Rows::read_kernel(StoredTrial& trial) {
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT seq, at_text, side_text, taken_ns, local, remote, congestion_control_text FROM "
           "socket_snapshot WHERE trial_no = ? ORDER BY seq",
           trial.number, [&](const Statement& row) {
             trial.sockets.push_back({row.integer(0),
                                      text(row, 1),
                                      text(row, 2),
                                      row.integer(3),
                                      row.text(4),
                                      row.text(5),
                                      text(row, 6),
                                      {}});
           }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT v.seq, f.name, v.value FROM socket_value v JOIN socket_figure f USING (figure_no) WHERE "
           "v.trial_no = ? ORDER BY v.seq",
           trial.number, [&](const Statement& row) {
             const auto place = static_cast<size_t>(row.integer(0));
             if (place < trial.sockets.size()) trial.sockets[place].values[row.text(1)] = u64(row, 2);
           }));
  return each(
      "SELECT seq, at_text, namespace_text, link_text, taken_ns, kind_text, handle, parent, options_text, "
      "bytes,"
      " packets, drops, overlimits, requeues FROM qdisc_snapshot WHERE trial_no = ? ORDER BY seq",
      trial.number, [&](const Statement& row) {
        trial.qdiscs.push_back({row.integer(0), text(row, 1), text(row, 2), text(row, 3), row.integer(4),
                                text(row, 5), row.integer(6), row.integer(7), text(row, 8), u64(row, 9),
                                u64(row, 10), u64(row, 11), u64(row, 12), u64(row, 13)});
      });
}

absl::Status Rows::read_environment(StoredTrial& trial) {
  HOPYARD_RETURN_IF_ERROR(each(
      "SELECT kernel_release_text, clock_text, filters, namespaces_gone FROM environment WHERE trial_no = ?",
      trial.number, [&](const Statement& row) {
        StoredEnvironment& environment = trial.environment.emplace();
        environment.kernel_release = text(row, 0);
        environment.clock = text(row, 1);
        environment.filters = row.integer(2);
        environment.namespaces_gone = row.integer(3) != 0;
      }));
  if (!trial.environment) return absl::OkStatus();
  StoredEnvironment& environment = *trial.environment;
  HOPYARD_RETURN_IF_ERROR(each(
      "SELECT name_text, value_text FROM environment_setting WHERE trial_no = ? ORDER BY seq", trial.number,
      [&](const Statement& row) { environment.settings.emplace_back(text(row, 0), text(row, 1)); }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT seq, namespace_text, name_text, mac, mtu, tso, gso, gro FROM environment_link WHERE "
           "trial_no = ? ORDER BY seq",
           trial.number, [&](const Statement& row) {
             environment.links.push_back({row.integer(0),
                                          text(row, 1),
                                          text(row, 2),
                                          row.text(3),
                                          row.integer(4),
                                          row.integer(5) != 0,
                                          row.integer(6) != 0,
                                          row.integer(7) != 0,
                                          {}});
           }));
  HOPYARD_RETURN_IF_ERROR(
      each("SELECT link_seq, address_text FROM environment_address WHERE trial_no = ? ORDER BY link_seq, seq",
           trial.number, [&](const Statement& row) {
             const auto place = static_cast<size_t>(row.integer(0));
             if (place < environment.links.size()) environment.links[place].addresses.push_back(text(row, 1));
           }));
  return each("SELECT kind, content_text FROM environment_line WHERE trial_no = ? ORDER BY kind, seq",
              trial.number, [&](const Statement& row) {
                const std::string kind = row.text(0);
                (kind == "route"       ? environment.routes
                 : kind == "neighbour" ? environment.neighbours
                                       : environment.unsupported)
                    .push_back(text(row, 1));
              });
}

}  // namespace hopyard::verify
