#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A campaign is verified at its end, and again by hand; after one byte was changed by hand the row is named.
. "$(dirname "$0")/lib.sh"

start_daemon
write_local_campaign 8
sed -i 's/cases: .*/cases: [{name: A, variant: stock}, {name: S, variant: static4k}]/' "$place/local.yaml"
"${hopyard[@]}" run "$place/local.yaml" >"$place/run.txt" 2>>"$place/run.log" || fail "run ended with $?"
id=$(query "SELECT campaign_id FROM v_campaign")
grep -q "^verified: 16 trials, .* all hold$" "$place/run.txt" || fail "run does not say that it was verified: $(cat "$place/run.txt")"
expect "stored" "16|0|0|[]" "$(query "SELECT verified_trials, unsealed, findings, notes_json FROM v_verification")"
expect "checks" "$(query "SELECT COUNT(*) FROM v_check")" "$(query "SELECT checks FROM v_verification")"
"${hopyard[@]}" verify "$id" >"$place/verify.txt" || fail "verify ended with $?: $(cat "$place/verify.txt")"
grep -q "all hold$" "$place/verify.txt" || fail "$(cat "$place/verify.txt")"

echo "== one byte of one record"
trial=$(query "SELECT trial_id FROM v_trial LIMIT 1 OFFSET 5")
was=$(query "SELECT wire_bytes FROM v_tls_record WHERE trial_id = '$trial' AND seq = 7")
sqlite3 "$db" "UPDATE tls_record SET wire_bytes = wire_bytes + 1 WHERE seq = 7
               AND trial_no = (SELECT trial_no FROM trial WHERE trial_id = '$trial')"
status=0
"${hopyard[@]}" verify "$id" >"$place/changed.txt" || status=$?
expect "exit code" 1 "$status"
line="tls_record  trial $trial  seq 7  wire_bytes: expected $was, saw $((was + 1)) (plaintext and 22 bytes: header, inner type, tag)"
grep -qxF "$line" "$place/changed.txt" || fail "no line '$line' in: $(cat "$place/changed.txt")"
status=0
"${hopyard[@]}" --json verify "$id" >"$place/changed.json" || status=$?
expect "exit code with --json" 1 "$status"
grep -q '"table":"tls_record"' "$place/changed.json" || fail "JSON does not name the table: $(cat "$place/changed.json")"

echo "== a change while a campaign runs is said at its end"
write_local_campaign 60
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 2
sqlite3 -cmd ".timeout 5000" "$db" "UPDATE ssl_write SET returned = returned - 1 WHERE seq = 2 AND trial_no =
  (SELECT trial_no FROM trial JOIN cell USING (cell_no) JOIN campaign USING (campaign_no)
   WHERE campaign_id = '$id' AND run_index = 0)"
status=0
"${hopyard[@]}" watch "$id" >"$place/watch.txt" 2>>"$place/watch.log" || status=$?
expect "exit code" 1 "$status"
expect "state" "done|60" "$(query "SELECT state, passed FROM v_campaign WHERE campaign_id = '$id'")"
grep -q "^VERIFICATION FAILED, .*ssl_write of trial $id.00000, seq 2" "$place/watch.txt" ||
  fail "watch does not name the row: $(cat "$place/watch.txt")"
stop_daemon
