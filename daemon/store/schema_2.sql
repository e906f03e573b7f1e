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
