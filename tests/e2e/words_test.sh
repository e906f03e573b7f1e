#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line's contract: exit codes, where errors point, data on standard output, and exports that others can read.
. "$(dirname "$0")/lib.sh"

code() { # wanted, command …
  local wanted=$1 status=0
  shift
  "$@" >"$place/out" 2>"$place/err" || status=$?
  [ "$status" = "$wanted" ] || fail "$*: expected exit code $wanted, got $status: $(cat "$place/err")"
}

echo "== no daemon"
code 69 "${hopyard[@]}" submit "$source_dir/scenarios/quick.yaml"
code 69 "${hopyard[@]}" list --socket "$place/nobody.sock"
code 69 "${hopyard[@]}" watch last
grep -q "hopyardd" "$place/err" || fail "it does not say how to start a daemon"

echo "== usage"
code 2 "${hopyard[@]}"
code 2 "${hopyard[@]}" frob
code 2 "${hopyard[@]}" run "$place/no-such.yaml"
code 2 "${hopyard[@]}" compare last --pair A
for seed in -1 1e3 010 0x10 ""; do
  code 2 "${hopyard[@]}" plan "$source_dir/scenarios/quick.yaml" --seed "$seed"
  grep -q -- "--seed: .*expected a whole number" "$place/err" || fail "--seed $seed: $(cat "$place/err")"
done
code 0 "${hopyard[@]}" --help

echo "== an invalid campaign: every problem with its place, nothing stored"
write_local_campaign 2
sed 's/repetitions: 2/repititions: 2/; s/128KiB/128/' "$place/local.yaml" >"$place/broken.yaml"
code 2 "${hopyard[@]}" run "$place/broken.yaml"
grep -q "^$place/broken.yaml:3:1: " "$place/err" || fail "the misspelt key has no place: $(cat "$place/err")"
[ "$(grep -c "^$place/broken.yaml:" "$place/err")" -ge 2 ] || fail "not every problem is told: $(cat "$place/err")"
code 2 "${hopyard[@]}" plan "$place/local.yaml" --set paths.0.loss=140%
code 2 "${hopyard[@]}" plan "$place/local.yaml" --kernel frob
expect "campaigns" 0 "$(query "SELECT COUNT(*) FROM v_campaign")"

printf 'name: caf\351\n' >"$place/latin.yaml"
code 2 "${hopyard[@]}" plan "$place/latin.yaml"
grep -q "latin.yaml:1:10: .*UTF-8" "$place/err" || fail "bytes that are not UTF-8 have no place: $(cat "$place/err")"
code 2 "${hopyard[@]}" show $'\377'
{ cat "$place/local.yaml" && for i in $(seq 300); do echo "wrong$i: 1"; done; } >"$place/very-broken.yaml"
code 2 "${hopyard[@]}" plan "$place/very-broken.yaml"
grep -q "^$place/very-broken.yaml:7:1: " "$place/err" || fail "of very many problems not even the first is told"
grep -q "more problems" "$place/err" || fail "very many problems are not counted: $(cat "$place/err")"

echo "== standard output and error that are closed or full; folders that may not be written"
code 1 bash -c '"$@" variants list >&-' - "${hopyard[@]}"
grep -q "write: standard output" "$place/err" || fail "closed output: $(cat "$place/err")"
code 1 bash -c '"$@" variants list >/dev/full' - "${hopyard[@]}"
code 1 bash -c '"$@" --json list >/dev/full' - "${hopyard[@]}"
code 0 bash -c '"$@" variants list <&- 2>&-' - "${hopyard[@]}"
code 0 bash -c '"$@" plan "$0" 2>/dev/full' "$place/local.yaml" "${hopyard[@]}"
code 69 "$bin/hopyard" --db /proc/nowhere/hopyard.db list
grep -q "/proc/nowhere" "$place/err" || fail "the folder is not named: $(cat "$place/err")"
(umask 0 && code 0 "$bin/hopyard" --db "$place/open/hopyard.db" list)
expect "database's folder" 700 "$(stat -c %a "$place/open")"

echo "== plan counts"
code 0 "${hopyard[@]}" --json plan "$source_dir/scenarios/static4k-smoke.yaml"
for line in '"connections": 12' '"responses": 16' '"trials": 12'; do
  grep -q "$line" "$place/out" || fail "plan --json has no $line"
done
code 0 "${hopyard[@]}" plan "$place/local.yaml" --json --repetitions 7
grep -q '"trials": 7' "$place/out" || fail "--repetitions changes nothing"

