#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# How long an arrival waits, by what preempts (lab/latency); all rows, often, with GP_FULL=1.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# of ROW FILTER: a value of the table.
of() { jq -r --arg row "$1" "select(.latency == \$row) | $2" "$tmp/out"; }
software() { of "$1" .software_ns.median; }

rows="kmod/direct@50us kfd-debug@50us" times=20
[ "${GP_FULL:-0}" = 0 ] || rows='' times=200
claim "an arrival is measured, and says that it is of a model"
# shellcheck disable=SC2086 # a list of rows, or none for all
try "$top/lab/latency" $times $rows
exits 0 || cat "$tmp/err"
# An arrival just when a kernel ends preempts no process: missed.
check test "$(jq -s --argjson n $times 'all(.model and .schema == 1 and .repetitions == $n and
	.missed * 2 <= $n)' "$tmp/out")" = true
jq -r '"#| \(.latency): unmap \(.unmap_ns.median), fence \(.fence_ns.median), wave \(.wave_ns.median) ns, " +
	"software \(.software_ns.median) instructions; \(.missed) missed"' "$tmp/out"

claim "the GPU sees a doorbell that the module rings at once: the wait is for a look, not for the model"
check test "$(of kmod/direct@50us .unmap_ns.p90)" -le 100000

claim "the software of direct is at most 0.3 of that of kfd-debug"
check test $(($(software kmod/direct@50us) * 10)) -le $(($(software kfd-debug@50us) * 3))
[ "${GP_FULL:-0}" != 0 ] || end

claim "the software of evict is at most 0.5 of that of kfd-debug"
check test $(($(software kmod/evict@50us) * 2)) -le "$(software kfd-debug@50us)"

claim "the scheduler's software is at most 1.5 times the floor"
for way in direct evict; do
	check test $(($(software kmod/$way@50us) * 2)) -le $(($(software floor/$way@50us) * 3))
done
end
