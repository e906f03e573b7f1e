-- SPDX-License-Identifier: Apache-2.0
-- What dashboards, scripts and people read. Names and columns are a contract: columns are only added, at the end.
-- docs/schema.md explains every column. NULL: did not happen, or is not known.
--
-- Zero of times: v_response and v_request count from that response's own request_start_ns (immediately before the
-- request is given to TLS); v_client from connect_start_ns; everything else that belongs to a connection from the first
-- request's request_start_ns, so that what came before is negative. Without a request those are NULL; the tables have
-- the absolute instants.

CREATE VIEW v_campaign AS
SELECT c.campaign_id,
  json_extract(c.campaign_json, '$.name') AS name,
  json_extract(c.campaign_json, '$.question') AS question,
  json_extract(c.campaign_json, '$.source') AS source,
  c.state, c.reason,
  json_extract(c.campaign_json, '$.seed') AS seed,
  json_extract(c.campaign_json, '$.clock') AS clock,
  NULLIF(c.kernel, '') AS kernel,
  NULLIF(c.execution, '') AS execution,
  c.jobs, c.submitted_unix_ns, c.finished_unix_ns,
  (SELECT COUNT(*) FROM cell JOIN trial USING (cell_no) WHERE cell.campaign_no = c.campaign_no) AS trials,
  (SELECT COALESCE(SUM(passed), 0) FROM cell JOIN tally USING (cell_no) WHERE cell.campaign_no = c.campaign_no) AS passed,
  (SELECT COALESCE(SUM(failed), 0) FROM cell JOIN tally USING (cell_no) WHERE cell.campaign_no = c.campaign_no) AS failed,
  (SELECT COALESCE(SUM(invalid), 0) FROM cell JOIN tally USING (cell_no) WHERE cell.campaign_no = c.campaign_no) AS invalid,
  c.file, c.yaml, c.yaml_sha256,
  (SELECT json_group_array(content) FROM (SELECT content FROM campaign_override o WHERE o.campaign_no = c.campaign_no
                                          ORDER BY seq)) AS overrides_json,
  c.campaign_json,
  (SELECT json_group_array(name) FROM (SELECT name FROM phase p WHERE p.campaign_no = c.campaign_no ORDER BY seq))
    AS phases_json
FROM campaign c;

CREATE VIEW v_phase AS
SELECT c.campaign_id, p.seq, p.name AS phase, p.first_block, p.blocks,
  COALESCE(json_extract(e.value, '$.seed'), json_extract(c.campaign_json, '$.seed'), '0') AS seed,
  COALESCE(json_extract(e.value, '$.note'), '') AS note,
  (SELECT COUNT(DISTINCT t.cell_no) FROM cell JOIN trial t USING (cell_no) WHERE cell.campaign_no = p.campaign_no
     AND t.block >= p.first_block AND t.block < p.first_block + p.blocks) AS cells,
  (SELECT COUNT(*) FROM cell JOIN trial t USING (cell_no) WHERE cell.campaign_no = p.campaign_no
     AND t.block >= p.first_block AND t.block < p.first_block + p.blocks) AS trials,
  (SELECT COUNT(*) FROM cell JOIN trial t USING (cell_no) JOIN outcome o USING (trial_no)
   WHERE cell.campaign_no = p.campaign_no AND t.block >= p.first_block AND t.block < p.first_block + p.blocks
     AND o.verdict = 'passed') AS passed,
  (SELECT COUNT(*) FROM cell JOIN trial t USING (cell_no) JOIN outcome o USING (trial_no)
   WHERE cell.campaign_no = p.campaign_no AND t.block >= p.first_block AND t.block < p.first_block + p.blocks
     AND o.verdict = 'failed') AS failed,
  (SELECT COUNT(*) FROM cell JOIN trial t USING (cell_no) JOIN outcome o USING (trial_no)
   WHERE cell.campaign_no = p.campaign_no AND t.block >= p.first_block AND t.block < p.first_block + p.blocks
     AND o.verdict = 'invalid') AS invalid,
  p.file, p.yaml, p.options, p.yaml_sha256, p.added_unix_ns, e.value AS extension_json
FROM phase p JOIN campaign c USING (campaign_no)
  LEFT JOIN json_each(c.campaign_json, '$.extensions') e ON e.key = p.seq - 1;

CREATE VIEW v_case AS
SELECT c.campaign_id,
  json_extract(j.value, '$.name') AS case_name,
  json_extract(j.value, '$.variant') AS variant,
  CAST(json_extract(j.value, '$.server.ssl_buffer_size_bytes') AS INTEGER) AS ssl_buffer_size_bytes,
  CAST(json_extract(j.value, '$.server.http2_chunk_size_bytes') AS INTEGER) AS http2_chunk_size_bytes,
  json_extract(j.value, '$.tcp.congestion_control') AS congestion_control,
  CAST(json_extract(j.value, '$.tcp.notsent_lowat_bytes') AS INTEGER) AS notsent_lowat_bytes,
  j.value AS case_json
FROM campaign c, json_each(c.campaign_json, '$.cases') j;

