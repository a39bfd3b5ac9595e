#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The mechanisms of gpreempt.ko by the promises of core/mechanism.h (lab-conformance). One boot. A stop
# that hangs is ended by the driver after half a second here.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"
build=${GP_BUILD:-$top/build}

# shellcheck disable=SC2016 # for the guest's shell
guest --param no_system_mem_limit=1 --param queue_preemption_timeout_ms=500 --timeout 600 \
	--copy "$build/tests/lab/lab-conformance" -- sh -c '
	code=0
	modprobe gpreempt allow_direct=1 stop_deadline_ms=4000
	for way in evict direct halt; do
		CMOCKA_MESSAGE_OUTPUT=TAP ./lab-conformance kmod/$way || code=1
	done
	exit $code'
guest_end
