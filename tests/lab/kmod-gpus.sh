#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt.ko by evict and by direct, with two GPUs: a gang over both, each with work of its own, many preemptions
# from several processes; with read pointers that pass a packet at its launch. With GP_FULL=1 also with those that do at
# its completion, and the eight steps with a hundred queues. The guest prints facts.
# shellcheck disable=SC2016 # conditions are awk's
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

many=10 steps='' pointers=launch timeout=500
[ "${GP_FULL:-0}" = 0 ] || many=1000 steps="evict direct" pointers="launch completion" timeout=1700

holds_of() { # NAME CONDITION: an awk condition on its words
	check test "$(value "$1" | awk "{ print ($2) }")" = 1 || echo "# $1 $(value "$1")"
}

step() { is "${way}_step_$1" "$2"; }
judge() { # completion | launch
	claim "a guest with two GPUs and read pointers that move at $1 runs the module without a complaint of the kernel"
	# shellcheck disable=SC2086 # a list
	try "$top/lab/run" --gpus 2 --param rptr_at="$1" --param no_system_mem_limit=1 --timeout $timeout \
		--copy "$top/tests/lab/kmod/kmod.sh" --copy "$top/tests/lab/kmod/gpus.sh" -- sh ./gpus.sh $many $steps
	exits 0 || cat "$tmp/err"

	for way in evict direct; do
		claim "$way: a gang with a rank on each GPU is held and let back as a whole"
		is ${way}_gang_held "off off" && is ${way}_gang_back "on on"

		claim "$way: it is taken off both GPUs for online work on one of them, and every process verifies"
		check test "$(value ${way}_gang_stopped)" -ge 2
		holds_of ${way}_gang_saved '$3 > $1 && $4 > $2'
		is ${way}_gang_lost 0 && is ${way}_gang_online 0

		claim "$way: on GPUs with different online processes each preempts its own, and every process verifies"
		check test "$(value ${way}_own_stopped)" -ge 2
		holds_of ${way}_own_saved '$3 > $1 && $4 > $2'
		is ${way}_own_lost 0 && is ${way}_own "$(printf '0\n0\n0\n0')"

		# stopped started evict_cycles direct_stops direct_refused lost UNMAP_QUEUES QUERY_STATUS RUN_LIST
		claim "$way: three online processes preempt two offline ones $many times; what was stopped was started"
		check test "$(value never_quiet)" = ""
		holds_of ${way}_often "\$1 >= $many && \$1 == \$2 && \$6 == 0"
		is ${way}_often_sums "$(printf '0\n0\n0\n0\n0')"

		claim "$way: the device saw a fence for each of the module's stops and cycles, and a runlist for each cycle"
		holds_of ${way}_often '$8 == $3 + $4 && $9 == $3'
	done

	claim "evict: and an unmap for each cycle, and for nothing else"
	holds_of evict_often '$7 == $3 && $4 == 0'
	claim "direct: and an unmap for each cycle and each victim of a stop, and for nothing else"
	holds_of direct_often '$4 > 0 && $7 >= $3 + $4 && $7 <= $3 + $1'
	holds_of direct_often '$5 > 0 || $7 == $3 + $1'
	check test "$(value direct_own_direct)" -gt 0

	for way in $steps; do
		claim "$way: 80 offline and 20 online queues: created (1), runs (2), created (3), preempted (4), online runs (5)"
		step 1 created && step 2 runs && step 3 created && step 4 off && step 5 runs

		claim "$way: ... while offline completes nothing and has no wave (6), is let back (7) and goes on (8)"
		step 6 '0 0' && step 8 runs && step online 0 && step offline 0
		# There direct refuses, and evict is used.
		[ "$way" = evict ] || check test "$(value "${way}_steps_refused")" -gt 0
	done

	claim "every wave that was saved was restored, on both"
	holds_of restored '$1 == $2 && $3 == $4'

	claim "the module can be unloaded then"
	is rmmod 0
}

for at in $pointers; do
	judge "$at"
done
end
