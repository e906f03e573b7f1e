#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A campaign that ran is extended, from options and from a file: what was planned and measured stays as it was, the new
# blocks run as a phase of their own, and every command says which trials are of which. Over a Unix-domain socket.
. "$(dirname "$0")/lib.sh"

code() { # wanted, command …
  local wanted=$1 status=0
  shift
  "$@" >"$place/out" 2>"$place/err" || status=$?
  [ "$status" = "$wanted" ] || fail "$*: expected exit code $wanted, got $status: $(cat "$place/err")"
}
# All that is stored of a campaign's first $2 trials.
stored() {
  query "SELECT t.trial_id, t.block, t.position, t.path, t.workload, t.case_name, t.phase, t.seed, t.verdict, p.run_index,
           p.recorded_unix_ns FROM v_trial t JOIN v_provenance p USING (trial_id)
         WHERE t.campaign_id = '$1' ORDER BY t.trial_id LIMIT $2"
}
phases() { query "SELECT phase, verdict, COUNT(*) FROM v_trial WHERE campaign_id = '$1' GROUP BY 1, 2 ORDER BY MIN(block)"; }

cat >"$place/two.yaml" <<END
name: two
question: Does an extension leave alone what was there?
seed: 7
repetitions: 3
cases: [{name: A, variant: stock}, {name: B, variant: stock, server: {ssl_buffer_size: 4k}}]
paths: [{name: local, kind: unix}]
workloads:
  - {name: h1-one, protocol: h1, requests: [{name: body, body: 128KiB}]}
  - {name: h2-one, protocol: h2, requests: [{name: body, body: 16KiB}]}
cells: [{workloads: [h1-one]}]
END

echo "== plan shows phases and counts of the scenarios"
code 0 "${hopyard[@]}" --json plan "$source_dir/scenarios/record-sizing.yaml"
for line in '"connections": 4920' '"responses": 6090' '"trials": 4920'; do
  grep -q "$line" "$place/out" || fail "record-sizing: plan --json has no $line"
done
code 0 "${hopyard[@]}" --json plan "$source_dir/scenarios/static4k.yaml"
for line in '"connections": 1350' '"responses": 1800' '"name": "close-calls"' '"first_block": 20' '"trials": 630'; do
  grep -q "$line" "$place/out" || fail "static4k: plan --json has no $line"
done
code 0 "${hopyard[@]}" plan "$source_dir/scenarios/static4k.yaml"
grep -q "^initial  *1–20  *36  *720  *960 " "$place/out" || fail "plan: $(cat "$place/out")"
grep -q "^close-calls  *21–50  *21  *630  *840 " "$place/out" || fail "plan: $(cat "$place/out")"

echo "== by options, without a daemon: one is started, and the command stays to the end"
code 0 "${hopyard[@]}" run "$place/two.yaml"
id=$(query "SELECT campaign_id FROM v_campaign")
before=$(stored "$id" 6)
expect "trials" "initial|passed|6" "$(phases "$id")"
code 69 "${hopyard[@]}" extend last --repetitions 2 --no-wait
code 0 "${hopyard[@]}" extend last --repetitions 2 --cases B --seed 99
grep -q "phase extension-1: 2 cells in 2 blocks, 4 trials" "$place/err" || fail "what runs: $(cat "$place/err")"
grep -q "extension-1 block 4  B × local" "$place/err" || fail "progress does not name the phase: $(cat "$place/err")"
grep -q "^extension-1  *4–5  *2  *4  *4  *0  *0  *99" "$place/out" || fail "no phases: $(cat "$place/out")"
grep -q "^local  *h1-one  *A  *3  *3 + 0 " "$place/out" || fail "n by phase of A: $(cat "$place/out")"
grep -q "^local  *h1-one  *B  *5  *3 + 2 " "$place/out" || fail "n by phase of B: $(cat "$place/out")"
grep -q "^local  *h2-one  *B  *2  *0 + 2 " "$place/out" || fail "a combination that did not run before: $(cat "$place/out")"
expect "what was there" "$before" "$(stored "$id" 6)"
expect "trials" "initial|passed|6
extension-1|passed|4" "$(phases "$id")"
expect "blocks of the extension" "3|4" "$(query "SELECT MIN(block), MAX(block) FROM v_trial WHERE phase = 'extension-1'")"
expect "options" "--repetitions 2
--seed 99
--cases B" "$(query "SELECT options FROM v_phase WHERE phase = 'extension-1'")"

