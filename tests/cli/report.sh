#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt report: what it writes, that it is the same twice, and what it refuses.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

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

# A tree whose lab is a script that says what the lab would.
mkdir -p "$tmp/tree/build/cli" "$tmp/tree/lab"
cp "$GPREEMPT" "$tmp/tree/build/cli/gpreempt"
ln -s "$top/scenarios" "$tmp/tree/scenarios"
cat >"$tmp/tree/lab/run" <<'END'
#!/bin/sh
case "$*" in
*lab-colocate)
	printf '%-22s %12s %12s %12s %10s\n' online mean p50 p99 offline \
		alone "0.578 ms" "0.553 ms" "0.872 ms" - "with gpreemptd" "470.5 us" "469 us" "1.2 s" 347
	echo "every workgroup of all of them ran exactly once" ;;
*gpcost*) for o in suspend "module evict"; do
	echo "{\"operation\": \"$o\", \"queues\": 8, \"cost\": {\"median\": 16063}, \"modelled_ns\": 38164}"
done ;;
esac
END
echo 'echo "{\"operation\": \"evict\", \"error_permille\": 200, \"off\": true}"; exit 1' \
	>"$tmp/tree/lab/model-error"
printf '#!/bin/sh\necho "{\\"latency\\": \\"kmod/evict@50us\\", \\"wave_ns\\": {\\"median\\": 90000}}"\n' >"$tmp/tree/lab/latency"
chmod +x "$tmp/tree/lab/run" "$tmp/tree/lab/model-error" "$tmp/tree/lab/latency"
# shellcheck disable=SC2086
try "$tmp/tree/build/cli/gpreempt" report $SHORT -j 1 --lab -o "$tmp/b"

claim "--lab reads what the lab prints, and a command of it that fails is said and shown"
exits 0 && says_err "lab/model-error --json' failed"
lab() { jq -e "$1" "$tmp/b/report.json" >/dev/null || no "not so of report.json with --lab: $1"; }
lab '.lab.colocate.rows == [
	{name: "alone", mean: 578, p50: 553, p99: 872, offline_kernels: null},
	{name: "with gpreemptd", mean: 470.5, p50: 469, p99: 1200000, offline_kernels: 347}]'
lab '.lab.model_error.exit == 1 and .lab.colocate.exit == 0'
lab '.lab.costs.rows[1].name == "module evict-8" and .lab.costs.rows[1].cost.median == 16063'
lab '.lab.arrival.rows == [{latency: "kmod/evict@50us", name: "kmod/evict@50us", wave_ns: {median: 90000}}]'

claim "what stands for an interface or a placement in the lab is named, and is there"
# shellcheck disable=SC2016 # jq's variables
lab '[.interfaces.rows[].lab_stop] as $stops | [.lab.costs.rows[].operation] | all(. as $o | $stops | index($o))'
lab '[.placements.rows[].lab_arrival | values] | index("kmod/evict@50us") and index("kfd-debug@50us")'
lab '.lab.model_error.exit != 0 and .derived.operations_off.value == 1'
lab '.acceptance.bars | map(select(.path == "derived.operations_off"))[0].result == "fail"'
lab '.acceptance.bars | map(select(.path == "lab.colocate.exit"))[0].result == "pass"'

claim "a second run, on one processor, differs under wall_clock and in what the lab says only"
same='del(.wall_clock, .lab, .derived.operations_off, .derived.chapters) |
	.acceptance.bars |= map(select(.path | test("^lab|operations_off|chapters") | not))'
for r in a b; do jq "$same" "$tmp/$r/report.json" >"$tmp/$r.json"; done
check cmp "$tmp/a.json" "$tmp/b.json"
check test "$(jq .compare "$tmp/a/report.json" | wc -l)" -gt 100

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

claim "a length that is none is one line and exit 2, before anything is run"
try gpreempt report --length soon -o "$tmp/e"
exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err 'soon' && check test ! -e "$tmp/e"

claim "--lab without the source tree says where the lab is, exit 2, before anything is run"
mkdir -p "$tmp/usr/bin"
cp "$GPREEMPT" "$tmp/usr/bin/gpreempt"
try "$tmp/usr/bin/gpreempt" report --lab -o "$tmp/d"
exits 2 && says_err 'source tree' && check test ! -e "$tmp/d"
end
