#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The command gpreempt on the real driver, with gpreemptd and its loads: one boot, judged here.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}

# part NAME: what the guest kept under that name, without its exit code.
part() { awk -v want="== $1" '/^== / { on = $0 == want; next } on && !/^exit [0-9]+$/' "$tmp/all"; }
# ended NAME CODE: its exit code.
ended() {
	code=$(awk -v want="== $1" '/^== / { on = $0 == want; next } on && /^exit / { print $2 }' "$tmp/all")
	[ "$code" = "$2" ] || no "$1 ended with '$code', not $2: $(part "$1" | head -n 3)"
}
# of NAME FILTER: true of the JSON kept.
of() { part "$1" | jq -e "$2" >/dev/null || no "not so of $1: $2"; }
# drawn NAME FILTER: true of the Perfetto trace kept, which is sound.
drawn() {
	part "$1" | base64 -d >"$tmp/$1.pftrace" && "$top/tools/pftrace-json" "$tmp/$1.pftrace" >"$tmp/$1.json" ||
		no "$1: not a sound Perfetto trace"
	jq -e "$2" "$tmp/$1.json" >/dev/null || no "not so of $1: $2"
}

claim "a guest runs the daemon, the command and two loads without a complaint of the kernel"
try "$top/lab/run" --timeout 400 --copy "$build/cli/gpreempt" --copy "$build/daemon/gpreemptd" \
	--copy "$build/lab/bin/gpload" --copy "$top/tests/lab/commands/guest.sh" -- sh ./guest.sh
exits 0 || cat "$tmp/err"
cp "$tmp/out" "$tmp/all"

claim "doctor finds nothing to fail on the real driver, and the queue that is there"
ended doctor 0 && of doctor '.fail == 0 and .mechanism == "kfd-debug"' &&
	of doctor 'any(.checks[]; .check == "kfd-version" and (.found | test("^1[.]"))) and
		any(.checks[]; .check == "debugfs" and .result == "PASS" and (.found | test("[1-9] queues?$"))) and
		any(.checks[]; .check == "save-place" and (.found | test("^gpload.*: (host|its own) memory"))) and
		any(.checks[]; .check == "scheduler" and (.found | test("debugfs: CPSCH")))'

claim "doctor --bundle has the driver's topology, parameters, queues and log, and what the daemon lists"
ended bundle-made 0 && ended bundle 0 &&
	for f in topology/nodes/1/properties parameters/amdgpu/cwsr_enable debugfs/hqds status.json stats.json; do
		part bundle | grep -q "^$f$" || no "no $f in it: $(part bundle | tr '\n' ' ')"
	done
{ part bundle-log | grep -q 'amdgpu' || no "nothing of the driver: $(part bundle-log | head -n 3)"; } &&
	{ part bundle-mqds | grep -q 'PASID\|Compute' || no "no queue: $(part bundle-mqds | head -n 3)"; } &&
	of bundle-list '.processes[0].name == "gpload-offline"'

claim "run: the class was there with the first queue, though no rule gives it"
of alone '.processes[] | select(.name == "gpload-offline") | .class == "offline" and (.queues | length == 1)'

claim "list shows which processes are on the GPU and how often each was preempted"
ended list 0 && { part list | grep -q 'gpload-online  *online' || no "list: $(part list)"; } &&
	of list-json '[.processes[] | select(.name == "gpload-offline") | .. | .preempted? | numbers] | max > 0'

claim "a process that uses no GPU is exit 5; a trial of a policy says what would be"
ended list-none 5 && ended stats-none 5 && ended dry 0 &&
	{ part dry | grep -q '^policy fair would do' && part dry | grep -q '^slice  *7ms' || no "$(part dry)"; } &&
	of policy-after '.policy == "priority"'

# On a busy host the daemon may be faster than its recorder; that is said, and how much it was.
claim "record has the offline process off, for the online one"
ended record 0 && of record '.events > 20 * .lost' &&
	drawn timeline '.slices | any(.name == "off" and (.args.for // "" | test("gpload-online")))' &&
	drawn timeline '.flows | length > 0 and all(.from[0] | test("gpload-online")) and all(.to[0] | test("gpload-offline"))'

