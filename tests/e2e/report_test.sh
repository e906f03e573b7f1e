#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A report in a real browser: nothing in its console, a mark for every sample, tables that say what the database says, and
# no text of a campaign that becomes markup. Without Chromium this fails: nothing else shows that the page works.
. "$(dirname "$0")/lib.sh"

browser=$(command -v chromium) || fail "chromium is not there (apt-get install chromium); without it the report is not tested"

# chromium_run OPTION… URL; its console goes to $place/console
chromium_run() {
  # The sandbox needs root's helper or namespaces that a container may lack; the page is our own.
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$place/profile" --enable-logging=stderr --virtual-time-budget=20000 "$@" 2>"$place/browser.log" ||
    fail "chromium $*"
  grep "CONSOLE" "$place/browser.log" >"$place/console" || true
}
expect_quiet() { [ ! -s "$place/console" ] || fail "the browser's console: $(cat "$place/console")"; }
# How many times an extended regular expression is in the DOM.
marks() { grep -oE "$1" "$place/dom.html" | wc -l; }
# values TABLES NAME: the exact values of one class in tables of one kind, sorted.
values() {
  tr -d '\n' <"$place/dom.html" | grep -oE "<table class=\"$1\">.*" | sed 's|<table|\n<table|g' |
    grep "^<table class=\"$1\">" | sed 's|</table>.*||' | grep -oE "<data class=\"$2\" value=\"[^\"]*\"" |
    sed 's/.*value="//; s/"$//' | awk '{ printf "%.4f\n", $1 }' | sort
}
from_view() { query "$1" | awk '{ printf "%.4f\n", $1 }' | sort; }
expect_values() { # what, tables, class, query
  values "$2" "$3" >"$place/page.values"
  from_view "$4" >"$place/view.values"
  [ -s "$place/view.values" ] || fail "$1: the view has none"
  diff -u "$place/view.values" "$place/page.values" >&2 || fail "$1: the page does not say what the view says"
}

echo "== a campaign on the virtual clock, and its report"
"${hopyard[@]}" run "$source_dir/scenarios/quick.yaml" --clock virtual --repetitions 6 --jobs 2 >"$place/run.log" 2>&1 || fail "run"
id=$(query "SELECT campaign_id FROM v_campaign")
"${hopyard[@]}" report "$id" -o "$place/report.html"
"${hopyard[@]}" report last -o - >"$place/again.html"
cmp "$place/report.html" "$place/again.html" || fail "the same report twice differs"
status=0
"${hopyard[@]}" report "$id" -o "$place/report.html" 2>"$place/err.log" || status=$?
expect "exit code where the file is there" 1 "$status"
cmp -s "$place/report.html" "$place/again.html" || fail "a file that was there was changed"
status=0
"${hopyard[@]}" report nobody -o "$place/none.html" 2>"$place/err.log" || status=$?
expect "exit code for no such campaign" 1 "$status"
[ -z "$(find "$place" -maxdepth 1 -name 'none.html*')" ] || fail "something is left of a report that failed"
printf 'size: %s bytes\n' "$(stat -c %s "$place/report.html")"

echo "== every chart open: marks and tables against the database"
chromium_run --dump-dom "file://$place/report.html#all" >"$place/dom.html"
expect_quiet
samples=$(query "SELECT SUM(n) FROM v_cell WHERE campaign_id = '$id'")
expect "dots" "$samples" "$(marks '<circle class="s( has-timeline)?"')"
expect "medians drawn" "$(query "SELECT COUNT(median_ns) FROM v_cell")" "$(marks '<line class="median"')"
pairs=$(query "SELECT COUNT(*) FROM v_pair")
expect "differences drawn" "$pairs" "$(marks '<circle class="hl( open)?"')"
expect "intervals drawn" "$(query "SELECT COUNT(ci_low_ns) FROM v_pair")" "$(marks '<line class="interval"')"
for name in median min max; do
  expect_values "$name" cells "$name" "SELECT ${name}_ns FROM v_cell WHERE ${name}_ns IS NOT NULL"
