#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt.ko beside the real driver: what it accepts, what its mechanisms cost the GPU, how holds nest
# with the driver's own evictions, faults of the device (lab-kernel); and `gpreempt module` before that.
# One boot.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
build=${GP_BUILD:-$top/build}
"$top/lab/run" --build-only || exit

rounds=10
timeout=600
debug=
[ "${GP_FULL:-0}" = 0 ] || { rounds=100; timeout=2700; debug=--debug-kernel; }

# The module with one member of the driver elsewhere than it is, and with a table that is damaged.
"$top/tests/lab/kernel/doctor" "$build/lab/gpreempt/gpreempt.ko" "$tmp/moved.ko" "$tmp/damaged.ko" || exit

code=0
# shellcheck disable=SC2086 # an option or none
"$top/lab/run" $debug --vram 64 --param no_system_mem_limit=1 --timeout $timeout \
	--copy "$top/tests/lab/kernel/guest.sh" --copy "$tmp/moved.ko" \
	--copy "$tmp/damaged.ko" -- env GP_ROUNDS=$rounds sh guest.sh >"$tmp/out" || code=$?

awk '/^1\.\.[0-9]+$/ { next }
	/^(not )?ok [0-9]* ?- / { n++; sub(/ok [0-9]* ?-/, "ok " n " -") }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
[ "$code" -eq 0 ] || echo "# lab/run ended with $code"
exit "$code"
