-- SPDX-License-Identifier: Apache-2.0
-- From schema version 1 to 2. Rules as in schema.sql.

-- ---- what the router dropped ----

CREATE TABLE router_traffic (  -- one for each direction of a path that is to lose packets
  trial_no INTEGER NOT NULL REFERENCES outcome,
  seq INTEGER NOT NULL,
  direction_text INTEGER NOT NULL REFERENCES text,  -- "to_server", "to_client"
  arrived_packets INTEGER NOT NULL,   -- seen coming to the router
  departed_packets INTEGER NOT NULL,  -- seen leaving it
  queue_drops INTEGER NOT NULL,       -- as netem counted them over the same time
  unseen_packets INTEGER NOT NULL,    -- that a tap had no room for
  incomplete TEXT NOT NULL,           -- why the list may lack packets or name the wrong ones; empty: it is exact
  PRIMARY KEY (trial_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE router_drop (  -- every packet that came to the router and did not leave it
  trial_no INTEGER NOT NULL,
  seq INTEGER NOT NULL,         -- of the router_traffic
  ordinal INTEGER NOT NULL,     -- among the direction's packets, from 1
  arrived_ns INTEGER,
  ip_protocol INTEGER NOT NULL,   -- 6: TCP; for others what follows of TCP is 0
  ip_bytes INTEGER NOT NULL,      -- the whole packet
  flags INTEGER NOT NULL,         -- TCP's, as on the wire
  sequence INTEGER NOT NULL,      -- of its first byte, from the direction's SYN, which has 0
  payload_bytes INTEGER NOT NULL,
  repeated INTEGER NOT NULL CHECK (repeated IN (0, 1)),  -- all of it had come to the router before
  PRIMARY KEY (trial_no, seq, ordinal),
  FOREIGN KEY (trial_no, seq) REFERENCES router_traffic
) STRICT, WITHOUT ROWID;

-- ---- phases ----

CREATE TABLE phase (  -- a part of a campaign's schedule: blocks that were planned together
  campaign_no INTEGER NOT NULL REFERENCES campaign,
  seq INTEGER NOT NULL,          -- 0: 'initial', what was submitted; then its extensions
  name TEXT NOT NULL,
  first_block INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  file TEXT NOT NULL,            -- of an extension made later: its file's name; empty: options alone, or in the campaign file
  yaml TEXT NOT NULL,            -- its text, byte for byte
  options TEXT NOT NULL,         -- options beside it, one a line: "--cases D,F"
  yaml_sha256 TEXT NOT NULL,     -- hex; of the text and, where there are any, of the options; empty: in the campaign file
  added_unix_ns INTEGER NOT NULL,
  PRIMARY KEY (campaign_no, seq),
  UNIQUE (campaign_no, name)
) STRICT, WITHOUT ROWID;

INSERT INTO phase (campaign_no, seq, name, first_block, blocks, file, yaml, options, yaml_sha256, added_unix_ns)
SELECT campaign_no, 0, 'initial', 0, COALESCE(MAX(block) + 1, 0), '', '', '', '', submitted_unix_ns
FROM campaign LEFT JOIN cell USING (campaign_no) LEFT JOIN trial USING (cell_no)
GROUP BY campaign_no;

-- ---- what a server build promises ----

-- 1: the case's ssl_dyn_rec_* settings decide its record sizes, within fragment_bytes.
ALTER TABLE server_build ADD COLUMN dynamic INTEGER NOT NULL DEFAULT 0 CHECK (dynamic IN (0, 1));

-- ---- declared comparisons ----

ALTER TABLE pair_figure ADD COLUMN margin_ns INTEGER;  -- declared by the campaign; NULL: none, and so the three below
ALTER TABLE pair_figure ADD COLUMN p_above_low REAL;   -- signed-rank, one-sided: case_b - case_a lies above -margin_ns
ALTER TABLE pair_figure ADD COLUMN p_below_high REAL;  -- the same: it lies below margin_ns
ALTER TABLE pair_figure ADD COLUMN equivalent INTEGER CHECK (equivalent IN (0, 1));  -- 1: both p are below 0.05

CREATE TABLE interaction_figure (  -- computed from samples, replaced when computed again
  campaign_no INTEGER NOT NULL REFERENCES campaign,
  factorial TEXT NOT NULL,  -- its name in the campaign; then its four cases
  neither TEXT NOT NULL,
  first TEXT NOT NULL,
  second TEXT NOT NULL,
  both TEXT NOT NULL,
  path TEXT NOT NULL,
  workload TEXT NOT NULL,
  metric TEXT NOT NULL,
  kernel TEXT NOT NULL,
  clock TEXT NOT NULL,
  execution TEXT NOT NULL,
  n INTEGER NOT NULL,       -- blocks in which all four cases have a sample
  median_ns REAL NOT NULL,  -- of (both - second) - (first - neither), one a block
  hl_ns REAL NOT NULL,      -- Hodges-Lehmann estimate
  ci_low_ns REAL,           -- 95 % bootstrap interval of it over blocks; NULL: too few blocks
  ci_high_ns REAL,
  negative INTEGER NOT NULL,  -- blocks in which it is below zero
  positive INTEGER NOT NULL,  -- blocks in which it is above zero
  p_value REAL NOT NULL,      -- signed-rank, two-sided
  PRIMARY KEY (campaign_no, factorial, path, workload, metric, kernel, clock, execution)
) STRICT, WITHOUT ROWID;

-- ---- seals ----
-- A column that a later version adds to a sealed table must be NULL in rows that are already there: seals leave out what
-- is NULL, and so keep holding.

-- Digests of a trial's rows, table by table, taken in the transaction that recorded them.
CREATE TABLE trial_seal (
  trial_no INTEGER NOT NULL REFERENCES outcome,
  table_name TEXT NOT NULL,
  sha256 BLOB NOT NULL,     -- over the table's name, a newline and the digests of its rows
  row_marks BLOB NOT NULL,  -- the first four bytes of each row's digest, in order of the primary key
  PRIMARY KEY (trial_no, table_name)
) STRICT, WITHOUT ROWID;

-- What came out when the campaign was verified at its end.
CREATE TABLE verification (
  campaign_no INTEGER PRIMARY KEY REFERENCES campaign,
  verified_unix_ns INTEGER NOT NULL,
  trials INTEGER NOT NULL,    -- with an outcome
  unsealed INTEGER NOT NULL,  -- of them, recorded before there were seals
  rows INTEGER NOT NULL,      -- of evidence
  checks INTEGER NOT NULL,    -- stored checks, derived again
  figures INTEGER NOT NULL,   -- numbers of v_cell and v_pair, computed again
  findings INTEGER NOT NULL,  -- 0: everything holds
  first_finding TEXT NOT NULL,
  notes_json TEXT NOT NULL CHECK (json_valid(notes_json))  -- what could not be derived, a list of sentences
) STRICT;
