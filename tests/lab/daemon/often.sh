# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh disable=SC2154 # read in by tests/lab/daemon*.sh and tests/lab/kmod-daemon.sh
# What the guest says after preempt_often(), for either behaviour of read pointers, and call_as_users() of common.sh.

judge_often() { # N
	claim "three online processes preempt two offline ones $1 times; all sums are right, nothing is lost"
	is often yes && is never_quiet '' && check test "$(value often_stopped)" -ge "$1"
	is often_online right && is often_offline right && is often_lost "0 0"

	claim "every stop is a suspend of the driver, every start a resume, and what was stopped was started"
	is often_suspends "$(value often_moves)" &&
		check test "$(value often_moves | cut -d ' ' -f 1)" -eq "$(value often_moves | cut -d ' ' -f 2)"

	claim "the device counts one unmap for each of the daemon's suspends and resumes, and no other"
	is often_unmaps "$(value often_calls)"

	# A daemon cannot know how many waves a queue had: only the device counts those.
	claim "every wave that was saved was restored"
	check test "$(value often_saved)" -gt 0
	is often_restored "$(value often_saved)"

	claim "no process is traced once the daemon has attached, and the online processes never were"
	is often_traced '0 0 0 0 0 '
}

judge_users() {
	claim "calls by users: all may read, the owner lowers and holds its own, the rest is root's (stranger, owner, root)"
	for call in status list stats getpolicy; do is may_$call YYY; done
	for call in lower hold release hint; do is may_$call nYY; done
	for call in back raise others setpolicy reload enable; do is may_$call nnY; done
	claim "a stranger sees that processes are there, the owner all of its own, root all of all"
	is listed '2 2 2' && is listed_fully '0 1 2' && is counted '0 1 2'
}