CREATE VIEW v_path AS
SELECT c.campaign_id,
  json_extract(j.value, '$.name') AS path,
  json_extract(j.value, '$.kind') AS kind,
  CAST(json_extract(j.value, '$.rtt_ns') AS INTEGER) AS rtt_ns,
  CAST(json_extract(j.value, '$.rate_bps') AS INTEGER) AS rate_bps,
  json_extract(j.value, '$.loss') AS loss,
  json_extract(j.value, '$.limit_packets') AS limit_packets,
  j.value AS path_json
FROM campaign c, json_each(c.campaign_json, '$.paths') j;

CREATE VIEW v_workload AS
SELECT c.campaign_id,
  json_extract(w.value, '$.name') AS workload,
  json_extract(w.value, '$.protocol') AS protocol,
  r.key AS seq,
  json_extract(r.value, '$.name') AS role,
  CAST(json_extract(r.value, '$.body_bytes') AS INTEGER) AS body_bytes,
  json_extract(r.value, '$.after.request') AS after_request,
  CAST(json_extract(r.value, '$.after.body_bytes') AS INTEGER) AS after_body_bytes,
  CAST(json_extract(r.value, '$.after.pause_ns') AS INTEGER) AS pause_ns,
  w.value AS workload_json,
  CAST(json_extract(r.value, '$.after.stall_ns') AS INTEGER) AS stall_ns
FROM campaign c, json_each(c.campaign_json, '$.workloads') w, json_each(w.value, '$.requests') r;

CREATE VIEW v_trial AS
SELECT t.trial_id, c.campaign_id, t.block, t.position, cell.path, cell.workload, cell.case_name,
  o.verdict, o.reason,
  NULLIF(h.kernel_release, '') AS kernel,
  COALESCE(h.clock, json_extract(c.campaign_json, '$.clock')) AS clock,
  CASE WHEN t.seed >= 0 THEN t.seed ELSE printf('%llu', t.seed) END AS seed,
  b.sha256 AS variant_sha256,
  (SELECT p.name FROM phase p WHERE p.campaign_no = c.campaign_no AND t.block >= p.first_block
     AND t.block < p.first_block + p.blocks) AS phase
FROM trial t JOIN cell USING (cell_no) JOIN campaign c USING (campaign_no)
  LEFT JOIN outcome o USING (trial_no) LEFT JOIN host h USING (host_no) LEFT JOIN server_build b USING (build_no);

CREATE VIEW v_provenance AS
SELECT t.trial_id, t.run_index, cell.kernel_name AS planned_kernel, h.execution, NULLIF(h.kernel_release, '') AS kernel,
  h.clock, version.content AS tool_version, b.variant, b.sha256 AS variant_sha256, b.binary_sha256, b.nginx_path,
  b.inputs, b.fragment_bytes, b.early_fragment_bytes, b.early_budget_bytes, b.transitions, b.settings,
  o.started_ns, o.finished_ns, o.finished_ns - o.started_ns AS wall_ns, o.recorded_unix_ns, b.dynamic
FROM outcome o JOIN trial t USING (trial_no) JOIN cell USING (cell_no) JOIN host h USING (host_no)
  JOIN server_build b USING (build_no) JOIN text version ON version.text_no = o.tool_version_text;

CREATE VIEW v_check AS
SELECT t.trial_id, k.seq, name.content AS name, expected.content AS expected, k.seen,
  CASE k.outcome WHEN 1 THEN 'holds' WHEN 2 THEN 'broken' WHEN 3 THEN 'unsupported' END AS outcome
FROM evidence_check k JOIN trial t USING (trial_no) JOIN text name ON name.text_no = k.name_text
  JOIN text expected ON expected.text_no = k.expected_text;

CREATE VIEW v_client AS
SELECT t.trial_id, c.connect_start_ns,
  c.connected_ns - c.connect_start_ns AS connected_ns,
  c.handshake_done_ns - c.connect_start_ns AS handshake_done_ns,
  c.settled_ns - c.connect_start_ns AS settled_ns,
  first.request_start_ns - c.connect_start_ns AS first_request_ns,
  version.content AS tls_version, cipher.content AS cipher, alpn.content AS alpn, c.decrypted_bytes, c.error
FROM client c JOIN trial t USING (trial_no) JOIN text version ON version.text_no = c.tls_version_text
  JOIN text cipher ON cipher.text_no = c.cipher_text JOIN text alpn ON alpn.text_no = c.alpn_text
  LEFT JOIN response first ON first.trial_no = c.trial_no AND first.seq = 0;

CREATE VIEW v_response AS
SELECT t.trial_id, r.stream, role.content AS role, protocol.content AS protocol, r.header_bytes, r.body_bytes,
  NULLIF(lower(hex(r.body_sha256)), '') AS body_sha256,
  r.first_decrypted_ns - r.request_start_ns AS first_decrypted_ns,
  r.first_body_ns - r.request_start_ns AS first_body_ns,
  r.body_1024_ns - r.request_start_ns AS body_1024_ns,
  r.body_4096_ns - r.request_start_ns AS body_4096_ns,
  r.body_8192_ns - r.request_start_ns AS body_8192_ns,
  r.first_data_frame_ns - r.request_start_ns AS first_data_frame_ns,
  r.complete_ns - r.request_start_ns AS complete_ns,
  r.first_decrypted_ns - c.connect_start_ns AS connect_to_first_decrypted_ns,
  r.complete_ns - c.connect_start_ns AS connect_to_complete_ns
