#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The mechanisms of gpreempt.ko by the promises of core/mechanism.h (lab-conformance). One boot. A stop
# that hangs is ended by the driver after half a second here.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
build=${GP_BUILD:-$top/build}

code=0
"$top/lab/run" --param no_system_mem_limit=1 --param queue_preemption_timeout_ms=500 --timeout 600 \
	--copy "$build/tests/lab/lab-conformance" -- sh -c '
	code=0
	modprobe gpreempt allow_direct=1 stop_deadline_ms=4000
	for way in evict direct halt; do
		CMOCKA_MESSAGE_OUTPUT=TAP ./lab-conformance kmod/$way || code=1
	done
	exit $code' >"$tmp/out" || code=$?

# One list out of three: number the claims again.
awk '/^1\.\.[0-9]+$/ { next }
	/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+/, "ok " n) }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
[ "$code" -eq 0 ] || echo "# lab/run ended with $code"
exit "$code"
