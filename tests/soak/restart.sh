#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long a daemon takes from its start to its first answer, on a database of $3 trials (10,000).
. "$(dirname "$0")/../e2e/lib.sh"
trials=${3:-10000}

start_daemon
write_local_campaign "$trials"
"${hopyard[@]}" run "$place/local.yaml" >/dev/null 2>"$place/run.txt" || fail "$(tail -n 3 "$place/run.txt")"
stop_daemon
for kind in clean killed; do
  begin=$(date +%s%N)
  start_daemon
  listening=$((($(date +%s%N) - begin) / 1000000))
  "${hopyard[@]}" list >/dev/null || fail "list"
  answered=$((($(date +%s%N) - begin) / 1000000))
  printf '%s trials, %s bytes, after a %s end: listening after %s ms, first answer after %s ms\n' "$trials" \
    "$(stat -c %s "$db")" "$kind" "$listening" "$answered"
  [ "$answered" -le 1000 ] || fail "more than a second"
  kill -KILL "$daemon_pid"
  wait "$daemon_pid" 2>/dev/null || true
  daemon_pid=
done
