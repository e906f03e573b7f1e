#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at random instants, spread over daemon, worker, guest, server and client: every planned trial has one outcome in
# the end, nothing is left behind and the host is as it was. HOPYARD_KILLS sets how many (8; by hand 200), HOPYARD_SEED
# where.
. "$(dirname "$0")/lib.sh"

kills=${HOPYARD_KILLS:-8}
RANDOM=${HOPYARD_SEED:-$$}
echo "HOPYARD_SEED=${HOPYARD_SEED:-$$}"
exec 7<><(:) # never readable: a clock to wait on

# Lets up to $1 ms pass. The instant of a kill is meant to be any; nothing is waited for.
some_of() { read -rt "$(printf '0.%03d' $((RANDOM % $1)))" -u 7 _ || true; }
# Whether pid $1 is below our daemon. Without a program of its own: a server lives for a fraction of a second.
is_ours() {
  local line up=$1
  while [ "$up" -gt 1 ]; do
    { read -r line <"/proc/$up/stat"; } 2>/dev/null || return 1
    line=${line##*) ? }
    up=${line%% *}
    [ "$up" != "$daemon_pid" ] || return 0
  done
  return 1
}
# Kills a random one of our daemon's processes called $1; whether one was there.
kill_one() {
  local pid found=()
  for pid in $(grep -lx "$1" /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3); do
    ! is_ours "$pid" || found+=("$pid")
  done
  [ ${#found[@]} -gt 0 ] && kill -KILL "${found[RANDOM % ${#found[@]}]}" 2>/dev/null
}
# As write_local_campaign, but a server waits for most of its life, so that there is somebody to be killed.
write_slow_campaign() {
  write_local_campaign "$1"
  sed -i 's/128KiB}/128KiB}, {name: later, body: 1KiB, after: {request: body, pause: 150ms}}/' "$place/local.yaml"
}
kill_client() {
  "${hopyard[@]}" --json watch "$1" >/dev/null 2>&1 &
  local client=$!
  some_of 100
  kill -KILL "$client" 2>/dev/null || true
  wait "$client" 2>/dev/null || true
}
state() { query "SELECT state FROM v_campaign WHERE campaign_id = '$1'"; }
execution() { query "SELECT execution FROM v_campaign WHERE campaign_id = '$1'"; }
outcomes() { query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$1' AND verdict IS NOT NULL"; }

# Runs a campaign of $1 trials with the further options given, killing $2 processes, kinds in turn from $3.
torment() {
  local trials=$1 wanted=$2 kinds=($3) id done=0 tries=0 kind
  shift 3
  write_slow_campaign "$trials"
  id=$("${hopyard[@]}" submit "$place/local.yaml" "$@")
  while [ "$done" -lt "$wanted" ]; do
    [ $((tries += 1)) -le $((wanted * 40)) ] || fail "only $done of $wanted processes were there to be killed"
    some_of 300
    case $(state "$id") in
      done) fail "the campaign ended after $done of $wanted kills: more trials are needed" ;;
      interrupted) "${hopyard[@]}" resume "$id" >/dev/null ;;
      aborted) fail "a kill was taken for a fault of the campaign: $(query "SELECT reason FROM v_campaign")" ;;
    esac
    kind=${kinds[done % ${#kinds[@]}]}
    # A guest's server is no process of the machine's.
    [ "$kind" != nginx ] || [ "$(execution "$id")" != guest ] || kind=linux.uml
    case $kind in
      daemon)
        kill_daemon
        start_daemon
        ;;
      client) kill_client "$id" ;;
      *) kill_one "$kind" || continue ;;
    esac
    done=$((done + 1))
  done
  tries=0
  while true; do
    "${hopyard[@]}" watch "$id" >/dev/null 2>&1 || true
    case $(state "$id") in
      done) break ;;
      interrupted) "${hopyard[@]}" resume "$id" >/dev/null ;;
    esac
    [ $((tries += 1)) -le 20 ] || fail "it does not end: $(state "$id")"
  done
  expect "outcomes" "$trials" "$(outcomes "$id")"
  expect "what is wrong with it" "" "$(query "SELECT reason FROM v_campaign WHERE campaign_id = '$id'")"
  echo "$trials trials, $done kills ($*): $(query "SELECT group_concat(n, ', ') FROM (SELECT COUNT(*) || ' ' || verdict AS n
    FROM v_trial WHERE campaign_id = '$id' GROUP BY verdict)")"
  # A client's or daemon's death costs nobody's verdict; a worker's, guest's or server's that of the trial under way.
  local lost
  lost=$(query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$id' AND verdict <> 'passed'")
  [ "$lost" -le "$wanted" ] || fail "$wanted kills cost $lost trials"
  expect "trials without a reason" 0 \
    "$(query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$id' AND verdict <> 'passed' AND reason = ''")"
}

host_state >"$place/host.before"
start_daemon
torment $((60 + kills * 15)) $((kills - kills / 4)) "daemon hopyard-worker nginx client"
torment $((20 + kills * 8)) $((kills / 4)) "linux.uml daemon" --kernel debian-uml
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
expect "processes left" "" "$(descendants $$ | while read -r pid; do
  case $(cat "/proc/$pid/comm" 2>/dev/null) in hopyard* | nginx | linux.uml) echo "$pid" ;; esac; done)"
expect_host_unchanged "$place/host.before"
