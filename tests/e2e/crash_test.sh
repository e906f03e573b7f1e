#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the daemon in mid run: nothing of it survives, what was measured stays, and the next daemon runs exactly the
# trials that had no outcome.
. "$(dirname "$0")/lib.sh"

host_state >"$place/host.before"
start_daemon
id=$("${hopyard[@]}" --json submit "$source_dir/scenarios/static4k-smoke.yaml" | sed -n 's/.*"campaign_id": "\(.*\)".*/\1/p')
await_outcomes "$id" 3
[ -n "$(descendants "$daemon_pid")" ] || fail "no worker runs"
mkfifo "$place/events"
"${hopyard[@]}" --json watch "$id" >"$place/events" 2>"$place/watch.txt" &
watcher=$!
exec 8<"$place/events"
read -r _ <&8 || fail "the watcher sees nothing"
kill_daemon
echo "all gone after $gone_ms ms"
status=0
wait "$watcher" || status=$?
exec 8<&-
expect "exit code of a watcher whose daemon has gone" 69 "$status"
grep -q "$id: the daemon has gone" "$place/watch.txt" || fail "it does not say so: $(cat "$place/watch.txt")"
expect_host_unchanged "$place/host.before"
before=$(query "SELECT trial_id, recorded_unix_ns FROM v_provenance ORDER BY 1")
measured=$(printf '%s\n' "$before" | grep -c .)
[ "$measured" -ge 3 ] && [ "$measured" -lt 12 ] || fail "expected 3 to 11 outcomes before the crash, got $measured"
expect "state after the crash" running "$(query "SELECT state FROM v_campaign")"

start_daemon
status=0
"${hopyard[@]}" watch "$id" || status=$?
expect "exit code" 0 "$status"
expect "verdicts" "passed|12" "$(query "SELECT verdict, COUNT(*) FROM v_trial GROUP BY 1")"
kept=$(query "SELECT trial_id, recorded_unix_ns FROM v_provenance ORDER BY recorded_unix_ns LIMIT $measured" | sort)
expect "outcomes from before the crash" "$before" "$kept"
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
expect_host_unchanged "$place/host.before"
