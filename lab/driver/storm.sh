#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Random use of two GPUs by several processes, with kills: every process that survives has the right sums,
# the kernel has nothing to complain of, and the module unloads.
#
# GP_SECONDS of guest time (5), from GP_SEED. In the long tier also two minutes on two processors at once, and again
# with the kernel's checks of memory.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../../tests/shared/claims.sh"

storm() { # SECONDS OPTION...
	seconds=$1
	shift
	# shellcheck disable=SC2016 # the guest's variables
	guest "$@" --gpus 2 --param no_system_mem_limit=1 --timeout $((seconds * 2 + 400)) -- sh -c '
		code=0
		gpload --gpu 0 --queues 2 --requests 20 >/tmp/one & first=$!
		gpload --gpu 1 --queues 2 --requests 20 >/tmp/two && wait $first &&
			echo "ok - two GPUs work at once" || { code=1; echo "not ok - two GPUs work at once"; }
		gpstorm --gpus 2 --processes 5 --seconds "$1" --seed "$2" || code=1
		for _ in $(seq 100); do
			[ "$(cat /sys/module/amdgpu/refcnt)" -eq 0 ] && break
			usleep 100000
		done
		rmmod amdgpu && [ ! -e /sys/class/kfd ] && echo "ok - the module unloads after that" ||
			{ code=1; echo "not ok - the module unloads after that"; }
		exit $code' sh "$seconds" "${GP_SEED:-1}"
}
storm "${GP_SECONDS:-5}"
if [ "${GP_FULL:-0}" != 0 ]; then
	storm "${GP_SECONDS:-120}" --wall-clock
	storm "${GP_SECONDS:-120}" --wall-clock --debug-kernel
fi
guest_end
