# SPDX-License-Identifier: Apache-2.0
# What the end-to-end tests share: a private place for everything, the real programs, and questions asked of the
# database with the plain sqlite3 program. Sourced with the folder of the programs and of the source tree as $1 and $2.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin  # tc is not on an ordinary user's path
bin=$1
source_dir=$2
place=$(mktemp -d "${TMPDIR:-/tmp}/e2e-XXXXXX")
export XDG_STATE_HOME=$place/state XDG_RUNTIME_DIR=$place/run XDG_CONFIG_HOME=$place/config
mkdir -p "$XDG_STATE_HOME" "$XDG_RUNTIME_DIR" "$XDG_CONFIG_HOME"
db=$place/e2e.db
hopyard=("$bin/hopyard" --db "$db")
daemon_pid=

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  tail -n 20 "$place"/*.log >&2 || true
  exit 1
}
expect() { # what, wanted, got
  [ "$2" = "$3" ] || fail "$1: expected $2, got $3"
}
query() { sqlite3 -readonly "$db" "$1"; }

# Ends only the daemon this test started.
finish() {
  [ -z "$daemon_pid" ] || kill -KILL "$daemon_pid" 2>/dev/null || true
  [ -z "$daemon_pid" ] || wait "$daemon_pid" 2>/dev/null || true
  await_gone "$(descendants "$$")" || true
  rm -rf "$place"
}
trap finish EXIT

# Starts a daemon of our own, with further options, and waits until it listens.
start_daemon() {
  mkfifo "$place/ready.$$" 2>/dev/null || true
  "$bin/hopyardd" --db "$db" "$@" >"$place/ready.$$" 2>>"$place/daemon.log" </dev/null &
  daemon_pid=$!
  local line
  read -r line <"$place/ready.$$" || fail "the daemon said nothing"
  case $line in
    listening*) ;;
    *) fail "the daemon: $line" ;;
  esac
}
stop_daemon() {
  kill -TERM "$daemon_pid"
  wait "$daemon_pid" || fail "the daemon ended with status $?"
  daemon_pid=
}

# "pid ppid comm" of every process.
processes() {
  { cat /proc/[0-9]*/stat 2>/dev/null || true; } | sed -n 's/^\([0-9]*\) (\(.*\)) . \([0-9]*\) .*/\1 \3 \2/p'
}
# All pids below pid $1.
descendants() {
  processes | awk -v root="$1" '
    { parent[$1] = $2 }
    END {
      for (pid in parent)
        for (up = pid; up in parent && up != root; up = parent[up])
          if (parent[up] == root) { print pid; break }
    }'
}
# Whether pid $1 has ended: it is not there, or a zombie that a first process which reaps no orphans leaves lying. Without a
# program of its own: a guest has a hundred processes, and a busy machine a second for all of them.
ended() {
  local line
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
  line=${line##*) }
  [ "${line%% *}" = Z ]
}
# Waits until all of the pids in $1, which are not our children, have ended: $2 milliseconds, or 20 seconds.
await_gone() {
  local pid until=$((${EPOCHREALTIME/./} + ${2:-20000} * 1000))
  for pid in $1; do
    until ended "$pid"; do
      [ "${EPOCHREALTIME/./}" -lt "$until" ] || return 1
      sleep 0.01
    done
  done
}

# Pids of all that was started with this test's folders in its environment, but for this shell and what is below it.
strangers() {
  local pid ours
  ours=" $$ $(descendants "$$" | tr '\n' ' ') "
  for pid in $(grep -lF "$place" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
    case $ours in *" $pid "*) ;; *) ended "$pid" || echo "$pid" ;; esac
  done
}
# kill -9 of our daemon, and of the pids in $1 just before it. All that was below it must be gone within a second, and all
# that it has started since; `gone_ms` is how long it took. Some 50 to 150 ms also on a machine with five times as much to do
# as it has processors, so there is no allowance for a busy one.
kill_daemon() {
  local below began left
  below=$(descendants "$daemon_pid")
  began=${EPOCHREALTIME/./}
  # shellcheck disable=SC2086
  kill -KILL ${1:-} "$daemon_pid" 2>/dev/null || true
  wait "$daemon_pid" 2>/dev/null || true
  daemon_pid=
  await_gone "$below" 1000 || true
  gone_ms=$(((${EPOCHREALTIME/./} - began) / 1000))
  # Looking takes its time, too: only what a look finds that began after the second is too late.
  local looked_ms=0
  while [ "$looked_ms" -le 1000 ]; do
    looked_ms=$(((${EPOCHREALTIME/./} - began) / 1000))
    left=$(for pid in $below; do ended "$pid" || echo "$pid"; done; strangers)
    [ -n "$left" ] || break
    sleep 0.01
  done
  [ -z "$left" ] || fail "$looked_ms ms after its daemon's death there is still $(for pid in $left; do cat "/proc/$pid/comm" || true; done)"
  [ "$gone_ms" -le 1000 ] || fail "it took $gone_ms ms after the daemon's death until all was gone"
}

