#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Processes that lock their own memory or map pages that never come, and GPUs that answer late: gpreempt.ko serves all
# others meanwhile. Stories of lab-kernel, in one boot with two GPUs.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
exec "$top/lab/run" --gpus 2 --param no_system_mem_limit=1 --timeout 600 -- sh -c '
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
	modprobe gpreempt allow_direct=1 lease_max_ms=60000 stop_deadline_ms=10000 || exit 1
	code=0
	lab-kernel --hostile "$@" >out || code=1
	cat out
	n=$(grep -c "^\(not \)\?ok " out)
	rmmod gpreempt || { printf "not "; code=1; }
	echo "ok $((n + 1)) - the module can be unloaded then"
	echo "1..$((n + 1))"
	exit $code' sh "$@"
