#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt report: what it writes, that it is the same twice, and what it refuses.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/claims.sh"

# So short that no bar means anything; everything is run all the same.
SHORT="--quick --length 100ms"
json() { jq -e "$1" "$tmp/a/report.json" >/dev/null || no "not so of report.json: $1"; }

claim "it writes report.json and index.html, with every chapter, and says what passed"
# shellcheck disable=SC2086 # two options
try gpreempt report $SHORT -o "$tmp/a"
exits 0 && says 'bars pass' && says "$tmp/a/index.html"
json '.schema == 1'
for chapter in compare better steps interfaces placements vendors scale robust frontier suite \
	sources acceptance derived wall_clock; do
	json ".$chapter | length > 0"
done

claim "progress counts its steps, and ends where it said it would"
check grep -q '^1/[0-9]* compare: ' "$tmp/err" && tail -n 1 "$tmp/err" >"$tmp/last" &&
	check grep -q '^\([0-9]*\)/\1 suite: ' "$tmp/last"

claim "a second run, on one processor, differs under wall_clock only"
# shellcheck disable=SC2086
try gpreempt report $SHORT -j 1 -o "$tmp/b"
exits 0
for r in a b; do jq 'del(.wall_clock)' "$tmp/$r/report.json" >"$tmp/$r.json"; done
check cmp "$tmp/a.json" "$tmp/b.json"
check test "$(sed '/"wall_clock"/,/}/d' "$tmp/a/report.json" | cksum)" = \
	"$(sed '/"wall_clock"/,/}/d' "$tmp/b/report.json" | cksum)"

claim "every number has a unit, a source and what repeats it"
try "$top/tools/check-figures" "$tmp/a/report.json"
exits 0
jq '.compare |= del(.source)' "$tmp/a/report.json" >"$tmp/bare.json"
try "$top/tools/check-figures" "$tmp/bare.json"
exits 1 && says 'compare.length'

claim "a figure of a text that the report does not have, has otherwise or was not asked is refused"
wrong() { # a line of text, and what is said of it
	echo "$1" >"$tmp/text.md"
	try "$top/tools/check-figures" "$tmp/a/report.json" "$tmp/text.md"
	exits 1 && says "$2"
}
right() {
	echo "$1" >"$tmp/text.md"
	try "$top/tools/check-figures" "$tmp/a/report.json" "$tmp/text.md"
	exits 0
}
mean=$(jq '.compare.rows[] | select(.name == "native") | .online.mean' "$tmp/a/report.json")
path='<!-- report: compare.rows.native.online.mean -->'
right "It takes $(awk "BEGIN { printf \"%.2f\", $mean / 1e6 }") ms $path natively."
right "It takes $(awk "BEGIN { printf \"%.0f\", $mean / 1e3 }") us $path natively."
wrong "It takes $(awk "BEGIN { printf \"%.2f\", $mean / 1e6 + 0.02 }") ms $path natively." 'the report has'
wrong "It takes 3 ms <!-- report: compare.rows.nobody.online.mean --> natively." "no 'nobody' there"
wrong "It takes 3 ms natively." 'names no figure'
right "It waits 3 ms at most. <!-- given -->"

claim "what it says repeats a figure does"
command=$(jq -r .steps.our_costs.repeat "$tmp/a/report.json")
eval "try $command --json"
exits 0
check test "$(jq '.rows[] | select(.name == "ours-evict") | .breakdown.total.max' "$tmp/out")" = \
	"$(jq '.steps.our_costs.rows[] | select(.name == "ours-evict") | .total * 1000 | round' \
		"$tmp/a/report.json")"

claim "every row of compare is there, with a distribution and its parts"
json '[.compare.rows[].name] | index("native") and index("ours-evict") and index("ours-hint")'
json '[.compare.rows[] | select(.state != "not run") | .cdf | length] | unique == [33]'
json '[.compare.rows[] | select(.name | startswith("ours")) | .breakdown.save.mean > 0] | all'

claim "the page is one file: it loads nothing"
check test -s "$tmp/a/index.html"
check test "$(grep -c -E '(src|href)="?(https?:)?//|@import|url\(' "$tmp/a/index.html")" -eq 0
check grep -q '<title>gpreempt' "$tmp/a/index.html"

if [ -n "${GP_FULL-}" ]; then
	claim "a bar that must hold and does not is exit 1, and is named"
	cp -r "$top/scenarios" "$tmp/scenarios"
	sed -i 's/^name = priority/name = fifo/' "$tmp/scenarios/colocate.ini"
	# shellcheck disable=SC2086
	try env GPREEMPT_SCENARIOS="$tmp/scenarios" "$GPREEMPT" report $SHORT -o "$tmp/c"
	exits 1 && says 'fails.*must.*online work preempts'
fi

claim "a folder that cannot be used is one line and exit 2, before anything is run"
echo mine >"$tmp/file"
mkdir "$tmp/others"
echo mine >"$tmp/others/index.html"
for bad in "$tmp/file" "$tmp/nowhere/deep" /proc/gpreempt "$tmp/others"; do
	try gpreempt report -o "$bad"
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err "$bad"
done
check test "$(cat "$tmp/others/index.html")" = mine

claim "--lab without the source tree says where the lab is, exit 2, before anything is run"
mkdir -p "$tmp/usr/bin"
cp "$GPREEMPT" "$tmp/usr/bin/gpreempt"
try "$tmp/usr/bin/gpreempt" report --lab -o "$tmp/d"
exits 2 && says_err 'source tree' && check test ! -e "$tmp/d"
end
