# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
# What the guests' scripts of gpreempt.ko share: tests/lab/kmod-*.sh copy it beside them.
mount -t debugfs none /sys/kernel/debug 2>/dev/null

fact() { echo "$*"; }
until_true() { # SECONDS COMMAND...
	left=$(($1 * 20))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 50000
	done
}
has_queues() { [ -n "$(ls "/sys/class/kfd/kfd/proc/$1/queues" 2>/dev/null)" ]; }
