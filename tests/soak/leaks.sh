#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Short trials back to back, three times $3 of them (1,000): what the daemon holds after the second and the third time and
# held before, whether its database holds ever more texts, and whether the host is as it was. Prints the figures; fails where
# something leaks.
. "$(dirname "$0")/../e2e/lib.sh"
trials=${3:-1000}

fds() { find "/proc/$daemon_pid/fd" -mindepth 1 | wc -l; }
resident_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$daemon_pid/status"; }
run_some() {
  write_local_campaign "$1"
  "${hopyard[@]}" run "$place/local.yaml" >/dev/null 2>"$place/run.txt" || fail "$(cat "$place/run.txt")"
}

texts() { query "SELECT COUNT(*) FROM text"; }
# The $1st time: nothing more is held than before.
run_again() {
  local begin took fds_before kib_before texts_before grown
  fds_before=$(fds) kib_before=$(resident_kib) texts_before=$(texts)
  begin=$(date +%s%N)
  run_some "$trials"
  took=$((($(date +%s%N) - begin) / 1000000))
  grown=$(($(resident_kib) - kib_before))
  expect "trials" "passed|$((trials * $1))" "$(query "SELECT verdict, COUNT(*) FROM v_trial GROUP BY 1")"
  printf '%s trials in %s ms: descriptors %s -> %s, resident %s -> %s KiB, texts %s -> %s, processes left %s\n' "$trials" \
    "$took" "$fds_before" "$(fds)" "$kib_before" "$((kib_before + grown))" "$texts_before" "$(texts)" \
    "$(descendants "$daemon_pid" | grep -c . || true)"
  expect "descriptors" "$fds_before" "$(fds)"
  expect "texts" "$texts_before" "$(texts)"
  expect "processes" "" "$(descendants "$daemon_pid")"
  [ "$grown" -lt 1024 ] || fail "the daemon grew by $grown KiB"
}

host_state >"$place/host.before"
start_daemon
run_some "$trials" # what is taken once and kept: caches, threads, SQLite's pages (2 MiB a connection)
run_again 2
run_again 3
stop_daemon
expect_host_unchanged "$place/host.before"
