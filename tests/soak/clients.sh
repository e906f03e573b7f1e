#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# $3 clients (50) that list, watch and submit at once for $4 seconds (60) while a campaign runs: errors, how long `list` takes,
# and what it costs the campaign. A client is a whole program: its start is in the times.
. "$(dirname "$0")/../e2e/lib.sh"
clients=${3:-50}
seconds=${4:-60}

outcomes() { query "SELECT COUNT(*) FROM v_trial WHERE campaign_id = '$1' AND verdict IS NOT NULL"; }
# Trials of campaign $1 in the next $seconds seconds, a minute's worth.
rate() {
  local before
  before=$(outcomes "$1")
  read -rt "$seconds" -u 7 _ || true # the time that is measured
  echo $((($(outcomes "$1") - before) * 60 / seconds))
}
client() { # number
  local until=$((SECONDS + seconds)) begin
  while [ "$SECONDS" -lt "$until" ]; do
    begin=$(date +%s%N)
    "${hopyard[@]}" list >/dev/null 2>>"$place/errors" || echo "list" >>"$place/errors"
    echo $((($(date +%s%N) - begin) / 1000)) >>"$place/list.$1"
    timeout 1 "${hopyard[@]}" --json watch "$id" >/dev/null 2>>"$place/errors" || [ $? = 124 ] || echo "watch" >>"$place/errors"
    if [ $(($1 % 10)) = 0 ]; then
      other=$("${hopyard[@]}" submit "$place/local.yaml" 2>>"$place/errors") &&
        "${hopyard[@]}" cancel "$other" >/dev/null 2>>"$place/errors" || echo "submit" >>"$place/errors"
    fi
  done
}

exec 7<><(:)
: >"$place/errors"
start_daemon
write_local_campaign 10000
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 10
alone=$(rate "$id")
pids=
for number in $(seq "$clients"); do
  client "$number" &
  pids="$pids $!"
done
together=$(rate "$id")
for pid in $pids; do wait "$pid" || true; done
printf '%s clients, %s s: %s errors; list p99 %s us of %s; trials a minute %s alone, %s with them\n' "$clients" "$seconds" \
  "$(grep -c . "$place/errors" || true)" \
  "$(sort -n "$place"/list.* | awk '{ a[NR] = $1 } END { print a[int((NR * 99 + 99) / 100)] }')" \
  "$(cat "$place"/list.* | wc -l)" "$alone" "$together"
[ ! -s "$place/errors" ] || fail "$(head -n 20 "$place/errors")"
"${hopyard[@]}" cancel "$id" >/dev/null
stop_daemon
