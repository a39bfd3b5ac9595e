#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What preemption by gpreempt.ko gives and takes: tests/lab/daemon-price.sh with the module, by direct; by evict, too, and
# with five seeds, with GP_FULL=1. One list of claims.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"
ways=direct
[ "${GP_FULL:-0}" = 0 ] || ways="evict direct"

for way in $ways; do
	"$top/tests/lab/daemon-price.sh" "$way" >>"$tmp/guest" || guest_code=1
done
guest_end