FROM response r JOIN trial t USING (trial_no) JOIN client c USING (trial_no)
  JOIN text role ON role.text_no = r.role_text JOIN text protocol ON protocol.text_no = r.protocol_text;

CREATE VIEW v_request AS
SELECT t.trial_id, r.seq, r.stream, role.content AS role,
  r.request_start_ns - first.request_start_ns AS from_first_ns,
  r.request_written_ns - r.request_start_ns AS written_ns,
  r.complete_ns - first.request_start_ns AS complete_from_first_ns,
  r.dispatch_after_bytes, r.status, r.content_length, r.body_equals_fixture, r.request_start_ns
FROM response r JOIN trial t USING (trial_no) JOIN text role ON role.text_no = r.role_text
  JOIN response first ON first.trial_no = r.trial_no AND first.seq = 0;

-- What may explain a response's times. An SSL_write belongs to the newest request the server had parsed: on HTTP/2 it
-- may carry an older one's bytes.
CREATE VIEW v_response_detail AS
SELECT t.trial_id, r.seq, r.stream, role.content AS role,
  r.complete_ns - r.request_start_ns AS complete_ns,
  r.complete_ns - first.request_start_ns AS complete_from_first_ns,
  (SELECT COUNT(*) FROM ssl_write w WHERE w.trial_no = r.trial_no AND w.response = r.seq + 1) AS ssl_writes,
  (SELECT COUNT(*) FROM ssl_write w WHERE w.trial_no = r.trial_no AND w.response = r.seq + 1 AND w.returned <= 0)
    AS ssl_write_retries,
  (SELECT v.value FROM socket_snapshot s JOIN socket_value v USING (trial_no, seq)
   WHERE s.trial_no = r.trial_no AND s.at_text = (SELECT text_no FROM text WHERE content = 'request:' || role.content)
     AND s.side_text = (SELECT text_no FROM text WHERE content = 'server')
     AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_notsent_bytes')) AS unsent_at_dispatch_bytes,
  (SELECT v.value FROM socket_snapshot s JOIN socket_value v USING (trial_no, seq)
   WHERE s.trial_no = r.trial_no AND s.at_text = (SELECT text_no FROM text WHERE content = 'request:' || role.content)
     AND s.side_text = (SELECT text_no FROM text WHERE content = 'server')
     AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'wqueue')) AS queued_at_dispatch_bytes,
  d.to_server AS drops_to_server, d.to_client AS drops_to_client, d.drops
FROM response r JOIN trial t USING (trial_no) JOIN text role ON role.text_no = r.role_text
  JOIN response first ON first.trial_no = r.trial_no AND first.seq = 0
  JOIN v_trial_drops d ON d.trial_id = t.trial_id;

CREATE VIEW v_tls_record AS
SELECT t.trial_id, r.seq,
  CASE r.content WHEN 1 THEN 'handshake' WHEN 2 THEN 'data' WHEN 3 THEN 'post_handshake' WHEN 4 THEN 'alert' END AS content,
  r.wire_bytes, r.plaintext_bytes,
  r.received_ns - first.request_start_ns AS received_ns,
  r.decrypted_ns - first.request_start_ns AS decrypted_ns
FROM tls_record r JOIN trial t USING (trial_no)
  LEFT JOIN response first ON first.trial_no = r.trial_no AND first.seq = 0;

CREATE VIEW v_h2_frame AS
SELECT t.trial_id, f.seq, CASE f.sent WHEN 1 THEN 'sent' ELSE 'received' END AS direction, f.stream,
  type.content AS type, f.flags, f.length,
  f.first_byte_ns - first.request_start_ns AS first_byte_ns,
  f.complete_ns - first.request_start_ns AS complete_ns
FROM h2_frame f JOIN trial t USING (trial_no) JOIN text type ON type.text_no = f.type_text
  LEFT JOIN response first ON first.trial_no = f.trial_no AND first.seq = 0;

CREATE VIEW v_server AS
SELECT t.trial_id, s.exit_code, s.signal, s.user_cpu_ns, s.system_cpu_ns, s.max_rss_bytes,
  version.content AS nginx_version, config.content AS config, s.errors
FROM server s JOIN trial t USING (trial_no) JOIN text version ON version.text_no = s.nginx_version_text
  JOIN text config ON config.text_no = s.config_text;

CREATE VIEW v_ssl_write AS
SELECT t.trial_id, w.seq, w.requested, w.returned
FROM ssl_write w JOIN trial t USING (trial_no);

CREATE VIEW v_fragment AS
SELECT t.trial_id, f.seq, f.before_write, f.fragment_bytes, f.restored, f.returned
FROM fragment f JOIN trial t USING (trial_no);

