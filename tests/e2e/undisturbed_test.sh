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

expect_same_measurements "$calm"
"${hopyard[@]}" replay "$id.00003" >"$place/replay.txt" || fail "replay: $(cat "$place/replay.txt")"
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
