#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The driver's debug interface (DBG_TRAP, RUNTIME_ENABLE): every rule that suspending queues rests on,
# asked of the driver itself. The claims are the guest's program's, lab-debug; its arguments choose.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../../tests/shared/claims.sh"

# Its own driver first; then the same without the hardware's scheduler.
# shellcheck disable=SC2016 # for the guest's shell
guest --timeout 400 -- sh -c '
	lab-debug && code=0 || code=1
	# The driver forgets a process some time after it has ended.
	for i in $(seq 100); do
		[ "$(cat /sys/module/amdgpu/refcnt)" = 0 ] && break
		usleep 100000
	done
	rmmod amdgpu && modprobe amdgpu sched_policy=2 || exit 3
	lab-debug --no-hws || code=1
	exit $code'
guest_end