CREATE VIEW v_socket AS
SELECT t.trial_id, at.content AS at, side.content AS side, s.seq,
  s.taken_ns - first.request_start_ns AS taken_ns,
  s.local, s.remote, state.content AS state, NULLIF(congestion.content, '') AS congestion_control,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'rqueue')) AS rqueue,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'wqueue')) AS wqueue,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'timer')) AS timer,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'timer_expires_ms')) AS timer_expires_ms,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'timer_retrans')) AS timer_retrans,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_state')) AS tcpi_state,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_ca_state')) AS tcpi_ca_state,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_retransmits')) AS tcpi_retransmits,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_probes')) AS tcpi_probes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_backoff')) AS tcpi_backoff,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_options')) AS tcpi_options,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_snd_wscale')) AS tcpi_snd_wscale,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_wscale')) AS tcpi_rcv_wscale,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivery_rate_app_limited')) AS tcpi_delivery_rate_app_limited,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_fastopen_client_fail')) AS tcpi_fastopen_client_fail,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rto')) AS tcpi_rto,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_ato')) AS tcpi_ato,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_snd_mss')) AS tcpi_snd_mss,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_mss')) AS tcpi_rcv_mss,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_unacked')) AS tcpi_unacked,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_sacked')) AS tcpi_sacked,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_lost')) AS tcpi_lost,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_retrans')) AS tcpi_retrans,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_fackets')) AS tcpi_fackets,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_last_data_sent')) AS tcpi_last_data_sent,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_last_ack_sent')) AS tcpi_last_ack_sent,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_last_data_recv')) AS tcpi_last_data_recv,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_last_ack_recv')) AS tcpi_last_ack_recv,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_pmtu')) AS tcpi_pmtu,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_ssthresh')) AS tcpi_rcv_ssthresh,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rtt')) AS tcpi_rtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rttvar')) AS tcpi_rttvar,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_snd_ssthresh')) AS tcpi_snd_ssthresh,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_snd_cwnd')) AS tcpi_snd_cwnd,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_advmss')) AS tcpi_advmss,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_reordering')) AS tcpi_reordering,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_rtt')) AS tcpi_rcv_rtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_space')) AS tcpi_rcv_space,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_total_retrans')) AS tcpi_total_retrans,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_pacing_rate')) AS tcpi_pacing_rate,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_max_pacing_rate')) AS tcpi_max_pacing_rate,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_bytes_acked')) AS tcpi_bytes_acked,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_bytes_received')) AS tcpi_bytes_received,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_segs_out')) AS tcpi_segs_out,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_segs_in')) AS tcpi_segs_in,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_notsent_bytes')) AS tcpi_notsent_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_min_rtt')) AS tcpi_min_rtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_data_segs_in')) AS tcpi_data_segs_in,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_data_segs_out')) AS tcpi_data_segs_out,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivery_rate')) AS tcpi_delivery_rate,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_busy_time')) AS tcpi_busy_time,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rwnd_limited')) AS tcpi_rwnd_limited,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_sndbuf_limited')) AS tcpi_sndbuf_limited,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivered')) AS tcpi_delivered,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivered_ce')) AS tcpi_delivered_ce,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_bytes_sent')) AS tcpi_bytes_sent,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_bytes_retrans')) AS tcpi_bytes_retrans,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_dsack_dups')) AS tcpi_dsack_dups,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_reord_seen')) AS tcpi_reord_seen,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_ooopack')) AS tcpi_rcv_ooopack,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_snd_wnd')) AS tcpi_snd_wnd,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rcv_wnd')) AS tcpi_rcv_wnd,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_rehash')) AS tcpi_rehash,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_total_rto')) AS tcpi_total_rto,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_total_rto_recoveries')) AS tcpi_total_rto_recoveries,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_total_rto_time')) AS tcpi_total_rto_time,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_received_ce')) AS tcpi_received_ce,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivered_e1_bytes')) AS tcpi_delivered_e1_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivered_e0_bytes')) AS tcpi_delivered_e0_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_delivered_ce_bytes')) AS tcpi_delivered_ce_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_received_e1_bytes')) AS tcpi_received_e1_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_received_e0_bytes')) AS tcpi_received_e0_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpi_received_ce_bytes')) AS tcpi_received_ce_bytes,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_rmem_alloc')) AS skmem_rmem_alloc,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_rcvbuf')) AS skmem_rcvbuf,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_wmem_alloc')) AS skmem_wmem_alloc,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_sndbuf')) AS skmem_sndbuf,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_fwd_alloc')) AS skmem_fwd_alloc,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_wmem_queued')) AS skmem_wmem_queued,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_optmem')) AS skmem_optmem,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_backlog')) AS skmem_backlog,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'skmem_drops')) AS skmem_drops,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'bbr_bw')) AS bbr_bw,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'bbr_min_rtt')) AS bbr_min_rtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'bbr_pacing_gain')) AS bbr_pacing_gain,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'bbr_cwnd_gain')) AS bbr_cwnd_gain,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpv_enabled')) AS tcpv_enabled,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpv_rttcnt')) AS tcpv_rttcnt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpv_rtt')) AS tcpv_rtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'tcpv_minrtt')) AS tcpv_minrtt,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'dctcp_enabled')) AS dctcp_enabled,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'dctcp_ce_state')) AS dctcp_ce_state,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'dctcp_alpha')) AS dctcp_alpha,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'dctcp_ab_ecn')) AS dctcp_ab_ecn,
  (SELECT v.value FROM socket_value v WHERE v.trial_no = s.trial_no AND v.seq = s.seq
   AND v.figure_no = (SELECT figure_no FROM socket_figure WHERE name = 'dctcp_ab_tot')) AS dctcp_ab_tot
