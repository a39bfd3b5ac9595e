#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The driver's debug interface (DBG_TRAP, RUNTIME_ENABLE): every rule that suspending queues rests on,
# asked of the driver itself. The claims are the guest's program's, lab-debug; its arguments choose.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# Its own driver first; then the same without the hardware's scheduler.
code=0
# shellcheck disable=SC2016 # for the guest's shell
"$top/lab/run" --timeout 400 -- sh -c '
	lab-debug && code=0 || code=1
	# The driver forgets a process some time after it has ended.
	for i in $(seq 100); do
		[ "$(cat /sys/module/amdgpu/refcnt)" = 0 ] && break
		usleep 100000
	done
	rmmod amdgpu && modprobe amdgpu sched_policy=2 || exit 3
	lab-debug --no-hws || code=1
	exit $code' >"$tmp/out" || code=$?

# One list out of two: number the claims again.
awk '/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+/, "ok " n) }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
[ "$code" -eq 0 ] || echo "# lab/run ended with $code"
exit "$code"
