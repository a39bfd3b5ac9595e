#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# lib/ on the real driver: discovery, pointers, debug sessions and their edges (lab-kfd-debug), and the
# mechanism kfd-debug by the promises of core/mechanism.h (lab-conformance) in one boot; processes that would crash the
# driver in another one with two GPUs.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
build=${GP_BUILD:-$top/build}

# The parts of save areas that share pages count in full for the driver's limit of memory.
code=0
"$top/lab/run" --param no_system_mem_limit=1 --timeout 500 --copy "$build/tests/lab/lab-conformance" -- sh -c '
	lab-kfd-debug && code=0 || code=1
	CMOCKA_MESSAGE_OUTPUT=TAP ./lab-conformance kfd-debug || code=1
	exit $code' >"$tmp/out" || code=$?
"$top/lab/run" --gpus 2 --param no_system_mem_limit=1 --timeout 200 -- lab-kfd-debug --two-gpus >>"$tmp/out" ||
	code=$?

# One list out of two: number the claims again.
awk '/^1\.\.[0-9]+$/ { next }
	/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+/, "ok " n) }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
[ "$code" -eq 0 ] || echo "# lab/run ended with $code"
exit "$code"
