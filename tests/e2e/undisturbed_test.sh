#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On the virtual clock a campaign whose daemon was killed again and again leaves the same measurements as one that nobody
# disturbed: every stored time, record and frame.
. "$(dirname "$0")/lib.sh"

cat >"$place/virtual.yaml" <<END
name: undisturbed
question: Does a crash show in what was measured?
repetitions: 2
clock: virtual
seed: 5
cases: [{name: A, variant: stock}, {name: B, variant: adaptive}]
paths: [{name: lossy, kind: routed, rtt: 20ms, rate: 20mbit, loss: 1%, limit: 10000}]
workloads: [{name: h2-one, protocol: h2, requests: [{name: body, body: 64KiB}]}]
END
exec 7<><(:)

calm=$place/calm.db
"$bin/hopyard" --db "$calm" run "$place/virtual.yaml" >/dev/null 2>"$place/calm.log" || fail "the calm one: $(cat "$place/calm.log")"

start_daemon
id=$("${hopyard[@]}" submit "$place/virtual.yaml")
for instant in 0.3 0.9 1.7; do
  read -rt "$instant" -u 7 _ || true # any instant will do
  kill_daemon
  start_daemon
done
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || fail "the disturbed one did not pass"
expect "verdicts" "passed|4" "$(query "SELECT verdict, COUNT(*) FROM v_trial GROUP BY 1")"

# Rows of view $1, under the trial's place instead of its name, that only one of the two has.
differing() {
  local columns
  columns=$(query "SELECT group_concat('v.' || name) FROM pragma_table_info('$1') WHERE name <> 'trial_id'")
  sqlite3 -readonly "$db" "ATTACH '$calm' AS calm;
    CREATE TEMP VIEW a AS SELECT t.block, t.position, $columns FROM main.$1 v JOIN main.v_trial t USING (trial_id);
    CREATE TEMP VIEW b AS SELECT t.block, t.position, $columns FROM calm.$1 v JOIN calm.v_trial t USING (trial_id);
    SELECT (SELECT COUNT(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b))
         + (SELECT COUNT(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM a));"
}
for view in v_response v_tls_record v_h2_frame v_ssl_write v_socket; do
  [ "$(query "SELECT COUNT(*) FROM $view")" -gt 0 ] || fail "$view is empty"
  expect "differing rows of $view" 0 "$(differing "$view")"
done
"${hopyard[@]}" replay "$id.00003" >"$place/replay.txt" || fail "replay: $(cat "$place/replay.txt")"
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