echo "== from a file, with a daemon: queued at once, its text kept"
printf 'name: more\nrepetitions: 60\nnote: to be cut short\n' >"$place/more.yaml"
before=$(stored "$id" 10)
start_daemon
code 0 "${hopyard[@]}" extend "$id" "$place/more.yaml" --workloads h1-one --no-wait
expect "id on standard output" "$id" "$(cat "$place/out")"
expect "text" "$(cat "$place/more.yaml")" "$(query "SELECT yaml FROM v_phase WHERE phase = 'more'")"
code 1 "${hopyard[@]}" extend "$id" --repetitions 1
grep -q "it has not ended" "$place/err" || fail "a running campaign: $(cat "$place/err")"
await_outcomes "$id" 2
code 0 "${hopyard[@]}" cancel "$id"
measured=$(query "SELECT COUNT(*) FROM v_trial WHERE verdict IS NOT NULL")
[ "$measured" -ge 12 ] && [ "$measured" -lt 130 ] || fail "expected 12 to 129 outcomes, got $measured"
expect "what was there" "$before" "$(stored "$id" 10)"

echo "== cancelled: what is left of it runs first, then the extension"
code 0 "${hopyard[@]}" --json extend "$id" --name last --repetitions 1 --cases A,B --paths local --workloads h2-one --no-wait
grep -q "\"left\": $((130 - measured))" "$place/out" || fail "what is left: $(grep left "$place/out")"
code 0 "${hopyard[@]}" watch "$id"
expect "trials" "initial|passed|6
extension-1|passed|4
more|passed|120
last|passed|2" "$(phases "$id")"
expect "order" 1 "$(query "SELECT MAX(recorded_unix_ns) FILTER (WHERE phase = 'more') < MIN(recorded_unix_ns) FILTER (WHERE phase = 'last')
                          FROM v_trial JOIN v_provenance USING (trial_id)")"
expect "what was there" "$before" "$(stored "$id" 10)"
expect "pairs" 63 "$(query "SELECT n FROM v_pair WHERE workload = 'h1-one' AND metric = 'complete_ns'")"
code 0 "${hopyard[@]}" list
grep -q "initial + extension-1 + more + last" "$place/out" || fail "list: $(cat "$place/out")"
code 0 "${hopyard[@]}" show "$id"
grep -q "^last  *66–66  *2  *2  *2  *0  *0" "$place/out" || fail "show: $(cat "$place/out")"
code 0 "${hopyard[@]}" show "$id.00006"
grep -q "extension-1 block 4" "$place/out" || fail "show of a trial: $(cat "$place/out")"

echo "== refused, and nothing stored"
code 2 "${hopyard[@]}" extend "$id"
grep -q "extension:1:1: .repetitions. is missing" "$place/err" || fail "no repetitions: $(cat "$place/err")"
code 2 "${hopyard[@]}" extend "$id" --repetitions 1 --cases Z
grep -q -- "--cases Z:1:1: no case is called .Z." "$place/err" || fail "unknown case: $(cat "$place/err")"
code 2 "${hopyard[@]}" extend "$id" --repetitions 1 --name more
code 2 "${hopyard[@]}" extend "$id" --repetitions 9935
grep -q "10001 blocks up to this phase" "$place/err" || fail "too many: $(cat "$place/err")"
code 2 "${hopyard[@]}" extend "$id" "$place/nowhere.yaml"
code 1 "${hopyard[@]}" extend 19700101 --repetitions 1
expect "phases" 4 "$(query "SELECT COUNT(*) FROM v_phase")"
expect "database" 0 "$("${hopyard[@]}" db check >/dev/null; echo $?)"
stop_daemon
