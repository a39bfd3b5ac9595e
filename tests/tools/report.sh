#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run report: what it writes, that it is the same twice, and what it refuses.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# So short that no requirement is judged by its figures; everything is run all the same.
SHORT="--quick --length 100ms"
# The build in which the command under test is.
build=$(dirname "$(dirname "$GPREEMPT")")
report() { "$top/tools/run-report" "$build" "$@"; }
json() { jq -e "$1" "$tmp/a/report.json" >/dev/null || no "not so of report.json: $1"; }

claim "it writes report.json and index.html, with every chapter, and says which requirements are met"
# shellcheck disable=SC2086 # two options
try report $SHORT -o "$tmp/a"
exits 0 && says 'requirements are met in the model' && says "$tmp/a/index.html"
json '.schema == 2'
for chapter in compare better steps interfaces placements vendors scale robust frontier suite \
	sources acceptance derived wall_clock; do
	json ".$chapter | length > 0"
done
check test "$(ls "$tmp/a")" = "$(printf 'index.html\nreport.json')"

claim "progress on stderr counts every step once, up to their number"
check test "$(sed -n '$s,.*/\([0-9]*\) .*,\1,p' "$tmp/err")" -ge 80
sed 's,/.*,,' "$tmp/err" >"$tmp/counted"
seq "$(wc -l <"$tmp/err")" | check cmp - "$tmp/counted"
for chapter in compare steps interfaces placements vendors scale robust frontier suite; do
	check grep -q "^[0-9]*/[0-9]* $chapter: " "$tmp/err"
done

# A tree whose lab is a set of scripts that print what the lab would.
mkdir "$tmp/tree"
ln -s "$top/tools" "$top/scenarios" "$tmp/tree"
ln -s "$top/tests/tools/fake_lab" "$tmp/tree/lab"
# shellcheck disable=SC2086
try "$tmp/tree/tools/run-report" "$build" $SHORT -j 1 --lab -o "$tmp/b"

claim "--lab reads the JSON of the lab; a command of the lab that fails is named and shown"
exits 0 && says_err "lab/model-error --json' failed"
lab() { jq -e "$1" "$tmp/b/report.json" >/dev/null || no "not so of report.json with --lab: $1"; }
lab '.lab.colocate.rows[0] == {name: "alone", mean: 407, p50: 408, p99: 461, offline_kernels: null} and
	.lab.colocate.rows[2] == {name: "with gpreemptd", mean: 470.5, p50: 469, p99: 1200, offline_kernels: 347}'
lab '.lab.model_error.exit == 1 and .lab.colocate.exit == 0'
lab '.lab.costs.rows[2].name == "module evict-8" and .lab.costs.rows[2].cost.median == 16063'
lab '.lab.arrival.rows[0].name == "kmod/evict@50us" and .lab.arrival.rows[0].wave_ns.median == 90000'

claim "what stands for an interface or a placement in the lab is named, and is there"
# shellcheck disable=SC2016 # jq's variables
lab '([.interfaces.rows[] | .lab_stop, .lab_start]) as $named | [.lab.costs.rows[].operation] |
	all(. as $o | $named | index($o))'
lab '[.placements.rows[].lab_arrival | values] | index("kmod/evict@50us") and index("kfd-debug@50us")'
lab '[.placements.rows[].lab | values] | index("module, evict") and index("with gpreemptd")'
lab '.lab.model_error.exit != 0 and .derived.operations_off.value == 1'
lab '.acceptance.requirements | map(select(.path == "derived.operations_off"))[0].result == "not met"'
lab '.acceptance.requirements | map(select(.path == "lab.colocate.exit"))[0].result == "met"'

claim "a second run, on one processor, differs under wall_clock and in what the lab says only"
same='del(.wall_clock, .lab, .derived.operations_off, .derived.chapters) |
	.acceptance.requirements |= map(select(.path | test("^lab|operations_off|chapters") | not))'
for r in a b; do jq "$same" "$tmp/$r/report.json" >"$tmp/$r.json"; done
check cmp "$tmp/a.json" "$tmp/b.json"
check test "$(jq .compare "$tmp/a/report.json" | wc -l)" -gt 100

claim "every number has a unit, a source and what repeats it"
try "$top/tools/check-figures" "$tmp/a/report.json"
exits 0
jq '.compare |= del(.source)' "$tmp/a/report.json" >"$tmp/bare.json"
try "$top/tools/check-figures" "$tmp/bare.json"
exits 1 && says 'compare.length'

claim "doc/figures.json is made of a report: the figures that texts quote, and no others"
echo 'It runs for 0.1 s <!-- report: compare.length --> .' >"$tmp/text.md"
try "$top/tools/check-figures" --make "$tmp/a/report.json" "$tmp/text.md"
exits 0 && cp "$tmp/out" "$tmp/figures.json"
check test "$(jq -c '.figures | map_values(.value)' "$tmp/figures.json")" = '{"compare.length":100000000}'
try "$top/tools/check-figures" "$tmp/figures.json" "$tmp/text.md"
exits 0
echo 'Nothing.' >"$tmp/other.md"
try "$top/tools/check-figures" "$tmp/figures.json" "$tmp/other.md"
exits 1 && says 'compare.length: no text quotes it'
echo 'It runs for 1 s <!-- report: compare.rows.absent.mean --> .' >"$tmp/text.md"
try "$top/tools/check-figures" --make "$tmp/a/report.json" "$tmp/text.md"
exits 1 && says_err "no 'absent' there"

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
wrong "It takes 3 ms <!-- report: compare.rows.absent.online.mean --> natively." "no 'absent' there"
wrong "It takes 3 ms natively." 'names no figure'
for figure in 3ms '3 s' 3-ms '3 µs' 3% '3 percent' 3x '3 MB' '3 milliseconds'; do
	wrong "It takes $figure natively." "'$figure' names no figure"