done
expect_values "Hodges-Lehmann" pairs hl "SELECT hl_ns FROM v_pair"
expect_values "interval's lower end" pairs low "SELECT ci_low_ns FROM v_pair WHERE ci_low_ns IS NOT NULL"
expect_values "interval's upper end" pairs high "SELECT ci_high_ns FROM v_pair WHERE ci_high_ns IS NOT NULL"
expect_values "p" pairs p "SELECT p_value FROM v_pair"
expect "images with a title and a description" "$(marks '<svg [^>]*role="img"')" \
  "$(marks '<svg [^>]*aria-labelledby="title-[0-9]+ about-[0-9]+"')"
[ "$(marks '<svg [^>]*role="img"')" -gt 10 ] || fail "too few charts"

echo "== the timeline of the first trial offered"
first=$(grep -oE '<option value="[^"]*"' "$place/dom.html" | head -n 1 | sed 's/.*value="//; s/"//')
trial=$id$first
grep -q "Trial $trial:" "$place/dom.html" || fail "no words about trial $trial"
expect "records drawn" "$(query "SELECT COUNT(*) FROM v_tls_record WHERE trial_id = '$trial'")" \
  "$(marks '<rect class="record( other)? hover"')"
expect "DATA frames drawn" \
  "$(query "SELECT COUNT(*) FROM v_h2_frame WHERE trial_id = '$trial' AND direction = 'received' AND type = 'DATA'")" \
  "$(marks '<rect class="bar hover"')"

echo "== without scripts: the question and the tables"
cp "$place/report.html" "$place/dom.html"  # what a browser without scripts shows is what was sent
grep -q "<h1>Does a smaller TLS record" "$place/dom.html" || fail "no question"
expect_values "medians without scripts" cells median "SELECT median_ns FROM v_cell WHERE median_ns IS NOT NULL"
expect "dots without scripts" 0 "$(marks '<circle class="s')"

echo "== light, dark, narrow, and paper"
for theme in light dark; do
  [ $theme = dark ] && scheme=0 || scheme=1
  for width in 1200 400; do
    chromium_run --hide-scrollbars --blink-settings=preferredColorScheme=$scheme --window-size=$width,2400 \
      --screenshot="$place/$theme-$width.png" "file://$place/report.html" >/dev/null
    expect_quiet
    [ "$(stat -c %s "$place/$theme-$width.png")" -gt 20000 ] || fail "the $theme page, $width wide, is empty"
  done
done
! cmp -s "$place/light-1200.png" "$place/dark-1200.png" || fail "light and dark are the same"
chromium_run --no-pdf-header-footer --print-to-pdf="$place/report.pdf" "file://$place/report.html" >/dev/null
expect_quiet
[ "$(head -c 5 "$place/report.pdf")" = "%PDF-" ] || fail "no PDF"
[ -z "${HOPYARD_KEEP_REPORT:-}" ] || cp "$place"/*.png "$place/report.pdf" "$place/report.html" "$HOPYARD_KEEP_REPORT"

echo "== a campaign's words are words"
cat >"$place/nasty.yaml" <<'END'
# </pre></script><script>document.title = "taken"</script>
name: nasty
question: '</script><img src=x onerror="document.title=1"><script>alert(1)</script> & what then?'
repetitions: 1
cases: [{name: A, variant: stock, note: '<svg onload="document.title=2">'}]
paths: [{name: local, kind: unix}]
workloads: [{name: h1-one, protocol: h1, requests: [{name: body, body: 1KiB}]}]
END
"${hopyard[@]}" run "$place/nasty.yaml" >"$place/run.log" 2>&1 || fail "run"
"${hopyard[@]}" report last -o "$place/nasty.html"
chromium_run --dump-dom "file://$place/nasty.html#all" >"$place/dom.html"
expect_quiet
expect "title" "<title>nasty: Hopyard report</title>" "$(grep -o '<title>nasty[^<]*</title>' "$place/dom.html")"
expect "foreign elements" 0 "$(marks '<(img|svg onload)')"
expect "scripts" 2 "$(marks '</script>')"
