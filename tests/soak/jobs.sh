#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One campaign on the virtual clock twice: one guest at a time on a machine that does nothing else, then $3 guests at once (4)
# beside four busy processes. Every measurement of every trial is the same in both. $4 is the campaign (static4k.yaml),
# $5 its repetitions (5).
. "$(dirname "$0")/../e2e/lib.sh"
jobs=${3:-4}
scenario=${4:-$source_dir/scenarios/static4k.yaml}
repetitions=${5:-5}
"$source_dir/tests/first_phase" "$scenario" >"$place/campaign.yaml"
busy=
# shellcheck disable=SC2086
trap 'kill $busy 2>/dev/null || true; finish' EXIT

run_with() { # jobs
  local begin=$SECONDS
  "${hopyard[@]}" run "$place/campaign.yaml" --clock virtual --repetitions "$repetitions" --jobs "$1" >/dev/null 2>"$place/run.log" ||
    fail "$(tail -n 5 "$place/run.log")"
  printf '%s: jobs %s: %s in %s s\n' "$(basename "$scenario")" "$1" \
    "$(query "SELECT group_concat(n || ' ' || v, ', ') FROM (SELECT COUNT(*) n, verdict v FROM v_trial GROUP BY 2)")" \
    $((SECONDS - begin))
}

run_with 1
idle=$db
db=$place/loaded.db
hopyard=("$bin/hopyard" --db "$db")
for _ in 1 2 3 4; do
  while :; do :; done &
  busy="$busy $!"
done
run_with "$jobs"
expect_same_measurements "$idle"
echo "every time, record, frame, write and socket figure is the same"
