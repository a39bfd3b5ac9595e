#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Kernels stopped in their middle, more queues than slots, hangs and failed preemptions, other
# profiles; and after each of them the module leaves nothing behind. The claims are the guest's.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../../tests/shared/claims.sh"

# In the long tier 800 times, and once more with a kernel that looks at its own memory.
full=
times=60
[ "${GP_FULL:-0}" = 0 ] || { full=--debug-kernel; times=800; }
for debug in '' $full; do
	# shellcheck disable=SC2086 # an option or none
	guest $debug --no-module --timeout 900 --copy "$top/lab/driver/faults/guest.sh" -- \
		env GP_TIMES=$times sh guest.sh stops faults profiles
done
guest_end
