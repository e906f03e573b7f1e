#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A full disk, a locked database, a read-only one, a damaged page, and a server build that changed under its name: each is
# said clearly, stops the campaign and loses no trial that was committed. In a namespace where a small disk can be mounted.
if [ -z "${HOPYARD_OWN_MOUNTS:-}" ]; then
  unshare -Urm true 2>/dev/null || { echo "skipped: no user namespace to mount a small disk in"; exit 77; }
  HOPYARD_OWN_MOUNTS=yes exec unshare -Urm bash "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"

state() { query "SELECT state FROM v_campaign WHERE campaign_id = '$1'"; }
reason() { query "SELECT reason FROM v_campaign WHERE campaign_id = '$1'"; }
outcomes() { query "SELECT trial_id, recorded_unix_ns FROM v_provenance ORDER BY 1"; }
count() { printf '%s\n' "$1" | grep -c . || true; }
expect_kept() { # outcomes before
  expect "outcomes that are not there any more" "" "$(comm -23 <(printf '%s\n' "$1") <(outcomes))"
}
await_state() { # id, state
  local tries=300
  until [ "$(state "$1")" = "$2" ]; do
    [ $((tries -= 1)) -gt 0 ] || fail "expected $2, got $(state "$1"): $(reason "$1")"
    sleep 0.1
  done
}

mkdir "$place/disk"
mount -t tmpfs -o size=3m none "$place/disk" || { echo "skipped: no tmpfs in a user namespace"; exit 77; }
trap 'umount -l "$place/disk" 2>/dev/null; finish' EXIT
db=$place/disk/e2e.db
hopyard=("$bin/hopyard" --db "$db")
write_local_campaign 400

echo "== a full disk interrupts the campaign; with room again it goes on"
start_daemon
id=$("${hopyard[@]}" submit "$place/local.yaml")
status=0
"${hopyard[@]}" watch "$id" >"$place/watch.txt" 2>&1 || status=$?
expect "exit code" 1 "$status"
before=$(outcomes)
[ "$(count "$before")" -gt 0 ] && [ "$(count "$before")" -lt 400 ] || fail "$(count "$before") outcomes: the disk has the wrong size"
"${hopyard[@]}" list | grep "^$id  INTERRUPTED .*disk full" >/dev/null || fail "it does not say so: $("${hopyard[@]}" list)"
mount -o remount,size=64m "$place/disk"
await_state "$id" interrupted # the store takes it now
"${hopyard[@]}" resume "$id" >/dev/null
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || fail "the rest did not pass: $(reason "$id")"
expect_kept "$before"
expect "outcomes" "passed|400" "$(query "SELECT verdict, COUNT(*) FROM v_trial GROUP BY 1")"

echo "== a database that another program locks interrupts it, too"
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 2
mkfifo "$place/sql"
sqlite3 "$db" <"$place/sql" >"$place/locked" 2>&1 &
locker=$!
exec 9>"$place/sql"
# Again until it gets in between two trials.
printf '.timeout 20000\nBEGIN IMMEDIATE;\nSELECT 1;\n' >&9
status=0
"${hopyard[@]}" watch "$id" >/dev/null 2>"$place/watch.txt" || status=$?
expect "exit code" 1 "$status"
before=$(outcomes)
printf 'COMMIT;\n.quit\n' >&9
exec 9>&-
wait "$locker" || fail "sqlite3: $(cat "$place/locked")"
await_state "$id" interrupted
reason "$id" | grep -q "locked by another program" || fail "it does not say so: $(reason "$id")"
expect_kept "$before"

echo "== a read-only disk is said at the start"
stop_daemon
mount -o remount,ro "$place/disk"
status=0
"$bin/hopyardd" --db "$db" >"$place/out" 2>/dev/null </dev/null || status=$?
expect "exit code" 1 "$status"
grep -qi "read-only" "$place/out" || fail "it does not say so: $(cat "$place/out")"
mount -o remount,rw "$place/disk"

echo "== a damaged page interrupts the campaign"
start_daemon
"${hopyard[@]}" resume "$id" >/dev/null
await_outcomes "$id" 2
stop_daemon
before=$(outcomes)
page=$(query "SELECT rootpage FROM sqlite_schema WHERE name = 'tls_record'")
cp "$db" "$place/disk/sound.db"
size=$(query "PRAGMA page_size")
head -c "$size" /dev/zero | tr '\0' '\377' | dd of="$db" bs="$size" seek=$((page - 1)) conv=notrunc 2>/dev/null
start_daemon
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || true
await_state "$id" interrupted
reason "$id" | grep -q "damaged" || fail "it does not say so: $(reason "$id")"
expect_kept "$before"
expect "db check" 1 "$("${hopyard[@]}" db check >"$place/check.txt" 2>&1; echo $?)"
stop_daemon
cp "$place/disk/sound.db" "$db"

echo "== another build under the same name is refused"
mkdir -p "$XDG_CONFIG_HOME/hopyard"
mine() { # patches and records of the variant "mine"
  printf 'variants:\n  mine: {note: mine, %s}\n' "$1" >"$XDG_CONFIG_HOME/hopyard/variants.yaml"
}
mine 'records: {fragment_bytes: 16384}'
sed -i 's/variant: stock/variant: mine/' "$place/local.yaml"
start_daemon
"${hopyard[@]}" cancel "$id" >/dev/null
id=$("${hopyard[@]}" submit "$place/local.yaml")
await_outcomes "$id" 2
"${hopyard[@]}" cancel "$id" >/dev/null
before=$(outcomes)
mine "patches: [$source_dir/patches/nginx-1.26.3/0001-static-4096-byte-records.patch], records: {fragment_bytes: 4096, settings: 1}"
"${hopyard[@]}" resume "$id" >/dev/null
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || true
await_state "$id" aborted
reason "$id" | grep -q "variant mine: it is another build now" || fail "it does not say so: $(reason "$id")"
expect_kept "$before"
mine 'records: {fragment_bytes: 16384}'
"${hopyard[@]}" resume "$id" >/dev/null
"${hopyard[@]}" watch "$id" >/dev/null 2>&1 || fail "with the build of before it does not go on: $(reason "$id")"
stop_daemon
