# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
# Sourced in the guest by the stories of tests/lab/systemd.sh. Each prints facts, which are judged there.

fact() { echo "$*"; }
# until_true SECONDS COMMAND...: true as soon as COMMAND is.
until_true() {
	left=$(($1 * 2))
	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.5
	done
}
property() { systemctl show -P "$1" gpreemptd; }
state() { systemctl is-active gpreemptd; }
answers() { gpreempt status --json >/tmp/status; }
runs() { [ "$(state)" = active ] && answers; }
