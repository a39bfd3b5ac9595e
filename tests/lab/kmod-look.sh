#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What gpreempt.ko costs while it only looks, counted in the deterministic lab.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

claim "a deterministic guest runs to its end without a complaint of the kernel"
try "$top/lab/run" --seed 0 --param poll_us=20000 --param no_system_mem_limit=1 --timeout 900 \
	--copy "$top/tests/lab/kmod/look.sh" -- sh ./look.sh
exits 0 || cat "$tmp/err"

claim "a look at 100 queues of 4 processes costs at most 4000 instructions"
check test "$(value looks)" -gt 1000
check test "$(value look)" -gt 500
check test "$(value look)" -le 4000
check test "$(value stopped)" -ge 3
echo "# $(value look) instructions every $(value every) ns: $(value look | awk -v every="$(value every)" \
	'{ printf "%.1f", 100 * ($1 / 3e9) / (every / 1e9) }') % of a core at 3e9 instructions/s"

# Of 0.3 s, with so many permille: looks, those put off, ns of one.
share() { value "share_$1" | tr '\n' ' ' | awk '{ print $3 - $1, $4 - $2, $5 }'; }
claim "looks take no more of a processor than they may: the others are put off, and counted"
check test "$(share 1000 | awk '{ print ($1 > 100 && $2 == 0) }')" = 1 || echo "# $(share 1000)"
# What a look takes varies, and there is one with each count of waves, which is not put off: twice as much at most.
check test "$(share 1 | awk '{ print ($1 > 10 && $1 * $3 <= 0.3e9 / 1000 * 2 && $2 * 4 > $1) }')" = 1 ||
	echo "# $(share 1)"
check test "$(share 1000 | cut -d ' ' -f 1)" -gt $(($(share 1 | cut -d ' ' -f 1) * 2))

claim "while no process may preempt another there is no look, no wakeup and no scan"
for what in looks wakeups rescans; do
	check test "$(value later_$what)" = "$(value idle_$what)"
done

# The median of a part in ns: MECHANISM 0|1 PART.
median() { value "$1_$2_$3" | awk '{ print $3 }'; }
echo "# from the look that saw it, medians in instructions (of a model):"
for mechanism in evict direct; do
	for floor in 0 1; do
		echo "# $mechanism $([ $floor = 1 ] && echo "floor:    " || echo "scheduler:")" \
			"command after $(median $mechanism $floor decide)," \
			"fence $(median $mechanism $floor save) later"
	done
done

claim "the scheduler's part, until the command is given, is at most 1.5 times the floor"
for mechanism in evict direct; do
	for floor in 0 1; do
		check test "$(value ${mechanism}_${floor}_decide | awk '{ print $1 }')" -ge 20
	done
	check test $(($(median $mechanism 0 decide) * 2)) -le $(($(median $mechanism 1 decide) * 3))
done
check test "$(value sums | tr '\n' ' ')" = "0 0 "
end
