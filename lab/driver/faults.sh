#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Kernels stopped in their middle, more queues than slots, hangs and failed preemptions, other
# profiles; and after each of them the module leaves nothing behind. The claims are the guest's.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# In the long tier four times as often, and once more with a kernel that looks at its own memory.
full=
times=200
[ "${GP_FULL:-0}" = 0 ] || { full=--debug-kernel; times=800; }
code=0
for debug in '' $full; do
	# shellcheck disable=SC2086 # an option or none
	"$top/lab/run" $debug --no-module --timeout 900 --copy "$top/lab/driver/faults/guest.sh" -- \
		env GP_TIMES=$times sh guest.sh stops faults profiles >>"$tmp/out" || code=$?
done

awk '/^(not )?ok - / { n++; sub(/ok/, "ok " n) }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
[ "$code" -eq 0 ] || echo "# lab/run ended with $code"
exit "$code"