FROM socket_snapshot s JOIN trial t USING (trial_no) JOIN text at ON at.text_no = s.at_text
  JOIN text side ON side.text_no = s.side_text JOIN text state ON state.text_no = s.state_text
  JOIN text congestion ON congestion.text_no = s.congestion_control_text
  LEFT JOIN response first ON first.trial_no = s.trial_no AND first.seq = 0;

CREATE VIEW v_socket_value AS
SELECT t.trial_id, at.content AS at, side.content AS side, s.seq, f.name,
  CASE WHEN v.value >= 0 THEN v.value ELSE printf('%llu', v.value) END AS value
FROM socket_value v JOIN socket_snapshot s USING (trial_no, seq) JOIN socket_figure f USING (figure_no)
  JOIN trial t USING (trial_no) JOIN text at ON at.text_no = s.at_text JOIN text side ON side.text_no = s.side_text;

CREATE VIEW v_qdisc AS
SELECT t.trial_id, at.content AS at, namespace.content AS namespace, link.content AS link, kind.content AS kind,
  options.content AS options_json, q.bytes, q.packets, q.drops, q.overlimits, q.backlog_bytes
FROM qdisc_snapshot q JOIN trial t USING (trial_no) JOIN text at ON at.text_no = q.at_text
  JOIN text namespace ON namespace.text_no = q.namespace_text JOIN text link ON link.text_no = q.link_text
  JOIN text kind ON kind.text_no = q.kind_text JOIN text options ON options.text_no = q.options_text;

CREATE VIEW v_qdisc_detail AS
SELECT t.trial_id, q.seq, at.content AS at, namespace.content AS namespace, link.content AS link,
  q.taken_ns - first.request_start_ns AS taken_ns, kind.content AS kind,
  printf('%x:%x', q.handle >> 16, q.handle & 65535) AS handle,
  CASE q.parent WHEN 4294967295 THEN 'root' ELSE printf('%x:%x', q.parent >> 16, q.parent & 65535) END AS parent,
  q.requeues, q.backlog_packets, NULLIF(q.stats_json, '') AS stats_json
FROM qdisc_snapshot q JOIN trial t USING (trial_no) JOIN text at ON at.text_no = q.at_text
  JOIN text namespace ON namespace.text_no = q.namespace_text JOIN text link ON link.text_no = q.link_text
  JOIN text kind ON kind.text_no = q.kind_text
  LEFT JOIN response first ON first.trial_no = q.trial_no AND first.seq = 0;

-- Where a path is to lose packets.
CREATE VIEW v_router AS
SELECT t.trial_id, direction.content AS direction, r.arrived_packets, r.departed_packets, r.queue_drops,
  (SELECT COUNT(*) FROM router_drop d WHERE d.trial_no = r.trial_no AND d.seq = r.seq) AS listed,
  r.unseen_packets, r.incomplete
FROM router_traffic r JOIN trial t USING (trial_no) JOIN text direction ON direction.text_no = r.direction_text;

CREATE VIEW v_drop AS
SELECT t.trial_id, direction.content AS direction, d.ordinal, d.arrived_ns - first.request_start_ns AS arrived_ns,
  d.sequence AS tcp_seq,
  d.sequence + d.payload_bytes + (d.flags & 1) + (d.flags >> 1 & 1) AS tcp_seq_end,
  d.payload_bytes,
  rtrim(CASE WHEN d.flags & 2 THEN 'SYN,' ELSE '' END || CASE WHEN d.flags & 1 THEN 'FIN,' ELSE '' END
    || CASE WHEN d.flags & 4 THEN 'RST,' ELSE '' END || CASE WHEN d.flags & 8 THEN 'PSH,' ELSE '' END
    || CASE WHEN d.flags & 16 THEN 'ACK,' ELSE '' END || CASE WHEN d.flags & 32 THEN 'URG,' ELSE '' END
    || CASE WHEN d.flags & 64 THEN 'ECE,' ELSE '' END || CASE WHEN d.flags & 128 THEN 'CWR,' ELSE '' END, ',') AS flags,
  d.ip_bytes, d.ip_protocol, d.repeated
FROM router_drop d JOIN router_traffic r USING (trial_no, seq) JOIN trial t USING (trial_no)
  JOIN text direction ON direction.text_no = r.direction_text
  LEFT JOIN response first ON first.trial_no = d.trial_no AND first.seq = 0;

