#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line over TCP: with a certificate that the daemon's authority signed it works as on the machine; without one
# nothing does.
. "$(dirname "$0")/lib.sh"
export no_proxy=127.0.0.1 no_grpc_proxy=127.0.0.1

certificate() { # name, options …
  local name=$1
  shift
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$name" \
    -keyout "$place/$name.key" -out "$place/$name.pem" "$@" 2>"$place/openssl.log" || fail "openssl: $(cat "$place/openssl.log")"
}
signed() { # name, authority
  certificate "$1" -CA "$place/$2.pem" -CAkey "$place/$2.key" -addext subjectAltName=IP:127.0.0.1 \
    -addext basicConstraints=CA:FALSE
}
certificate ours
certificate theirs
signed server ours
signed client ours
signed stranger theirs

start_daemon --log-format json --tls-listen 127.0.0.1:0 --tls-certificate "$place/server.pem" \
  --tls-key "$place/server.key" --tls-client-ca "$place/ours.pem"
port=$(sed -n 's/.*"port":"\([0-9]*\)".*/\1/p' "$place/daemon.log")
[ -n "$port" ] || fail "the log names no port: $(cat "$place/daemon.log")"

code() { # wanted, command …
  local wanted=$1 status=0
  shift
  "$@" >"$place/out" 2>"$place/err" || status=$?
  [ "$status" = "$wanted" ] || fail "$*: expected exit code $wanted, got $status: $(cat "$place/err")"
}
as() { # name, words …
  local name=$1
  shift
  "$bin/hopyard" --connect "127.0.0.1:$port" --tls-certificate "$place/$name.pem" --tls-key "$place/$name.key" \
    --tls-ca "$place/ours.pem" "$@"
}
write_local_campaign 3
code 0 as client run "$place/local.yaml"
grep -q "complete ms" "$place/out" || fail "no table: $(cat "$place/out")"
code 0 as client list
code 0 as client metrics
grep -q '^hopyard_outcomes_total{verdict="passed"} 3$' "$place/out" || fail "metrics: $(cat "$place/out")"
code 69 as stranger list
code 2 "$bin/hopyard" --connect "127.0.0.1:$port" list
code 1 as nobody list
grep -q "nobody.key" "$place/err" || fail "it does not name the file: $(cat "$place/err")"
code 0 "${hopyard[@]}" list

# What was logged is JSON, line by line, with campaign and trial.
while read -r line; do
  [ "$(printf "SELECT json_valid('%s');" "${line//\'/\'\'}" | sqlite3 :memory:)" = 1 ] || fail "no JSON: $line"
done <"$place/daemon.log"
id=$(query "SELECT campaign_id FROM v_campaign")
grep -q "\"campaign\":\"$id\",\"trial\":\"$id.00002\",\"verdict\":\"passed\"" "$place/daemon.log" ||
  fail "the log does not tell the trial: $(cat "$place/daemon.log")"
stop_daemon
