#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# test_priority_scheduling.py on the real driver: pytest in the guest, one boot, its claims are ours. The long
# tier measures, in deterministic time, and sees the tests fail when they must.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
full=${GP_FULL:-0}

# What measures is for the long tier.
tests='-k not(performance)'
[ "$full" = 0 ] || tests=

check "$top/lab/python-tree" "$build" "$tmp/python.tar"

# guest LAB-OPTIONS... -- RUN...: what it printed is in $tmp/all.
guest() {
	try "$top/lab/run" --copy "$tmp/python.tar" --copy "$top/tests/lab/python/guest.sh" "$@"
	cp "$tmp/out" "$tmp/all"
	exits 0 || cat "$tmp/err"
}
# part RUN: its output. code RUN: the exit code of its pytest.
part() { awk -v want="== $1" '/^== / { on = $0 == want; next } on' "$tmp/all"; }
code() { part "$1" | sed -n 's/^exit //p'; }
# because RUN TEXT: it failed of that; else what it failed of is shown.
because() {
	part "$1" | grep -q "$2" && return
	no "it failed of something else"
	part "$1" | sed -n 's/^# E  */# /p'
}
# The claims of pytest as ours.
claims_of() {
	part "$1" >"$tmp/part"
	while read -r line; do
		case $line in
		'ok - '* | 'not ok - '*)
			claim "${line#*ok - }"
			[ "${line#not }" = "$line" ] || no "pytest says no"
			;;
		esac
	done <"$tmp/part"
	sed -n '/= figures =/,$ { /^# ===/!s/^# /#| /p }' "$tmp/part"
}

claim "a guest runs pytest beside gpreemptd, and the kernel has no complaint"
guest --timeout 280 -- sh ./guest.sh works:GPREEMPT_TEST_SECONDS=2/"$tests"
check test "$(code works)" = 0 || part works
claims_of works
check test "$claims" -ge 12

if [ "$full" != 0 ]; then
	# The reason why each of these must fail is in python/tests/conftest.py.
	claim "the tests fail when the daemon is stopped"
	guest --timeout 900 -- sh ./guest.sh no-daemon/'-k case_1 -x' \
		off-resume:GPREEMPT_TEST_BREAK=resume/'-k case_1_by_hand' sum:GPREEMPT_TEST_BREAK=sum/'-k case_1_by_hand'
	check test "$(code no-daemon)" = 1
	claim "the tests fail when a resume is skipped"
	check test "$(code off-resume)" = 1 && because off-resume 'not so: it is back on the GPU'
	claim "the tests fail when a sum is wrong"
	check test "$(code sum)" = 1 && because sum 'results are wrong'

	# Of guest time; an hour with GP_SECONDS=3600.
	seconds=${GP_SECONDS:-600}
	claim "random use for $seconds seconds, and the kernel has no complaint"
	guest --timeout $((3 * seconds + 300)) -- sh ./guest.sh stable:GPREEMPT_TEST_SECONDS="$seconds"/'-k stability'
	check test "$(code stable)" = 0 || part stable
	claims_of stable

	claim "in deterministic time, performance is what is accepted"
	guest --seed 0 --timeout 1500 -- env MEASURE=1 sh ./guest.sh \
		measured:GPREEMPT_TEST_MEASURE=1:GPREEMPT_TEST_SECONDS=20/'-k performance'
	check test "$(code measured)" = 0 || part measured
	claims_of measured
fi
end
