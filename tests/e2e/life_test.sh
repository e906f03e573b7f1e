#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What can happen to a campaign over a Unix-domain socket: cancelled, resumed, its worker killed, its daemon drained, its
# watcher gone. On the machine's own kernel, so that a trial takes a fraction of a second.
. "$(dirname "$0")/lib.sh"

count() { query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$1' AND verdict IS NOT NULL"; }
state() { query "SELECT state FROM v_campaign WHERE campaign_id = '$1'"; }
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
workers() {
  for pid in $(descendants "$daemon_pid"); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = hopyard-worker ] && echo "$pid"
  done
  true
}

echo "== cancel ends within two seconds and keeps what was measured; resume runs the rest"
start_daemon
write_local_campaign 200
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 2
begin=$(milliseconds)
"${hopyard[@]}" cancel "$id"
took=$(($(milliseconds) - begin))
[ "$took" -lt 2000 ] || fail "cancel took $took ms"
expect "state" cancelled "$(state "$id")"
expect "workers left" "" "$(workers)"
kept=$(count "$id")
[ "$kept" -ge 2 ] && [ "$kept" -lt 200 ] || fail "expected 2 to 199 outcomes, got $kept"
status=0
"${hopyard[@]}" cancel "$id" 2>/dev/null || status=$?
expect "exit code of a second cancel" 1 "$status"

echo "== SIGTERM drains: the daemon ends by itself and leaves the campaign to the next one"
"${hopyard[@]}" resume "$id"
await_outcomes "$id" 2
stop_daemon
expect "state" running "$(state "$id")"
drained=$(count "$id")
[ "$drained" -gt "$kept" ] && [ "$drained" -lt 200 ] || fail "expected $kept to 199 outcomes, got $drained"
start_daemon
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || fail "the rest did not pass"
expect "outcomes" "passed|200" "$(query "SELECT verdict, COUNT(*) FROM v_trial GROUP BY 1")"
status=0
"${hopyard[@]}" resume "$id" 2>/dev/null || status=$?
expect "exit code of a resume with nothing left" 1 "$status"

echo "== a killed worker costs the trial it had begun, and the campaign says so"
write_local_campaign 60
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 2
for pid in $(workers); do kill -KILL "$pid" 2>/dev/null || true; done
status=0
"${hopyard[@]}" watch "$id" >"$place/table.txt" 2>/dev/null || status=$?
lost=$(query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$id' AND verdict = 'failed' AND reason LIKE 'worker ended: %'")
expect "outcomes" 60 "$(count "$id")"
expect "others that did not pass" 0 "$(query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$id' AND verdict <> 'passed' AND reason NOT LIKE 'worker ended: %'")"
[ "$lost" -le 1 ] || fail "one killed worker cost $lost trials"
expect "exit code" $((lost * 3)) "$status"
if [ "$lost" = 1 ]; then
  grep -q "worker ended: signal 9" "$place/table.txt" || fail "the summary does not say why a trial failed"
  "${hopyard[@]}" show "$id" | grep -q "worker ended: signal 9" || fail "show does not say why a trial failed"
fi

echo "== two workers at once: still one outcome each"
write_local_campaign 40
"${hopyard[@]}" run --jobs 2 "$place/local.yaml" >/dev/null 2>"$place/two.txt" || fail "two workers: $(cat "$place/two.txt")"
expect "outcomes" 40 "$(count "$(query "SELECT campaign_id FROM v_campaign ORDER BY submitted_unix_ns DESC LIMIT 1")")"
stop_daemon

echo "== run without a daemon starts one; Ctrl-C detaches, the campaign goes on, and the daemon ends with it"
write_local_campaign 60
"${hopyard[@]}" run "$place/local.yaml" >/dev/null 2>"$place/detached.txt" &
client=$!
while ! grep -q passed "$place/detached.txt" 2>/dev/null; do tail -n +1 -f --pid="$client" "$place/detached.txt" | grep -qm1 passed || break; done
kill -INT "$client"
wait "$client" || true
grep -q "cancel: hopyard cancel" "$place/detached.txt" || fail "it does not say how to cancel: $(cat "$place/detached.txt")"
id=$(query "SELECT campaign_id FROM v_campaign ORDER BY submitted_unix_ns DESC LIMIT 1")
expect "state after Ctrl-C" running "$(state "$id")"
private=$(processes | awk '$3 == "hopyardd" { print $1 }' | while read -r pid; do
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "--db $db" && echo "$pid"; done || true)
[ -n "$private" ] || fail "the private daemon did not stay"
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || fail "the campaign did not pass after Ctrl-C"
await_gone "$private" || fail "the private daemon did not end"
expect "outcomes" 60 "$(count "$id")"
