#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What preemption by gpreemptd gives and takes, in the deterministic lab (times are of the model's device clock, the
# ledger applied): an online process beside an offline one that keeps the GPU full. One seed; five in the long tier.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/../cli/claims.sh"

build=${GP_BUILD:-$top/build}
seeds=1
[ -z "${GP_FULL:-}" ] || [ "$GP_FULL" = 0 ] || seeds='1 2 3 4 5'

claim "the guest runs all of it, and every process finds its sums right"
# shellcheck disable=SC2086 # a list
try "$top/lab/run" --deterministic --timeout 1500 --copy "$build/daemon/gpreemptd" --copy "$build/tests/gpcall" \
	--copy "$top/tests/lab/daemon/common.sh" --copy "$top/tests/lab/daemon/price.sh" -- sh ./price.sh $seeds
exits 0 || cat "$tmp/err"
# One object: {NAME: {SEED: what it printed}}
sed -n 's/^\([a-z-]*\) \([0-9]*\) \({.*\)/{"\1":{"\2":\3}}/p' "$tmp/out" | jq -s 'reduce .[] as $x ({}; . * $x)' >"$tmp/all"
holds() { jq -e "$median $1" "$tmp/all" >/dev/null || no "$1: $(jq -c "$median $figures" "$tmp/all")"; }

# All figures are medians over the seeds, in ns.
# shellcheck disable=SC2016 # jq's
median='
def median: sort | .[length / 2 | floor];
def seeds: keys[] as $seed | .[$seed];
def p99(name): [.[name] | seeds | .latency_ns.p99] | median;
def part(name): [.parts | seeds | .parameters.processes[0].parts[] | select(.name == name) | .p50_ns] | median;
# One call does it all, so the parts of a suspend are in one of them.
def suspend: part("command") + part("save") + part("switch");
def counter(name): [.counters | seeds | .parameters.processes[0].counters[name]] | median;
# Of the offline process: how long it took, less what its kernels take when it is alone.
def lost: [.["with-offline"] as $with | .["offline-alone"] as $alone | $with | keys[] |
	$with[.].elapsed_ns - $with[.].completed * $alone[.].elapsed_ns / $alone[.].completed] | median;
def online: [.with | seeds | .completed * .kernel.workgroup_ns] | median;
def off: counter("off_ns") + counter("stopping_ns");
'
figures='{alone: p99("alone"), native: p99("native"), with: p99("with"), suspend: suspend, lost: lost, off: off, online: online,
	stopped: counter("stopped")}'
check test "$(jq '[.[] | .[] | select(.program == "gpload") | .verified] | all' "$tmp/all")" = true

claim "natively the online p99 is at least ten times that of the process alone"
holds 'p99("native") >= 10 * p99("alone")'

claim "with gpreemptd it is at most that of the process alone + the longest look interval + two suspends"
# The default look_max is 50 us.
holds 'p99("with") <= p99("alone") + 50000 + 2 * suspend'

claim "what the offline process lost is the time that the daemon had it off, and nothing else"
# The daemon's clock is the guest's, in which the model's own instructions take time too: a fifth of it here.
holds 'lost <= off and lost >= off * 0.7'

claim "and that is the online work and less than a millisecond for each preemption"
holds 'lost >= online and lost - online <= 1000000 * counter("stopped")'

echo "# of a model, ns, medians of seeds $seeds: $(jq -c "$median $figures" "$tmp/all")"
end