echo "== a run by a private daemon: table on standard output, plain lines on standard error"
code 0 "${hopyard[@]}" run "$place/local.yaml" --seed 99
grep -q "complete ms" "$place/out" || fail "no table: $(cat "$place/out")"
grep -q "2/2 .*passed" "$place/err" || fail "no lines: $(cat "$place/err")"
! grep -q $'\r' "$place/err" || fail "a progress bar in a log"
expect "seed" 99 "$(query "SELECT seed FROM v_campaign")"
id=$(query "SELECT campaign_id FROM v_campaign")

echo "== what was measured, afterwards"
code 0 "${hopyard[@]}" list
grep -q "$id  DONE" "$place/out" || fail "list: $(cat "$place/out")"
code 0 "${hopyard[@]}" show "${id%-*}"
code 0 "${hopyard[@]}" show "$id.00001"
grep -q "holds\|HOLDS" "$place/out" || fail "show of a trial has no checks: $(cat "$place/out")"
code 0 "${hopyard[@]}" --json summary last
grep -q '"metric": "complete_ns"' "$place/out" || fail "summary --json: $(head -c 600 "$place/out")"
code 2 "${hopyard[@]}" compare last --pair A,nobody
code 2 "${hopyard[@]}" compare last --pair A,A
grep -q "two different cases" "$place/err" || fail "a case compared with itself: $(cat "$place/err")"
code 1 "${hopyard[@]}" show 19700101
code 0 "${hopyard[@]}" export last --view v_response --format csv
expect "CSV lines" 3 "$(wc -l <"$place/out")"
code 0 "${hopyard[@]}" export last --view v_tls_record -o "$place/records.jsonl"
expect "JSON lines" "$(query "SELECT COUNT(*) FROM v_tls_record")" "$(wc -l <"$place/records.jsonl")"
code 1 "${hopyard[@]}" export last --view v_tls_record -o "$place/records.jsonl"
code 1 "${hopyard[@]}" export last --view sqlite_master
code 0 "${hopyard[@]}" export last --format sqlite -o "$place/copy.db"
expect "trials in the copy" 2 "$(sqlite3 -readonly "$place/copy.db" "SELECT COUNT(*) FROM v_trial WHERE verdict = 'passed'")"
expect "journal of the copy" delete "$(sqlite3 -readonly "$place/copy.db" "PRAGMA journal_mode")"
[ ! -e "$place/copy.db-wal" ] && [ ! -e "$place/copy.db-shm" ] || fail "the copy has files beside it"
code 1 "${hopyard[@]}" export nobody --format sqlite -o "$place/nobody.db"
grep -q 'no campaign "nobody"' "$place/err" || fail "a copy for no campaign: $(cat "$place/err")"
[ -z "$(find "$place" -maxdepth 1 -name 'nobody.db*')" ] || fail "something is left of a copy that failed"
for view in $(query "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY 1"); do
  code 0 "${hopyard[@]}" export last --view "$view"
  lines=$(wc -l <"$place/out")
  expect "JSON lines of $view" "$(query "SELECT COUNT(*) FROM $view")" "$lines"
  code 0 "${hopyard[@]}" export last --view "$view" --format csv -o "$place/$view.csv"
  expect "rows of $view.csv as another program reads them" "$lines" \
    "$(sqlite3 :memory: ".import --csv $place/$view.csv t" "SELECT COUNT(*) FROM t")"
done
code 0 "${hopyard[@]}" report last -o "$place/report.html"
grep -q "<h1>Does a campaign survive" "$place/report.html" || fail "a report without its question"
code 1 "${hopyard[@]}" report last -o "$place/report.html"
code 1 "${hopyard[@]}" report last -o "$place/no/such/folder/report.html"
code 2 "${hopyard[@]}" report last
code 0 "${hopyard[@]}" db check
code 0 "${hopyard[@]}" variants show adaptive
code 2 "${hopyard[@]}" variants show frob
code 0 "${hopyard[@]}" kernels list

echo "== many commands at once: one daemon for all of them, and none is left"
pids=
for i in 1 2 3 4 5 6 7 8; do
  "${hopyard[@]}" list >"$place/list.$i" 2>&1 &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "one of many failed: $(cat "$place"/list.*)"; done
expect "socket's folder" 700 "$(stat -c %a "$XDG_RUNTIME_DIR/hopyard")"
left=$(processes | awk '$3 == "hopyardd" { print $1 }' | while read -r pid; do
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q -- "--db $db" && echo "$pid"; done || true)
await_gone "$left" || fail "a private daemon stays"
