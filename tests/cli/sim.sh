#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt sim and replay, as a user types them.
# shellcheck disable=SC2086 # $short is a list of words
. "$(dirname "$0")/../shared/claims.sh"

# Enough for a dozen requests; the figures themselves are the scenarios' business.
short='--length 300ms --set run.warmup=50ms --set run.expect=none'

same() { cmp -s "$1" "$2"; }

claim "a scenario that came with gpreempt is found by its name"
try gpreempt sim colocate $short
exits 0 && says 'model: virtual MI308X, no hardware' && says '^infer' && says '^train' && says '^detect'

claim "an expectation that does not hold is exit 1 and is said"
try gpreempt sim colocate $short --set 'run.expect=all preemptions = 1'
exits 1 && says 'FAILED' && says 'preemptions = 1'

claim "JSON is the row object with schema, scenario and seed"
try gpreempt sim colocate $short --seed 3 --json
exits 0 && json '.schema == 1 and .scenario == "colocate" and .seed == 3 and .state == "ok" and
	.served <= .offered and .online.p50 <= .online.p99 and .added.mean > 0 and .ratio.mean > 1 and
	.offline_goodput > 0.5 and .work_lost == 0 and .work_doubled == 0 and
	.breakdown.total.mean > 0 and .weakest_source == "assumed"'

claim "every time in the JSON is an integer"
json '[.online[], .added[], (.breakdown[] | .[])] | all(. == floor)'

claim "the same scenario and seed give the same bytes, another seed others"
cp "$tmp/out" "$tmp/first"
try gpreempt sim colocate $short --seed 3 --json --jobs 1
check same "$tmp/first" "$tmp/out"
try gpreempt sim colocate $short --seed 4 --json
check test "$(jq .seed "$tmp/out")" = 4
check test "$(jq .online.mean "$tmp/out")" != "$(jq .online.mean "$tmp/first")"

claim "with policy fifo no task is ever preempted"
try gpreempt sim colocate $short --policy fifo --json
exits 0 && json '.preemptions == 0 and .breakdown == null'

claim "a Perfetto trace is written and is not empty"
try gpreempt sim colocate $short --trace "$tmp/t.pftrace"
exits 0 && says 'wrote ' && check test -s "$tmp/t.pftrace" &&
	check grep -q infer "$tmp/t.pftrace"

claim "a Perfetto trace has sound tracks, slices and flows, and every preemption has its parts and victims"
sound() { check "$top/tools/pftrace-json" "$1" >"$tmp/t.json"; }
sound "$tmp/t.pftrace" &&
	json '[.tracks[].path[0]] | any(. == "infer (2)") and any(. == "train (1)")' "$tmp/t.json" &&
	json '[.tracks[].path] | any(. == ["infer (2)", "requests"]) and any(. == ["train (1)", "GPU 0 queue 0"])' "$tmp/t.json" &&
	json '[.slices[] | select(.name == "preemption")] | length > 3' "$tmp/t.json" &&
	json '([.slices[] | select(.name == "preemption").args.victims] | add) == (.flows | length)' "$tmp/t.json" &&
	json '[.slices[] | select(.depth == 1).name] | unique == ["command", "decide", "detect", "save", "switch"]' "$tmp/t.json" &&
	json '[.counters[].track[1]] | unique == ["GPU 0 pending", "GPU 0 waves"]' "$tmp/t.json"

claim "traces of several GPUs, of faults and of a run without a scheduler are sound"
for s in multi-gpu-gang faults-process-death 'colocate --set monitor.placement=none'; do
	# shellcheck disable=SC2086 # options
	try gpreempt sim $s --length 200ms --trace "$tmp/s.pftrace"
	check test -s "$tmp/s.pftrace" && sound "$tmp/s.pftrace"
done

claim "a Chrome trace is refused in one line that names the replacement"
try gpreempt sim colocate $short --trace "$tmp/chrome.json"
exits 2 && says_err 'chrome.json: .*\.pftrace' && check test ! -e "$tmp/chrome.json" &&
	check test "$(wc -l <"$tmp/err")" -eq 1

claim "a trace that cannot be written is exit 2"
try gpreempt sim colocate --length 100ms --trace "$tmp/none/t.pftrace"
exits 2 && says_err "$tmp/none/t.pftrace"

claim "a recorded run replays bit by bit"
try gpreempt sim colocate $short --trace "$tmp/r.gptrace"
exits 0
try gpreempt replay "$tmp/r.gptrace"
exits 0 && says 'same' && says 'actions'
try gpreempt replay "$tmp/r.gptrace" --json
exits 0 && json '.same and .difference == null and .actions > 0 and
	.inputs + .outputs == .records'

claim "a changed decision is exit 1 and is shown"
cp "$tmp/r.gptrace" "$tmp/changed.gptrace"
# The first action: kind 64 at byte 8 of its record. Its first argument is at byte 24.
at=$(od -An -v -tu4 -j8 -w88 "$tmp/r.gptrace" | awk '$3 == 64 { print NR - 1; exit }')
printf '\377' | dd of="$tmp/changed.gptrace" bs=1 seek=$((8 + 88 * at + 24)) conv=notrunc 2>/dev/null
try gpreempt replay "$tmp/changed.gptrace"
exits 1 && says 'different' && says "record $at" && says 'recorded' && says 'replayed'

claim "processes = N makes N tasks with work of their own, and too many are refused"
try gpreempt sim colocate --length 300ms --set run.warmup=10ms --set run.expect=none \
	--set train.processes=3 --json
exits 0 && check test "$(jq -r '[.tasks[].name] | join(" ")' "$tmp/out")" = \
	"train infer train-2 train-3" &&
	check test "$(jq '[.tasks[] | select(.role == "offline") | .work] | unique | length' \
		"$tmp/out")" -eq 3
try gpreempt sim colocate --set train.processes=64
exits 2 && says_err 'more than 64 processes'

claim "--rows runs it as that row, and several rows are refused"
try gpreempt sim colocate --length 300ms --set run.warmup=10ms --set run.expect=none --rows native --json
exits 0 && json '.preemptions == 0 and .total_vs_native == 1'
try gpreempt sim colocate --length 300ms --rows native,ours-evict
exits 2 && says_err "'native,ours-evict' names several rows"

claim "JSON has each expectation, whether it holds and why not"
try gpreempt sim colocate --length 300ms --set run.expect=none --set 'run.expect=infer served > 1' \
	--set 'run.expect=infer served > 1000' --json
exits 1 && json '[.expects[] | .holds] == [true, false] and .expects[0].why == "" and
	(.expects[1].why | contains("it is")) and .expects[1].expects == "infer served > 1000" and
	.expectations_failed == [.expects[1].why]'

claim "what is no trace, or is cut short, is exit 2 with a sentence"
try gpreempt replay "$0"
exits 2 && says_err 'not a trace'
head -c 100 "$tmp/r.gptrace" >"$tmp/short.gptrace"
try gpreempt replay "$tmp/short.gptrace"
exits 2 && says_err 'cut short'
try gpreempt replay "$tmp/nowhere.gptrace"
exits 2 && says_err 'No such file'
end
