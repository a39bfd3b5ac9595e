#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreemptd on the real driver: it preempts, counts right, and whatever happens to it, every process keeps running.
# One boot; the guest prints facts, which are judged here.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
kills=5
often=20
[ -z "${GP_FULL:-}" ] || [ "$GP_FULL" = 0 ] || { kills=50 often=1000; }

# shellcheck source=tests/lab/daemon/often.sh
. "$top/tests/lab/daemon/often.sh"

claim "a guest runs the daemon beside its loads without a complaint of the kernel"
try "$top/lab/run" --timeout 1700 --copy "$build/daemon/gpreemptd" --copy "$build/tests/lab/gpcall" \
	--copy "$build/tests/lab/lab-held" \
	--copy "$top/tests/lab/daemon/common.sh" --copy "$top/tests/lab/daemon/guest.sh" -- sh ./guest.sh $kills $often
exits 0 || cat "$tmp/err"

judge_often $often

claim "what a held process does: creates and destroys queues, forks, executes another program"
is held_stories 0 || sed -n 's/^story \(#.*\|not ok.*\)/# \1/p' "$tmp/out"
check test "$(grep -c '^story ok' "$tmp/out")" -eq 4

claim "on SIGTERM the daemon releases the process it holds and ends with 0"
is held_at_term yes && is daemon_at_term 0 && is offline_after_term 0

claim "a decider stopped while it holds is ended by its supervisor: the held one finishes, a new daemon answers"
is held_at_stop yes && is offline_after_stop 0 && is after_stop answers

claim "a process that is killed while held is gone for the driver and for the daemon"
is held_at_kill yes && is killed 137 && is killed_is_gone yes && is none_left yes

claim "the kill switch releases, outlasts the daemon, and is switched back"
is off_releases yes && is off_outlasts yes && is on_again yes && is offline_switch 0

claim "without debugfs the attached are watched by their debug session, and the others are listed with the reason"
is bare_offline watched && is bare_offline_trouble '' && is bare_status yes && is bare_online_sums 0 && is bare_offline_sums 0
case $(value bare_online) in *"cannot be watched"*debugfs*) ;; *) no "trouble: $(value bare_online)" ;; esac

judge_users

claim "a process that ends by itself while held does so when its lease is over, with right sums"
is held_at_exit yes && is exit_while_held 0

claim "a process that is killed while it is being stopped leaves nothing; every stop is accounted for, and none is lost but that of a killed process"
is killed_at_stop yes && is killed_at_stop_left 0 && is killed_at_stop_online 0 && is killed_at_stop_listed '' &&
	is killed_at_stop_living 0
for i in 0 1 2; do check test "$(value killed_at_stop_$i)" -le 1; done

claim "supervisor, decider and holders are killed $kills times at any instant, $((kills / 5)) and more of them while a process is in hsa_init or hsa_shut_down: every process finishes with right sums"
check test "$(value aimed_kills)" -ge $((kills / 5)) && is passer '' && is not_back '' && is still_runs '' && is killed_daemons $kills && check test "$(value saved_by_killed)" -gt 0 &&
	case $(value killed_kinds) in *1*2*) ;; *) no "killed: $(value killed_kinds)" ;; esac && is online_after_kills 0 && is offline_after_kills 0

end
