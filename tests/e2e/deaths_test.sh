#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A second after the daemon's death nothing of it is left, on each execution host, whoever of its processes was killed
# before it; and the next daemon goes on without anybody's help.
. "$(dirname "$0")/lib.sh"

# $1 trials whose servers wait for most of their lives, with the further options given; the campaign's id.
submit_slow() {
  write_local_campaign "$1"
  sed -i 's/128KiB}/128KiB}, {name: later, body: 1KiB, after: {request: body, pause: 400ms}}/' "$place/local.yaml"
  "${hopyard[@]}" submit "$place/local.yaml" "${@:2}"
}
# Pids below our daemon that are called $1, once there are any.
await_below() {
  local found= tries=0
  while [ -z "$found" ]; do
    [ $((tries += 1)) -le 600 ] || fail "no $1 runs"
    found=$(for pid in $(descendants "$daemon_pid"); do grep -qx "$1" "/proc/$pid/comm" 2>/dev/null && echo "$pid"; done || true)
    [ -n "$found" ] || sleep 0.05
  done
  echo "$found"
}
# Starts a daemon, which takes the campaign up by itself; once $1 runs, kills $2 of its processes and the daemon.
die() {
  local victims=
  start_daemon
  await_below "$1" >/dev/null
  case $2 in
    none) ;;
    every*) victims=$(await_below "${2#every }") ;;
    guard) victims=$(descendants "$daemon_pid" | sort -n | sed -n 1p) ;;
    reaper) victims=$(descendants "$daemon_pid" | sort -n | sed -n 2p) ;;
  esac
  kill_daemon "$victims"
  expect_host_unchanged "$place/host.before"
  echo "with $1, killed before the daemon: $2: all gone after $gone_ms ms"
}
# Deaths of a daemon that runs a campaign with the options behind $1, whose processes are called $1; the last one goes on.
die_often() {
  local id victim had
  start_daemon
  id=$(submit_slow 500 "${@:2}")
  stop_daemon
  # On either host some processes are called hopyard-worker: guard, reaper, and where there is no guest, the worker.
  for victim in none none guard reaper "every $1"; do die "$1" "$victim"; done
  # Without a pid namespace nobody is left then to end a process that a guest has just begun (docs/threat-model.md).
  [ -z "$namespaces" ] || die "$1" "every hopyard-worker"
  had=$(query "SELECT COUNT(*) FROM v_trial WHERE verdict = 'passed'")
  start_daemon
  await_outcomes "$id" 2
  "${hopyard[@]}" cancel "$id" >/dev/null
  [ "$(query "SELECT COUNT(*) FROM v_trial WHERE verdict = 'passed'")" -ge $((had + 2)) ] || fail "it does not go on"
  stop_daemon
}

namespaces=yes
host_state >"$place/host.before"
start_daemon
host=$("${hopyard[@]}" kernels list | awk '$1 == "host"')
stop_daemon
case $host in
  *ready* | *"unix paths only"*) die_often nginx --kernel host ;;
  *)
    echo "this machine's kernel runs no worker: $host"
    case $host in *"namespaces: "*) namespaces= ;; esac
    ;;
esac
die_often linux.uml --kernel debian-uml
