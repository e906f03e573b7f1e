#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scenarios/static4k-smoke.yaml through daemon, CLI, worker and guest: all trials pass, the records are as the issue's
# figures say, memory stays small, and the host is as it was.
. "$(dirname "$0")/lib.sh"

host_state >"$place/host.before"
start_daemon
id=$("${hopyard[@]}" submit "$source_dir/scenarios/static4k-smoke.yaml")
worker_peak=0
while read -r event; do
  for pid in $(descendants "$daemon_pid"); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = hopyard-worker ] || continue
    kib=$(peak_kib "$pid")
    [ "${kib:-0}" -le "$worker_peak" ] || worker_peak=$kib
  done
done < <(exec "${hopyard[@]}" --json watch "$id")
daemon_peak=$(peak_kib "$daemon_pid")
"${hopyard[@]}" summary "$id"
status=0
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || status=$?
expect "exit code" 0 "$status"
expect "verdicts" "passed|12" "$(query "SELECT verdict, COUNT(*) FROM v_trial WHERE campaign_id = '$id' GROUP BY 1")"
expect "responses" 16 "$(query "SELECT COUNT(*) FROM v_response JOIN v_trial USING (trial_id) WHERE campaign_id = '$id'")"
expect "state" "done" "$(query "SELECT state FROM v_campaign WHERE campaign_id = '$id'")"
records() {
  query "SELECT COUNT(*), SUM(wire_bytes - plaintext_bytes) FROM v_tls_record JOIN v_trial USING (trial_id)
         WHERE campaign_id = '$id' AND workload = 'h1-128k' AND case_name = '$1' AND content = 'data'"
}
expect "records and overhead of C" "9|198" "$(records C)"
for case_name in D F G; do expect "records and overhead of $case_name" "33|726" "$(records "$case_name")"; done
expect "kernel" 1 "$(query "SELECT COUNT(DISTINCT kernel) FROM v_trial WHERE campaign_id = '$id' AND kernel <> ''")"
printf 'peak memory: daemon %s KiB, worker %s KiB\n' "$daemon_peak" "$worker_peak"
[ "$daemon_peak" -le $((150 * 1024)) ] || fail "the daemon took $daemon_peak KiB"
[ "$worker_peak" -gt 0 ] || fail "no worker was seen"
[ "$worker_peak" -le $((100 * 1024)) ] || fail "a worker took $worker_peak KiB"
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
expect_host_unchanged "$place/host.before"