claim "record has the parts of preemptions and when both had work; what one call hides is one part, in stats too"
of record '.preemptions > 0' &&
	drawn timeline '[.slices[].name] | any(. == "detect") and any(. == "decide") and
		any(. == "command, save and switch") and any(. == "work") and all(. != "save")' &&
	{ part stats | grep -q 'gpload-online.* command, save and switch ' || no "stats: $(part stats)"; }

# The median: what was recorded is this run of a machine of unknown speed. Where online work hardly met offline work,
# preempting for it costs more than it saves, and the mean may say so; a request that met none is never worse off.
claim "what-if repeats what was recorded while no process was preempted: the server's requests, the training, and no more latency"
ended node 0 && of node '.records > 100 and .records > 20 * .lost' && ended what-if 0 &&
	of what-if '.schema == 1 and .recorded.acted == false and (.recorded.processes | length) == 2' &&
	of what-if '.recorded.processes[] | select(.name == "gpload-offline") | (.online | not) and .busy_ns > 0' &&
	of what-if '.recorded.processes[] | select(.name == "gpload-online") | .online and (.always_busy | not) and .requests > 10' &&
	of what-if '.ways[0].mechanism == "native" and .ways[0].requests > 10' &&
	of what-if '.ways as $w | [$w[] | select(.policy == "priority") | .p50_ns <= $w[0].p50_ns] | length == 3 and all'

claim "stats --prometheus counts what was stopped"
ended prometheus 0 && { part prometheus | awk '/^gpreempt_stopped_total[{]/ { n = $2 } END { exit !(n > 0) }' || no "nothing stopped"; }

claim "suspend holds it off and lets it go"
ended suspend 0 && of held '.processes[0] | .held_until_ns > 0 and .seats[0].state == "off"' &&
	of released '.processes[0] | .held_until_ns == null'

claim "another user may list, and neither bench nor record: exit 4, one line that says what it takes"
ended bench-denied 4 && { part bench-denied | grep -q 'cannot be traced.*; run it as root' || no "$(part bench-denied)"; } &&
	ended record-denied 4 && { part record-denied | grep -q 'needs root or the group gpreempt' || no "$(part record-denied)"; } &&
	check test "$(part bench-denied | wc -l)$(part record-denied | wc -l)" = 11 && ended list-bob 0

claim "root may raise; off is seen by status"
ended raise 0 && ended off 0 && of status '.enabled == false and .held == 0'

claim "bench leaves alone whom the daemon has; else it stops and starts as often as it is told, for each grace period"
ended bench-taken 1 && { part bench-taken | grep -q "gpreempt off" || no "$(part bench-taken)"; } && ended bench 0 &&
	of bench '.schema == 1 and [.rows[] | [.mechanism, .grace, .rounds, .queues]] == [["kfd-debug", 1, 5, 1], ["kfd-debug", 64, 5, 1]]' &&
	of bench '[.rows[].parts[] | .min_ns > 0 and .min_ns <= .median_ns and .median_ns <= .p99_ns and .p99_ns <= .max_ns] | all' &&
	of bench '.rows[0].parts | [.[].name] == ["unmap", "map", "total"] and .[2].min_ns >= .[0].min_ns + .[1].min_ns'

claim "without a policy the daemon only looks: record has when both had work, and no process was attached or taken off"
ended observed 0 && of observed '.events >= 20 * .lost' && of observer '.observe_only == true' &&
	of observer-counts '.counters | .attaches == 0 and .stops_asked == 0' &&
	drawn seen '[.slices[].name] | any(. == "work") and all(. != "off")' &&
	check test "$(part observed-online; part observed-offline)" = "0
0"

claim "on a machine without the module bench says which mechanisms it leaves out; the driver's own is measured"
of bench '[.left_out[].mechanism] == ["evict", "direct", "halt"] and (.left_out | all(.why | test("not loaded")))'

claim "with the module bench has a row for each mechanism and grace period, of a program that it runs itself"
ended bench-module 0 && of bench-module '.left_out == [] and [.rows[] | [.mechanism, .grace, .rounds, .queues]] ==
		[("kfd-debug", "evict", "direct", "halt") as $m | (1, 64) as $g | [$m, $g, 3, 1]]' &&
	of bench-module '[.rows[].parts[] | .min_ns > 0 and .min_ns <= .max_ns] | all' &&
	ended bench-halt 0 && of bench-halt '[.rows[].mechanism] == ["halt"]'

claim "every sum of both loads is right, and the daemon ends when told to"
ended offline 0 && ended online 0 && ended daemon 0
end