# The highest resident memory of a process so far, in KiB.
peak_kib() { awk '/^VmHWM:/ { print $2 }' "/proc/$1/status" 2>/dev/null || true; }

# Everything of the host that a campaign must leave as it was.
host_state() (
  set +e +o pipefail  # what is not there is told by its absence
  ip -o link | sed 's/^[0-9]*: //'
  ip -o addr | sed 's/ valid_lft.*//; s/^[0-9]*: //'
  ip route
  ip -6 route 2>/dev/null | sed 's/ expires.*//'
  tc qdisc
  find /proc/sys/net -type f ! -name '*count*' ! -name '*stat*' -exec grep -H . {} + 2>/dev/null | sort
  ls /run/netns 2>/dev/null
  cut -d' ' -f1 /proc/modules 2>/dev/null | sort
  find /tmp /var/tmp /dev/shm -maxdepth 1 \( -name '*hopyard*' -o -name '*uml*' -o -name '*nginx*' -o -name 'vm_file*' \) 2>/dev/null | sort
  ls -a "$HOME/.uml" 2>/dev/null
  cut -d' ' -f2,3 /proc/self/mounts
  true
)
expect_host_unchanged() { # file with the state before
  host_state >"$place/host.after"
  diff -u "$1" "$place/host.after" >&2 || fail "the host is not as it was"
}

# Rows of view $1, under the trial's place instead of its name, that only one of $db and the database $2 has.
differing() {
  local columns
  columns=$(query "SELECT group_concat('v.' || name) FROM pragma_table_info('$1') WHERE name <> 'trial_id'")
  sqlite3 -readonly "$db" "ATTACH '$2' AS other;
    CREATE TEMP VIEW a AS SELECT t.block, t.position, $columns FROM main.$1 v JOIN main.v_trial t USING (trial_id);
    CREATE TEMP VIEW b AS SELECT t.block, t.position, $columns FROM other.$1 v JOIN other.v_trial t USING (trial_id);
    SELECT (SELECT COUNT(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b))
         + (SELECT COUNT(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM a));"
}
# Everything that was measured in $db is in the database $1 too, and nothing else.
expect_same_measurements() {
  local view
  for view in v_response v_tls_record v_h2_frame v_ssl_write v_socket; do
    [ "$(query "SELECT COUNT(*) FROM $view")" -gt 0 ] || fail "$view is empty"
    expect "differing rows of $view" 0 "$(differing "$view" "$1")"
  done
  expect "differing rows of v_drop" 0 "$(differing v_drop "$1")" # nothing may have been lost
}

# A campaign over a Unix-domain socket that any machine can run: $1 repetitions of one short trial.
write_local_campaign() {
  cat >"$place/local.yaml" <<END
name: local
question: Does a campaign survive what happens to it?
repetitions: $1
cases: [{name: A, variant: stock}]
paths: [{name: local, kind: unix}]
workloads: [{name: h1-one, protocol: h1, requests: [{name: body, body: 128KiB}]}]
END
}

# Reads events of campaign $1 until $2 trials have an outcome, or the campaign ends.
await_outcomes() {
  local event seen=0
  while [ "$seen" -lt "$2" ] && read -r event; do
    case $event in *'"finished":'*) seen=$((seen + 1)) ;; esac
  done < <(exec "${hopyard[@]}" --json watch "$1" 2>/dev/null)
}