-- netem's own counters when the last response was complete (the snapshot "after"); those of the lists also count what
-- came later. `drops` is NULL where there is no netem.
CREATE VIEW v_trial_drops AS
WITH counter AS NOT MATERIALIZED (
  SELECT q.trial_no, at.content AS at, q.drops,
    CASE WHEN link.content LIKE 'router-s%' THEN q.drops END AS to_server,
    CASE WHEN link.content LIKE 'router-c%' THEN q.drops END AS to_client
  FROM qdisc_snapshot q JOIN text at ON at.text_no = q.at_text JOIN text link ON link.text_no = q.link_text
  WHERE q.kind_text = (SELECT text_no FROM text WHERE content = 'netem'))
SELECT t.trial_id,
  (SELECT SUM(to_server) FROM counter n WHERE n.trial_no = o.trial_no AND n.at = 'after') AS to_server,
  (SELECT SUM(to_client) FROM counter n WHERE n.trial_no = o.trial_no AND n.at = 'after') AS to_client,
  (SELECT SUM(drops) FROM counter n WHERE n.trial_no = o.trial_no AND n.at = 'after') AS drops,
  (SELECT SUM(drops) FROM counter n WHERE n.trial_no = o.trial_no AND n.at = 'before') AS before_requests,
  (SELECT SUM(queue_drops) FROM router_traffic r WHERE r.trial_no = o.trial_no) AS until_end,
  CASE WHEN EXISTS (SELECT 1 FROM router_traffic r WHERE r.trial_no = o.trial_no)
       THEN (SELECT COUNT(*) FROM router_drop d WHERE d.trial_no = o.trial_no) END AS listed,
  (SELECT MIN(r.incomplete = '') FROM router_traffic r WHERE r.trial_no = o.trial_no) AS list_complete
FROM outcome o JOIN trial t USING (trial_no);

CREATE VIEW v_environment AS
SELECT t.trial_id, release.content AS kernel_release, version.content AS kernel_version, clock.content AS clock,
  e.load_1m, e.filters, e.namespaces_gone,
  (SELECT json_group_array(content) FROM
     (SELECT x.content FROM environment_line l JOIN text x ON x.text_no = l.content_text
      WHERE l.trial_no = e.trial_no AND l.kind = 'unsupported' ORDER BY l.seq)) AS unsupported_json
FROM environment e JOIN trial t USING (trial_no) JOIN text release ON release.text_no = e.kernel_release_text
  JOIN text version ON version.text_no = e.kernel_version_text JOIN text clock ON clock.text_no = e.clock_text;

CREATE VIEW v_setting AS
SELECT t.trial_id, s.seq, name.content AS name, value.content AS value
FROM environment_setting s JOIN trial t USING (trial_no) JOIN text name ON name.text_no = s.name_text
  JOIN text value ON value.text_no = s.value_text;

CREATE VIEW v_link AS
SELECT t.trial_id, l.seq, namespace.content AS namespace, name.content AS link, l.mac, l.mtu, l.tso, l.gso, l.gro,
  (SELECT json_group_array(content) FROM
     (SELECT x.content FROM environment_address a JOIN text x ON x.text_no = a.address_text
      WHERE a.trial_no = l.trial_no AND a.link_seq = l.seq ORDER BY a.seq)) AS addresses_json
FROM environment_link l JOIN trial t USING (trial_no) JOIN text namespace ON namespace.text_no = l.namespace_text
  JOIN text name ON name.text_no = l.name_text;

CREATE VIEW v_route AS
SELECT t.trial_id, l.kind, l.seq, x.content
FROM environment_line l JOIN trial t USING (trial_no) JOIN text x ON x.text_no = l.content_text
WHERE l.kind IN ('route', 'neighbour');

