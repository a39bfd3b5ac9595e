#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreemptd with gpreempt.ko: the kernel looks, decides and preempts, by the rules of the daemon, and whatever
# happens to the daemon, every process keeps running. One boot; the guest prints facts, which are judged here.
# shellcheck disable=SC2016 # conditions are awk's
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
kills=3
[ -z "${GP_FULL:-}" ] || [ "$GP_FULL" = 0 ] || kills=50

# shellcheck source=tests/lab/daemon/often.sh
. "$top/tests/lab/daemon/often.sh"
holds_of() { # NAME CONDITION: an awk condition on its words
	check test "$(value "$1" | awk "{ print ($2) }")" = 1 || echo "# $1 $(value "$1" | cut -c 1-400)"
}
has() { [ "$drawn" = "$1" ] || no "drawn are $drawn not $1"; }

claim "a guest runs the daemon with the module beside its loads without a complaint of the kernel"
try "$top/lab/run" --timeout 1700 --copy "$build/daemon/gpreemptd" --copy "$build/tests/lab/gpcall" \
	--copy "$GPREEMPT" --copy "$top/tests/lab/daemon/common.sh" --copy "$top/tests/lab/kmod/guest.sh" -- sh ./guest.sh $kills
exits 0 || cat "$tmp/err"

for way in evict direct; do
	claim "$way: online work preempts offline work, again and again, and both verify"
	is ${way}_mechanism kmod
	check test "$(value ${way}_stopped)" -ge 5
	is ${way}_online 0 && is ${way}_offline 0
	case $way in direct) check test "$(value direct_direct)" -gt 0 ;; esac

	claim "$way: what was stopped was started, and the daemon shows what the module did"
	is ${way}_started_in_all "$(value ${way}_stopped_in_all)"
	is ${way}_suspends "$(value ${way}_stopped_in_all)"
	is ${way}_resumes "$(value ${way}_started_in_all)"

	claim "$way: gpreempt record draws the preemptions that the kernel decided on, part by part"
	check test "$(value ${way}_recorded)" -gt 0
	drawn=$(value ${way}_drawn | tr '\n' ,)
	case $way in
	evict) has "detect,decide,command and save,switch," ;;
	direct) has "detect,decide,command,save," ;;
	esac

	claim "$way: what goes into the kernel's scheduler and comes out of it is in the recording, nothing was lost"
	holds_of ${way}_records '$1 > 20 && $2 > 20 && $3 > 4 && $4 > 4 && $5 > 8 && $6 > 0'
	case $way in
	evict) holds_of ${way}_parts '$1 == 0 && $2 > 0 && $3 == 0' ;;
	direct) holds_of ${way}_parts '$1 > 0 && $3 == 0' ;;
	esac

	claim "$way: what-if repeats that recording: the processes, and what they asked for"
	holds_of ${way}_what_if '$1 == 0' && value ${way}_what_if | sed 's/^0 //' >"$tmp/what-if.json"
	check jq -e '.recorded.acted and (.recorded.processes | length) == 2' "$tmp/what-if.json" >/dev/null
	check jq -e '.recorded.processes[] | select(.name == "gpload-online") | .online and .requests > 5' \
		"$tmp/what-if.json" >/dev/null
	check jq -e '.recorded.processes[] | select(.name == "gpload-offline") | (.online | not) and .busy_ns > 0' \
		"$tmp/what-if.json" >/dev/null

	claim "$way: every wave that was saved was restored"
	check test "$(value ${way}_saved)" -gt 0
	is ${way}_restored "$(value ${way}_saved)"
done

claim "no process is traced, debugfs is not read, and the daemon keeps no process's descriptor of the driver"
is traced "0 0" && is dumps 0 && is descriptors 0

claim "gpreempt doctor --selftest-direct finds direct's assumptions to hold here, and its victim's sums are right"
is selftest 0 && is selftest_victim 0
case $(value doctor) in *"version "*"direct has passed"*) ;; *) no "doctor says: $(value doctor)" ;; esac

claim "the five parts of each preemption are in the daemon's statistics"
check test "$(value parts)" -gt 0

claim "on SIGTERM the daemon releases the process it holds and ends with 0"
is held_at_term yes && is daemon_at_term 0 && is offline_after_term 0

claim "when a daemon that holds a process is stopped, the lease ends in the kernel, and no process had to be killed"
is held_at_stop yes && is back_without_daemon yes && is offline_after_stop 0

claim "a process that is killed while held is gone for the driver and for the daemon"
is held_at_kill yes && is killed 137 && is killed_is_gone yes && is none_left yes

claim "the kill switch releases, and is switched back"
is off_releases yes && is on_again yes && is offline_switch 0

judge_users

for way in evict direct; do
	claim "$way: the daemon is killed $kills times at any instant, also while a process is in hsa_init or hsa_shut_down: every process finishes with right sums"
	is ${way}_killed_daemons $kills && is ${way}_passer '' && check test "$(value ${way}_aimed_kills)" -ge $((kills / 5))
	check test "$(value ${way}_saved_by_killed)" -gt 0 && is ${way}_online_after_kills 0 && is ${way}_offline_after_kills 0
done

claim "the module can be unloaded then, and the daemon goes back to kfd-debug"
is unloaded 0 && is without kfd-debug

end
