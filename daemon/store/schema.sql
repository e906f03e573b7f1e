-- SPDX-License-Identifier: Apache-2.0
-- Tables of schema version 1. Read the views (views.sql, docs/schema.md) rather than these: tables keep what was sent
-- by the worker, compactly; views give it names and a common zero.
--
-- Rules. Instants (*_ns) are CLOCK_MONOTONIC of the machine or guest the trial ran on, absolute; NULL: did not happen.
-- Instants that end in _unix_ns are CLOCK_REALTIME of the daemon's machine. Durations say so. Sizes are bytes.
-- 64-bit unsigned values are stored as the same 64 bits. Columns that end in _text point into `text`.
-- `seq` counts from 0 in the order in which the worker reported.

CREATE TABLE text (  -- words and texts that many rows share
  text_no INTEGER PRIMARY KEY,
  content TEXT NOT NULL UNIQUE
) STRICT;

-- ---- what was asked ----

CREATE TABLE campaign (
  campaign_no INTEGER PRIMARY KEY,  -- in order of submission
  campaign_id TEXT NOT NULL UNIQUE,
  file TEXT NOT NULL,           -- the campaign file's name as the person gave it
  yaml TEXT NOT NULL,           -- its text, byte for byte
  yaml_sha256 TEXT NOT NULL,    -- hex; of the text and, where there are any, of the overrides
  campaign_json TEXT NOT NULL CHECK (json_valid(campaign_json)),  -- hopyard.v1.Campaign: checked, overrides applied
  jobs INTEGER NOT NULL,        -- workers at once
  state TEXT NOT NULL CHECK (state IN ('queued', 'preparing', 'running', 'done', 'cancelled', 'interrupted', 'aborted')),
  reason TEXT NOT NULL,         -- why it is in that state; empty if there is nothing to say
  execution TEXT NOT NULL,      -- 'host', 'guest'; empty until known
  kernel TEXT NOT NULL,         -- the kernel's name as people say it; empty until known
  submitted_unix_ns INTEGER NOT NULL,
  finished_unix_ns INTEGER      -- when it came into an ended state; NULL before
) STRICT;

CREATE TABLE campaign_override (  -- changes the person made beside the file: "repetitions=3"
  campaign_no INTEGER NOT NULL REFERENCES campaign,
  seq INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (campaign_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell (
  cell_no INTEGER PRIMARY KEY,
  campaign_no INTEGER NOT NULL REFERENCES campaign,
  path TEXT NOT NULL,
  workload TEXT NOT NULL,
  case_name TEXT NOT NULL,
  kernel_name TEXT NOT NULL,  -- as planned: "auto", "host", "debian-uml", …
  UNIQUE (campaign_no, path, workload, case_name, kernel_name)
) STRICT;

CREATE TABLE trial (  -- planned; its outcome is a row of `outcome`
  trial_no INTEGER PRIMARY KEY,
  trial_id TEXT NOT NULL UNIQUE,
  cell_no INTEGER NOT NULL REFERENCES cell,
  run_index INTEGER NOT NULL,  -- order of execution in the campaign, from 0
  block INTEGER NOT NULL,
  position INTEGER NOT NULL,   -- order inside the block
  seed INTEGER NOT NULL,       -- unsigned
  UNIQUE (cell_no, block)
) STRICT;

-- ---- what came out ----

CREATE TABLE host (  -- where trials ran; figures never mix two of these
  host_no INTEGER PRIMARY KEY,
  execution TEXT NOT NULL,       -- 'host', 'guest'
  kernel_release TEXT NOT NULL,  -- uname -r; empty: the trial ended before it was known
  clock TEXT NOT NULL,           -- 'real', 'virtual'
  UNIQUE (execution, kernel_release, clock)
) STRICT;

CREATE TABLE server_build (
  build_no INTEGER PRIMARY KEY,
  variant TEXT NOT NULL,
  sha256 TEXT NOT NULL,         -- the variant's content hash, hex
  nginx_path TEXT NOT NULL,
  binary_sha256 TEXT NOT NULL,  -- of the nginx binary, hex
  inputs TEXT NOT NULL,         -- sources, patches, compiler and flags with their hashes, one a line
  -- What the variant promises of its records (plaintext bytes).
  fragment_bytes INTEGER NOT NULL,        -- largest record once the early budget is spent
  early_fragment_bytes INTEGER NOT NULL,  -- 0: no early regime
  early_budget_bytes INTEGER NOT NULL,    -- application bytes under the early limit
  transitions INTEGER NOT NULL,           -- "fragment restored" events expected when the budget is exceeded
  settings INTEGER NOT NULL,              -- "fragment set" events expected on a connection
  UNIQUE (variant, sha256, nginx_path, binary_sha256, inputs, fragment_bytes, early_fragment_bytes, early_budget_bytes,
          transitions, settings)
) STRICT;

CREATE TABLE outcome (
  trial_no INTEGER PRIMARY KEY REFERENCES trial,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'invalid')),
  reason TEXT NOT NULL,   -- empty if passed
  host_no INTEGER NOT NULL REFERENCES host,
  build_no INTEGER NOT NULL REFERENCES server_build,
  tool_version_text INTEGER NOT NULL REFERENCES text,
  started_ns INTEGER,     -- before the path is made
  finished_ns INTEGER,    -- everything of the trial is gone
  recorded_unix_ns INTEGER NOT NULL  -- just before the row is written
) STRICT;