-- A cell's every metric has a row for each host it ran on, also where no trial passed (n = 0). The rows that carry
-- `lost` have no value, sort last and so disturb no rank. Both partitions begin with campaign_id, which lets SQLite
-- apply WHERE campaign_id = … before anything is sorted.
CREATE VIEW v_cell AS
WITH
  -- Trials that ended before their kernel was known count as lost beside every kernel of their cell.
  lost AS (
    SELECT own.cell_no, own.host_no,
      own.failed + own.invalid + COALESCE((
        SELECT SUM(other.failed + other.invalid) FROM tally other JOIN host USING (host_no)
        WHERE other.cell_no = own.cell_no AND other.host_no <> own.host_no AND host.kernel_release = ''), 0) AS lost
    FROM tally own JOIN host h USING (host_no)
    WHERE h.kernel_release <> ''
      OR NOT EXISTS (SELECT 1 FROM tally other JOIN host USING (host_no)
                     WHERE other.cell_no = own.cell_no AND host.kernel_release <> '')),
  value AS (
    SELECT c.campaign_id, s.cell_no, s.metric_no, s.host_no, s.value_ns, NULL AS lost
    FROM campaign c JOIN cell USING (campaign_no) JOIN sample s USING (cell_no)
    UNION ALL
    SELECT c.campaign_id, l.cell_no, m.metric_no, l.host_no, NULL, l.lost
    FROM campaign c JOIN cell USING (campaign_no) JOIN lost l USING (cell_no) JOIN cell_metric m USING (cell_no)),
  ranked AS (
    SELECT *,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no ORDER BY value_ns NULLS LAST) AS rank,
      COUNT(value_ns) OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no) AS n
    FROM value),
  figure AS (
    SELECT *,
      AVG(CASE WHEN rank IN ((n + 1) / 2, (n + 2) / 2) THEN value_ns END) OVER cell AS median_ns,
      -- Nearest rank, and only where five samples lie beyond.
      MAX(CASE WHEN n >= 50 AND rank = (n * 90 + 99) / 100 THEN value_ns END) OVER cell AS p90_ns,
      MAX(CASE WHEN n >= 100 AND rank = (n * 95 + 99) / 100 THEN value_ns END) OVER cell AS p95_ns,
      MAX(CASE WHEN n >= 500 AND rank = (n * 99 + 99) / 100 THEN value_ns END) OVER cell AS p99_ns,
      MIN(value_ns) OVER cell AS min_ns,
      MAX(value_ns) OVER cell AS max_ns
    FROM ranked
    WHERE rank IN (1, (n + 1) / 2, (n + 2) / 2, (n * 90 + 99) / 100, (n * 95 + 99) / 100, (n * 99 + 99) / 100, n, n + 1)
    WINDOW cell AS (PARTITION BY campaign_id, cell_no, metric_no, host_no))
SELECT f.campaign_id, cell.path, cell.workload, cell.case_name, metric.name AS metric, f.n, f.lost AS failed,
  f.median_ns, f.p90_ns, f.p95_ns, f.p99_ns, f.min_ns, f.max_ns,
  NULLIF(host.kernel_release, '') AS kernel, host.clock, host.execution
FROM figure f JOIN cell USING (cell_no) JOIN metric USING (metric_no) JOIN host USING (host_no)
WHERE f.lost IS NOT NULL;

-- v_cell's medians over the trials of lossy paths in which netem dropped nothing until the last response was complete.
-- A selection by what happened: it shows what the rest lost time to, and compares nothing that was controlled.
CREATE VIEW v_cell_no_drop AS
WITH
  quiet AS MATERIALIZED (
    SELECT trial_no FROM qdisc_snapshot
    WHERE at_text = (SELECT text_no FROM text WHERE content = 'after')
      AND kind_text = (SELECT text_no FROM text WHERE content = 'netem')
    GROUP BY trial_no HAVING SUM(drops) = 0),
  value AS (
    SELECT c.campaign_id, s.cell_no, s.metric_no, s.host_no,
      CASE WHEN s.trial_no IN (SELECT trial_no FROM quiet) THEN s.value_ns END AS value_ns
    FROM campaign c JOIN cell USING (campaign_no) JOIN sample s USING (cell_no)
    WHERE EXISTS (SELECT 1 FROM json_each(c.campaign_json, '$.paths') p
                  WHERE json_extract(p.value, '$.name') = cell.path AND json_extract(p.value, '$.loss') > 0)),
  ranked AS (
    SELECT *,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no ORDER BY value_ns NULLS LAST) AS rank,
      COUNT(value_ns) OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no) AS n
    FROM value)
SELECT r.campaign_id, cell.path, cell.workload, cell.case_name, metric.name AS metric, MAX(r.n) AS n,
  COUNT(*) AS passed,
  AVG(CASE WHEN r.rank IN ((r.n + 1) / 2, (r.n + 2) / 2) THEN r.value_ns END) AS median_ns,
  MIN(r.value_ns) AS min_ns, MAX(r.value_ns) AS max_ns,
  NULLIF(host.kernel_release, '') AS kernel, host.clock, host.execution
FROM ranked r JOIN cell USING (cell_no) JOIN metric USING (metric_no) JOIN host USING (host_no)
GROUP BY r.campaign_id, r.cell_no, r.metric_no, r.host_no;

-- v_response_detail over a cell's passed trials.
CREATE VIEW v_cell_diagnostic AS
WITH
  value AS (
    SELECT c.campaign_id, t.cell_no, o.host_no, d.seq, d.role, d.ssl_write_retries, d.unsent_at_dispatch_bytes,
      d.queued_at_dispatch_bytes, d.drops_to_server, d.drops_to_client, d.drops
    FROM campaign c JOIN cell USING (campaign_no) JOIN trial t USING (cell_no) JOIN outcome o USING (trial_no)
      JOIN v_response_detail d USING (trial_id)
    WHERE o.verdict = 'passed'),
  ranked AS (
    SELECT *,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, host_no, seq ORDER BY ssl_write_retries) AS retries_rank,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, host_no, seq ORDER BY unsent_at_dispatch_bytes NULLS LAST)
        AS unsent_rank,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, host_no, seq ORDER BY queued_at_dispatch_bytes NULLS LAST)
        AS queued_rank,
      COUNT(*) OVER (PARTITION BY campaign_id, cell_no, host_no, seq) AS n,
      COUNT(unsent_at_dispatch_bytes) OVER (PARTITION BY campaign_id, cell_no, host_no, seq) AS unsent_n,
      COUNT(queued_at_dispatch_bytes) OVER (PARTITION BY campaign_id, cell_no, host_no, seq) AS queued_n
    FROM value)