done
right "It waits 3 ms at most. <!-- given -->"
right "The option \`--for 3s\` of \`monitor-5ms\`."

claim "what it says repeats a figure does"
command=$(jq -r .steps.our_costs.repeat "$tmp/a/report.json")
eval "try $command --json"
exits 0
check test "$(jq '.rows[] | select(.name == "ours-evict") | .breakdown.total.max' "$tmp/out")" = \
	"$(jq '.steps.our_costs.rows[] | select(.name == "ours-evict") | .total * 1000 | round' \
		"$tmp/a/report.json")"

ln -s "$top/tools" "$tmp/tools"
(cd "$tmp" && eval "$(jq -r '.interfaces.rows[0].switches.repeat' "$tmp/a/report.json")" >"$tmp/spans")
check test "$(sed -n 's/.*"stopping",[^,]*,\(.*\)].*/\1/p' "$tmp/spans")" = \
	"$(jq '.interfaces.rows[0].switches.stop_max' "$tmp/a/report.json")"

claim "every row of compare is there, with a distribution and its parts"
json '[.compare.rows[].name] | index("native") and index("ours-evict") and index("ours-hint")'
json '[.compare.rows[] | select(.state != "not run") | .cdf | length] | unique == [33]'
json '[.compare.rows[] | select(.name | startswith("ours")) | .breakdown.save.mean > 0] | all'

claim "the page is one file: it loads nothing"
check test -s "$tmp/a/index.html"
check test "$(grep -c -E '(src|href)="?(https?:)?//|@import|url\(' "$tmp/a/index.html")" -eq 0
check grep -q '<title>gpreempt' "$tmp/a/index.html"

if [ -n "${GP_FULL-}" ]; then
	claim "a requirement that must be met and is not is exit 1, and is named"
	cp -r "$top/scenarios" "$tmp/scenarios"
	sed -i 's/^name = priority/name = fifo/' "$tmp/scenarios/colocate.ini"
	# shellcheck disable=SC2086
	try env GPREEMPT_SCENARIOS="$tmp/scenarios" "$top/tools/run-report" "$build" $SHORT -o "$tmp/c"
	exits 1 && says 'not met (must): online work preempts'
fi

claim "a folder that cannot be used is one line and exit 2, before anything is run"
echo mine >"$tmp/file"
mkdir "$tmp/others"
echo mine >"$tmp/others/index.html"
for bad in "$tmp/file" "$tmp/nowhere/deep" /proc/gpreempt "$tmp/others"; do
	try report -o "$bad"
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err "$bad"
done
check test "$(cat "$tmp/others/index.html")" = mine

claim "an option that is none, or with a value that cannot be, is one line and exit 2, before anything is run"
for bad in '--length soon' '--length 5' '--seed -1' '--jobs 0' '--jobs' '--frobnicate' 'extra'; do
	# shellcheck disable=SC2086 # words
	try report $bad -o "$tmp/e"
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err "${bad#* }" && check test ! -e "$tmp/e"
done

claim "--lab without a lab is one line and exit 2, before anything is run"
rm "$tmp/tree/lab"
try "$tmp/tree/tools/run-report" "$build" --lab -o "$tmp/d"
exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err 'lab/run' && check test ! -e "$tmp/d"

claim "a run that fails is its message and its exit code, and an earlier report stays"
cp "$tmp/a/report.json" "$tmp/before.json"
mkdir "$tmp/empty"
try env GPREEMPT_SCENARIOS="$tmp/empty" "$top/tools/run-report" "$tmp/nowhere" -o "$tmp/a"
exits 2 && says_err 'cli/gpreempt' && check cmp "$tmp/before.json" "$tmp/a/report.json"
printf '#!/bin/sh\ncase $1 in\n--version) echo gpreempt 0 ;;\n*) echo "gpreempt: broken" >&2; exit 2 ;;\nesac\n' >"$tmp/broken"
mkdir -p "$tmp/build/cli"
cp "$tmp/broken" "$tmp/build/cli/gpreempt"
chmod +x "$tmp/build/cli/gpreempt"
# shellcheck disable=SC2086
try "$top/tools/run-report" "$tmp/build" $SHORT -o "$tmp/a"
exits 2 && says_err 'gpreempt: broken' && check cmp "$tmp/before.json" "$tmp/a/report.json"
check test "$(ls "$tmp/a")" = "$(printf 'index.html\nreport.json')"

claim "gpreempt report is one line that names ./run report, and exit 2"
for words in report 'report --quick -o out' 'help report'; do
	# shellcheck disable=SC2086 # words
	try gpreempt $words
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err './run report' && check test ! -s "$tmp/out"
done
end
