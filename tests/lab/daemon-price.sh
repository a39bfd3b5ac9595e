#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What preemption by gpreemptd gives and takes, in the deterministic lab (times are of the model's device clock, the
# ledger applied): an online process beside an offline one that keeps the GPU full. One seed; five in the long tier.
# usage: daemon-price.sh [kfd-debug|evict|direct]: without the module, or with it, by this mechanism
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
way=${1:-kfd-debug}
seeds=1
[ -z "${GP_FULL:-}" ] || [ "$GP_FULL" = 0 ] || seeds='1 2 3 4 5'

claim "$way: the guest runs all of it, and every process finds its sums right"
# shellcheck disable=SC2086 # a list
try "$top/lab/run" --seed 0 --param marks=262144 --param idle_poll_us=0 --timeout 1500 \
	--copy "$build/daemon/gpreemptd" --copy "$build/tests/lab/gpcall" --copy "$GPREEMPT" \
	--copy "$top/tests/lab/daemon/common.sh" --copy "$top/tests/lab/daemon/price.sh" -- sh ./price.sh "$way" $seeds
exits 0 || cat "$tmp/err"
[ -z "${GP_KEEP:-}" ] || cp "$tmp/out" "$GP_KEEP"
check "$top/tests/lab/daemon/price-account" "$way" <"$tmp/out" >"$tmp/account"
# One object: {NAME: {SEED: what it printed}}
sed -n 's/^\([a-z-]*\) \([0-9]*\) \({.*\)/{"\1":{"\2":\3}}/p' "$tmp/out" "$tmp/account" |
	jq -s 'reduce .[] as $x ({}; . * $x)' >"$tmp/all"
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
def kernel: [.["with-offline"] | seeds | .kernel.workgroup_ns] | median;
def offline_completed: [.["with-offline"] | seeds | .completed] | median;
# Not of the medians, but of each seed.
def every(f): . as $all | [.account | keys[]] | all(. as $seed | $all | with_entries(.value |= {($seed): .[$seed]}) | f);
def online: [.with | seeds | .completed * .kernel.workgroup_ns] | median;
def account(name): [.account | seeds | .[name]] | median;
# A preemption as the daemon had it, by the clock of the device: taking off and putting back, without what lies between.
def moves: (account("stopping") + account("starting")) / account("preemptions");
'
figures='{alone: p99("alone"), native: p99("native"), with: p99("with"), suspend: suspend, lost: lost, least: account("least"),
	most: account("most"), other: account("other"), met: account("met"), doubt: account("doubt"), stopping: account("stopping"), off: account("off"), starting: account("starting"),
	online: online, stopped: counter("stopped")}'
check test "$(jq '[.[] | .[] | select(.program == "gpload") | .verified] | all' "$tmp/all")" = true

claim "$way: natively the online p99 is at least ten times that of the process alone"
holds 'p99("native") >= 10 * p99("alone")'

claim "$way: with gpreemptd it is at most that of the process alone + the longest look interval + two suspends"
# The default look_max is 50 us.
holds 'p99("with") <= p99("alone") + 50000 + 2 * suspend'

claim "$way: the device's account has every preemption that the daemon counts"
holds 'every(account("preemptions") == counter("stopped"))'

claim "$way: each offline kernel took its own time, what the device had it off, online work that it met, and nothing else"
# Within a command it is not said when waves stop or go on, and a kernel that began beside online work need not have shared
# with it for as long as it could: that is the doubt. It must be less than a kernel: else a preemption that lost a kernel's work
# once, which would then have been done again, could hide in it.
holds 'every(account("wrong") == 0 and account("doubt") < kernel and account("kernels") == offline_completed)'

claim "$way: the device had it off only while the daemon wanted that"
holds 'every(account("least") >= account("off") and account("taken") <= account("stopping") + account("off") + account("starting"))'

# Without the module waves are counted on the first XCC only, so the end of the work is known after the settle time, 500 us.
see="four looks" see_ns=200000
[ "$way" != kfd-debug ] || see="four looks and the settle time" see_ns=700000
claim "$way: and that is online work and the cost of preemptions: to take off, to put back, and $see to see the end of the work"
holds 'every(lost >= online and account("most") - online <= counter("stopped") * (moves + '$see_ns'))'

[ "$way" != direct ] || claim "direct: it was by direct"
[ "$way" != direct ] || check test "$(sed -n 's/^direct_stops //p' "$tmp/out" | sort -n | head -n 1)" -gt 0
echo "# of a model, ns, medians of seeds $seeds: $(jq -c "$median $figures" "$tmp/all")"
end