CREATE TRIGGER outcome_is_not_changed BEFORE UPDATE ON outcome BEGIN
  SELECT RAISE(ABORT, 'an outcome is never overwritten');
END;
CREATE TRIGGER outcome_is_not_removed BEFORE DELETE ON outcome BEGIN
  SELECT RAISE(ABORT, 'an outcome is never removed');
END;

CREATE TABLE tally (  -- outcomes of a cell on a host, counted by the trigger below
  cell_no INTEGER NOT NULL REFERENCES cell,
  host_no INTEGER NOT NULL REFERENCES host,
  passed INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  PRIMARY KEY (cell_no, host_no)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER outcome_is_counted AFTER INSERT ON outcome BEGIN
  INSERT INTO tally (cell_no, host_no, passed, failed, invalid)
  SELECT cell_no, new.host_no, new.verdict = 'passed', new.verdict = 'failed', new.verdict = 'invalid'
  FROM trial WHERE trial_no = new.trial_no
  ON CONFLICT (cell_no, host_no) DO UPDATE SET
    passed = passed + excluded.passed, failed = failed + excluded.failed, invalid = invalid + excluded.invalid;
END;

CREATE TABLE evidence_check (
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  name_text INTEGER NOT NULL REFERENCES text,
  expected_text INTEGER NOT NULL REFERENCES text,
  seen TEXT NOT NULL,
  outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 3),  -- 1 holds, 2 broken, 3 unsupported; 0 not said
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

-- ---- client ----

CREATE TABLE client (
  trial_no INTEGER PRIMARY KEY REFERENCES outcome,
  connect_start_ns INTEGER,   -- just before connect(2)
  connected_ns INTEGER,       -- connect reported success (TCP: the SYN-ACK was processed)
  handshake_done_ns INTEGER,  -- the TLS handshake returned success, the client's Finished handed to the kernel
  settled_ns INTEGER,         -- HTTP/2: both sides' SETTINGS acknowledged; HTTP/1.1: as handshake_done_ns
  tls_version_text INTEGER NOT NULL REFERENCES text,
  cipher_text INTEGER NOT NULL REFERENCES text,
  alpn_text INTEGER NOT NULL REFERENCES text,
  decrypted_bytes INTEGER NOT NULL,  -- application bytes decrypted on the connection, HTTP/2 control frames included
  error TEXT NOT NULL                -- why the client stopped early; empty if it did not
) STRICT;

CREATE TABLE tls_record (  -- every record the client received
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  content INTEGER NOT NULL CHECK (content BETWEEN 0 AND 4),  -- 1 handshake, 2 data, 3 post_handshake, 4 alert; 0 not said
  outer_type INTEGER NOT NULL,       -- the type byte on the wire
  wire_bytes INTEGER NOT NULL,       -- with the 5-byte header
  plaintext_bytes INTEGER NOT NULL,  -- what decryption yielded; 0 for handshake and post-handshake records
  received_ns INTEGER,   -- the record's last byte was read from the socket
  decrypted_ns INTEGER,  -- SSL_read (or the handshake step) returned for it
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE h2_frame (  -- every HTTP/2 frame the client received or sent
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  sent INTEGER NOT NULL CHECK (sent IN (0, 1)),  -- by the client
  stream INTEGER NOT NULL,
  type_text INTEGER NOT NULL REFERENCES text,    -- "DATA", "HEADERS", …
  flags INTEGER NOT NULL,
  length INTEGER NOT NULL,  -- payload bytes
  first_byte_ns INTEGER,    -- received: first payload byte decrypted (no payload: header complete); sent: queued
  complete_ns INTEGER,      -- received: last payload byte decrypted; sent: handed to TLS
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE response (  -- one for each request, in request order
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  stream INTEGER NOT NULL,  -- HTTP/2 stream; HTTP/1.1: 1, 2, …
  role_text INTEGER NOT NULL REFERENCES text,      -- the request's name in the workload
  protocol_text INTEGER NOT NULL REFERENCES text,  -- "h1", "h2"
  request_start_ns INTEGER,    -- immediately before the request is given to TLS: zero of this response's times
  request_written_ns INTEGER,  -- the kernel accepted the request's last byte
  status INTEGER NOT NULL,
  header_bytes INTEGER NOT NULL,  -- H1: up to and including the empty line; H2: HEADERS payload
  body_bytes INTEGER NOT NULL,
  content_length INTEGER NOT NULL,
  body_sha256 BLOB NOT NULL,
  first_decrypted_ns INTEGER,   -- first decrypted byte of the response (H2: first payload byte of any frame of its stream)
  first_body_ns INTEGER,        -- first body byte delivered: H1 as decrypted; H2 when a whole DATA frame was there
  body_1024_ns INTEGER,         -- 1024 body bytes delivered, likewise
  body_4096_ns INTEGER,         -- 4096 body bytes delivered, likewise
  body_8192_ns INTEGER,         -- 8192 body bytes delivered, likewise
  first_data_frame_ns INTEGER,  -- HTTP/2: first complete DATA frame
  complete_ns INTEGER,          -- last body byte; HTTP/2: and END_STREAM
  dispatch_after_bytes INTEGER NOT NULL,  -- body bytes of the awaited response decrypted when this request was sent
  body_equals_fixture INTEGER NOT NULL CHECK (body_equals_fixture IN (0, 1)),  -- byte for byte, as it arrived
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

-- ---- server ----

CREATE TABLE server (
  trial_no INTEGER PRIMARY KEY REFERENCES outcome,
  exit_code INTEGER NOT NULL,      -- -1 if ended by a signal
  signal INTEGER NOT NULL,         -- 0 if it exited
  user_cpu_ns INTEGER NOT NULL,    -- duration
  system_cpu_ns INTEGER NOT NULL,  -- duration
  max_rss_bytes INTEGER NOT NULL,
  config_text INTEGER NOT NULL REFERENCES text,         -- the rendered nginx configuration
  nginx_version_text INTEGER NOT NULL REFERENCES text,  -- as the server's log names itself
  errors TEXT NOT NULL             -- log lines of level warn and above; bounded
) STRICT;

CREATE TABLE ssl_write (  -- every SSL_write call, in the order of the server's log
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  requested INTEGER NOT NULL,  -- bytes
  returned INTEGER NOT NULL,   -- > 0: bytes written; else what SSL_write returned (a retry follows)
  response INTEGER NOT NULL,   -- requests parsed so far; 0: none
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE fragment (  -- changes of the largest record size inside the server
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  before_write INTEGER NOT NULL,    -- seq of the ssl_write that follows
  fragment_bytes INTEGER NOT NULL,  -- the new size
  restored INTEGER NOT NULL CHECK (restored IN (0, 1)),  -- 1: the early budget was spent
  returned INTEGER NOT NULL,        -- what SSL_set_max_send_fragment returned, where the log has it
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

-- ---- kernel ----

CREATE TABLE socket_snapshot (
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  at_text INTEGER NOT NULL REFERENCES text,    -- "before", "request:<name>", "after"
  side_text INTEGER NOT NULL REFERENCES text,  -- "client", "server"
  taken_ns INTEGER,                            -- just before the kernel was asked
  local TEXT NOT NULL,
  remote TEXT NOT NULL,
  state_text INTEGER NOT NULL REFERENCES text,
  congestion_control_text INTEGER NOT NULL REFERENCES text,
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE socket_figure (  -- names of what a kernel tells of a socket
  figure_no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE socket_value (  -- only what the kernel told
  trial_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,  -- of the snapshot
  figure_no INTEGER NOT NULL REFERENCES socket_figure,
  value INTEGER NOT NULL,  -- unsigned
  PRIMARY KEY (trial_no, seq, figure_no),
  FOREIGN KEY (trial_no, seq) REFERENCES socket_snapshot
) STRICT, WITHOUT ROWID;

CREATE TABLE qdisc_snapshot (
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  at_text INTEGER NOT NULL REFERENCES text,         -- as in socket_snapshot
  namespace_text INTEGER NOT NULL REFERENCES text,  -- "client", "router", "server"
  link_text INTEGER NOT NULL REFERENCES text,
  taken_ns INTEGER,                                 -- just before the kernel was asked
  kind_text INTEGER NOT NULL REFERENCES text,       -- "fq", "netem"
  handle INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  options_text INTEGER NOT NULL REFERENCES text,    -- options as read back, one JSON object
  bytes INTEGER NOT NULL,
  packets INTEGER NOT NULL,
  drops INTEGER NOT NULL,
  overlimits INTEGER NOT NULL,
  requeues INTEGER NOT NULL,
  backlog_bytes INTEGER NOT NULL,
  backlog_packets INTEGER NOT NULL,
  stats_json TEXT NOT NULL,                         -- counters of the kind
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  trial_no INTEGER PRIMARY KEY REFERENCES outcome,
  kernel_release_text INTEGER NOT NULL REFERENCES text,
  kernel_version_text INTEGER NOT NULL REFERENCES text,
  clock_text INTEGER NOT NULL REFERENCES text,
  filters INTEGER NOT NULL,         -- traffic-control filters found on the path's links
  load_1m REAL NOT NULL,            -- load average when the trial began
  namespaces_gone INTEGER NOT NULL CHECK (namespaces_gone IN (0, 1))  -- the path's processes and namespaces ended
) STRICT;

CREATE TABLE environment_setting (  -- sysctls of both endpoints, as read back
  trial_no INTEGER NOT NULL REFERENCES environment,
  seq INTEGER NOT NULL,
  name_text INTEGER NOT NULL REFERENCES text,  -- "server/net.ipv4.tcp_ecn"
  value_text INTEGER NOT NULL REFERENCES text,
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment_link (
  trial_no INTEGER NOT NULL REFERENCES environment,
  seq INTEGER NOT NULL,
  namespace_text INTEGER NOT NULL REFERENCES text,
  name_text INTEGER NOT NULL REFERENCES text,
  mac TEXT NOT NULL,
  mtu INTEGER NOT NULL,
  tso INTEGER NOT NULL CHECK (tso IN (0, 1)),  -- offloads as read back
  gso INTEGER NOT NULL CHECK (gso IN (0, 1)),
  gro INTEGER NOT NULL CHECK (gro IN (0, 1)),
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment_address (
  trial_no INTEGER NOT NULL,
  link_seq INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  address_text INTEGER NOT NULL REFERENCES text,
  PRIMARY KEY (trial_no, link_seq, seq),
  FOREIGN KEY (trial_no, link_seq) REFERENCES environment_link
) STRICT, WITHOUT ROWID;

CREATE TABLE environment_line (
  trial_no INTEGER NOT NULL REFERENCES environment,
  kind TEXT NOT NULL CHECK (kind IN ('route', 'neighbour', 'unsupported')),
  seq INTEGER NOT NULL,  -- within the kind
  content_text INTEGER NOT NULL REFERENCES text,
  PRIMARY KEY (trial_no, kind, seq)
) STRICT, WITHOUT ROWID;

-- ---- figures ----

CREATE TABLE metric (
  metric_no INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE  -- "complete_ns", "later.complete_ns", "later.complete_from_first_ns"
) STRICT;

CREATE TABLE cell_metric (  -- what a cell's workload can show, whether or not a trial did
  cell_no INTEGER NOT NULL REFERENCES cell,
  metric_no INTEGER NOT NULL REFERENCES metric,
  PRIMARY KEY (cell_no, metric_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE sample (  -- passed trials' values, kept apart so that a summary need not read the evidence
  cell_no INTEGER NOT NULL,
  metric_no INTEGER NOT NULL,
  host_no INTEGER NOT NULL REFERENCES host,
  trial_no INTEGER NOT NULL REFERENCES outcome,
  value_ns INTEGER NOT NULL,  -- duration
  PRIMARY KEY (cell_no, metric_no, host_no, trial_no),
  FOREIGN KEY (cell_no, metric_no) REFERENCES cell_metric
) STRICT, WITHOUT ROWID;

CREATE TABLE pair_figure (  -- computed from samples, replaced when computed again
  campaign_no INTEGER NOT NULL REFERENCES campaign,
  case_a TEXT NOT NULL,
  case_b TEXT NOT NULL,
  path TEXT NOT NULL,
  workload TEXT NOT NULL,
  metric TEXT NOT NULL,
  kernel TEXT NOT NULL,
  clock TEXT NOT NULL,
  execution TEXT NOT NULL,
  n INTEGER NOT NULL,
  median_diff_ns REAL NOT NULL,  -- case_b - case_a
  hl_ns REAL NOT NULL,           -- Hodges-Lehmann estimate
  ci_low_ns REAL,                -- 95 % bootstrap interval of it over blocks; NULL: too few pairs
  ci_high_ns REAL,
  negative INTEGER NOT NULL,     -- pairs in which case_b was earlier
  positive INTEGER NOT NULL,
  p_value REAL NOT NULL,         -- signed-rank, two-sided
  PRIMARY KEY (campaign_no, case_a, case_b, path, workload, metric, kernel, clock, execution)
) STRICT, WITHOUT ROWID;