SELECT r.campaign_id, cell.path, cell.workload, cell.case_name, r.seq, MAX(r.role) AS role, MAX(r.n) AS n,
  SUM(r.drops_to_server) AS drops_to_server, SUM(r.drops_to_client) AS drops_to_client,
  COALESCE(SUM(r.drops = 0), 0) AS without_drops,
  AVG(CASE WHEN r.retries_rank IN ((r.n + 1) / 2, (r.n + 2) / 2) THEN r.ssl_write_retries END) AS median_ssl_write_retries,
  AVG(CASE WHEN r.unsent_rank IN ((r.unsent_n + 1) / 2, (r.unsent_n + 2) / 2) THEN r.unsent_at_dispatch_bytes END)
    AS median_unsent_bytes,
  AVG(CASE WHEN r.queued_rank IN ((r.queued_n + 1) / 2, (r.queued_n + 2) / 2) THEN r.queued_at_dispatch_bytes END)
    AS median_queued_bytes,
  NULLIF(host.kernel_release, '') AS kernel, host.clock, host.execution
FROM ranked r JOIN cell USING (cell_no) JOIN host USING (host_no)
GROUP BY r.campaign_id, r.cell_no, r.host_no, r.seq;

-- v_cell by phase, made like it. What ended before its kernel was known has rows of its own, with kernel NULL.
CREATE VIEW v_cell_phase AS
WITH
  lost AS (
    SELECT c.campaign_id, t.cell_no, o.host_no, p.seq, p.name, COUNT(*) FILTER (WHERE o.verdict <> 'passed') AS lost
    FROM campaign c JOIN cell USING (campaign_no) JOIN phase p USING (campaign_no)
      JOIN trial t ON t.cell_no = cell.cell_no AND t.block >= p.first_block AND t.block < p.first_block + p.blocks
      JOIN outcome o USING (trial_no)
    GROUP BY c.campaign_id, t.cell_no, o.host_no, p.seq),
  value AS (
    SELECT c.campaign_id, s.cell_no, s.metric_no, s.host_no, p.seq, p.name, s.value_ns, NULL AS lost
    FROM campaign c JOIN cell USING (campaign_no) JOIN sample s USING (cell_no) JOIN trial t USING (trial_no)
      JOIN phase p ON p.campaign_no = c.campaign_no AND t.block >= p.first_block AND t.block < p.first_block + p.blocks
    UNION ALL
    SELECT l.campaign_id, l.cell_no, m.metric_no, l.host_no, l.seq, l.name, NULL, l.lost
    FROM lost l JOIN cell_metric m USING (cell_no)),
  ranked AS (
    SELECT *,
      ROW_NUMBER() OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no, seq ORDER BY value_ns NULLS LAST) AS rank,
      COUNT(value_ns) OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no, seq) AS n
    FROM value),
  figure AS (
    SELECT *,
      AVG(CASE WHEN rank IN ((n + 1) / 2, (n + 2) / 2) THEN value_ns END)
        OVER (PARTITION BY campaign_id, cell_no, metric_no, host_no, seq) AS median_ns
    FROM ranked)
SELECT f.campaign_id, f.name AS phase, cell.path, cell.workload, cell.case_name, metric.name AS metric, f.n,
  f.lost AS failed, f.median_ns, NULLIF(host.kernel_release, '') AS kernel, host.clock, host.execution
FROM figure f JOIN cell USING (cell_no) JOIN metric USING (metric_no) JOIN host USING (host_no)
WHERE f.lost IS NOT NULL;

CREATE VIEW v_pair AS
SELECT c.campaign_id, p.path, p.workload, p.case_a, p.case_b, p.metric, p.n, p.median_diff_ns, p.hl_ns, p.ci_low_ns,
  p.ci_high_ns, p.negative, p.positive, p.p_value, p.kernel, p.clock, p.execution, p.margin_ns, p.p_above_low,
  p.p_below_high, p.equivalent
FROM pair_figure p JOIN campaign c USING (campaign_no);

CREATE VIEW v_interaction AS
SELECT c.campaign_id, i.path, i.workload, i.factorial, i.neither, i.first, i.second, i.both, i.metric, i.n, i.median_ns,
  i.hl_ns, i.ci_low_ns, i.ci_high_ns, i.negative, i.positive, i.p_value, i.kernel, i.clock, i.execution
FROM interaction_figure i JOIN campaign c USING (campaign_no);

-- Of campaigns that were verified at their end. `rows`, `checks` and `figures` count what was read and derived again.
CREATE VIEW v_verification AS
SELECT c.campaign_id, v.verified_unix_ns, v.trials AS verified_trials, v.unsealed, v.rows, v.checks, v.figures, v.findings,
  v.first_finding, v.notes_json
FROM verification v JOIN campaign c USING (campaign_no);
