#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt.ko beside the real driver: what it accepts, what its mechanisms cost the GPU, how holds nest
# with the driver's own evictions, faults of the device (lab-kernel); and `gpreempt module` before that.
# One boot.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"
build=${GP_BUILD:-$top/build}
"$top/lab/run" --build-only || exit

rounds=4		# each order of the nesting once
timeout=600
debug=
[ "${GP_FULL:-0}" = 0 ] || { rounds=100; timeout=2700; debug=--debug-kernel; }

# The module with one member of the driver elsewhere than it is, and with a table that is damaged.
"$top/tests/lab/kernel/doctor" "$build/lab/gpreempt/gpreempt.ko" "$tmp/moved.ko" "$tmp/damaged.ko" || exit

# shellcheck disable=SC2086 # an option or none
guest $debug --vram 64 --param no_system_mem_limit=1 --timeout $timeout \
	--copy "$top/tests/lab/kernel/guest.sh" --copy "$tmp/moved.ko" \
	--copy "$tmp/damaged.ko" -- env GP_ROUNDS=$rounds sh guest.sh
guest_end
