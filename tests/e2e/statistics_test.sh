# SPDX-License-Identifier: Apache-2.0
# A real campaign's figures, declared comparisons included, are those that another program computes from its exported
# database; the command line and exports give what the views say.
. "$(dirname "$0")/lib.sh"

cat >"$place/square.yaml" <<'END'
name: square
question: Do figures of real trials agree with those of another program?
repetitions: 7
cases:
  - {name: C, variant: stock, server: {ssl_buffer_size: 16k}}
  - {name: D, variant: stock, server: {ssl_buffer_size: 4k}}
  - {name: F, variant: static4k, server: {ssl_buffer_size: 16k}}
  - {name: G, variant: static4k, server: {ssl_buffer_size: 4k}}
paths: [{name: local, kind: unix}]
workloads:
  - {name: h1-128k, protocol: h1, requests: [{name: body, body: 128KiB}]}
  - name: h2-two
    protocol: h2
    requests: [{name: bulk, body: 256KiB}, {name: later, body: 4KiB, after: {request: bulk, body: 32KiB}}]
equivalence:
  - {cases: [D, F, G], margin: 10ms}
  - {cases: [C, D], margin: 1us}
factorials:
  - {name: buffer-fragment, neither: C, first: D, second: F, both: G}
END
"${hopyard[@]}" run "$place/square.yaml" >"$place/summary.txt" 2>>"$place/run.log" || fail "the campaign: $?"

grep -q '^Equivalence within the margin' "$place/summary.txt" || fail "the summary has no equivalences"
grep -q 'buffer-fragment: (G - F) - (D - C)' "$place/summary.txt" || fail "the summary has no interactions"
expect "margins" "1000 10000000" \
  "$(query "SELECT group_concat(margin_ns, ' ') FROM (SELECT DISTINCT margin_ns FROM v_pair WHERE margin_ns > 0 ORDER BY 1)")"
expect "pairs without a margin" "2" \
  "$(query "SELECT COUNT(DISTINCT case_a || case_b) FROM v_pair WHERE margin_ns IS NULL")"
pairs=$(query "SELECT COUNT(*) FROM v_pair WHERE case_a = 'D' AND case_b = 'F'")
"${hopyard[@]}" --json compare last --pair D,F >"$place/compare.json" 2>>"$place/run.log"
expect "compared figures with their tests" "$pairs" "$(grep -c '"p_above_low"' "$place/compare.json")"
expect "their interactions" "$(query "SELECT COUNT(*) FROM v_interaction")" \
  "$(grep -c '"factorial": "buffer-fragment"' "$place/compare.json")"
"${hopyard[@]}" export last --view v_interaction --format csv >"$place/interaction.csv" 2>>"$place/run.log"
expect "exported interactions" "$(query "SELECT COUNT(*) + 1 FROM v_interaction")" "$(wc -l <"$place/interaction.csv")"

"${hopyard[@]}" export last --format sqlite --output "$place/copy.db" 2>>"$place/run.log"
/usr/bin/python3 -c 'import scipy.stats' 2>/dev/null || { echo "python3-scipy is not installed" && exit 77; }
/usr/bin/python3 "$source_dir/tests/unit/stats/check_figures.py" "$place/copy.db" || fail "another program's figures differ"
