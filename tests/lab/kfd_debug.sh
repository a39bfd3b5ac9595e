#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# lib/ on the real driver: discovery, pointers, debug sessions and their edges (lab-kfd-debug), and the
# mechanism kfd-debug by the promises of core/mechanism.h (lab-conformance) in one boot; processes that would crash the
# driver in another one with two GPUs.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"
build=${GP_BUILD:-$top/build}

# shellcheck disable=SC2016 # for the guest's shell
# The parts of save areas that share pages count in full for the driver's limit of memory.
guest --param no_system_mem_limit=1 --timeout 500 --copy "$build/tests/lab/lab-conformance" -- sh -c '
	lab-kfd-debug && code=0 || code=1
	CMOCKA_MESSAGE_OUTPUT=TAP ./lab-conformance kfd-debug || code=1
	exit $code'
guest --gpus 2 --param no_system_mem_limit=1 --timeout 200 -- lab-kfd-debug --two-gpus
guest_end
