#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon.sh runs in the guest: prints facts, "name value", which it judges there.
# usage: guest.sh KILLS PREEMPTIONS
kills=${1:-4}
often=${2:-20}

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh

# ---- preemption, counted by both sides ----
start
preempt_often "$often"
# ---- what a process does while it is held ----
./lab-held >/tmp/held
fact held_stories $?
sed 's/^/story /' /tmp/held
# ---- the daemon is told to end while it holds a process ----
offline --seconds 600
until_true 20 can_be_held $offline && fact held_at_term yes
stop
fact daemon_at_term $?
kill $offline
ended offline_after_term $offline

# ---- stopped while it holds a process ----
start
offline --requests 100
until_true 20 can_be_held $offline && fact held_at_stop yes
kill -STOP "$(daemon_of $supervisor)"
ended offline_after_stop $offline
until_true 20 answers && fact after_stop answers
# ---- a process ends while held ----
offline --seconds 600
until_true 20 can_be_held $offline && fact held_at_kill yes
kill -KILL $offline
ended killed $offline
until_true 20 [ ! -e /sys/class/kfd/kfd/proc/$offline ] && fact killed_is_gone yes
call List | grep -q '"processes":\[\]' && fact none_left yes
# ---- the kill switch, and a restart that finds it ----
offline --seconds 600
until_true 20 can_be_held $offline
call Disable >/dev/null
until_true 20 state_is on $offline && fact off_releases yes
kill -KILL "$(daemon_of $supervisor)"
sleep 1
until_true 20 answers
call Status | grep -q '"enabled": *false' && fact off_outlasts yes
call Enable >/dev/null
until_true 20 can_be_held $offline && fact on_again yes
kill $offline
call Release "{\"pid\":$offline}" >/dev/null
ended offline_switch $offline
stop

# ---- without debugfs: attached processes are watched all the same, others are listed as unwatched ----
unshare -m sh -c 'umount /sys/kernel/debug && exec ./gpreemptd' 2>/tmp/daemon &
supervisor=$!
until_true 20 answers
offline --seconds 600
online --seconds 600
until_true 20 attached
works() { call List "{\"pid\":$1}" | grep -q '"work": *"pending"'; }
until_true 20 works $offline && fact bare_offline watched
trouble_of() { call List "{\"pid\":$1}" | sed -n 's/.*"trouble": *"\([^"]*\)".*/\1/p'; }
fact bare_offline_trouble "$(trouble_of $offline)"
fact bare_online "$(trouble_of $online)"
call Status | grep -q 'kfd/mqds in debugfs is not readable' && fact bare_status yes
kill $online
ended bare_online_sums $online
kill $supervisor
wait $supervisor
kill $offline
ended bare_offline_sums $offline

# ---- permissions of root, the owner of a process, another user ----
start
call_as_users
kill $online
wait $online
# ---- it ends by itself while held: not before its lease is over, and then right ----
call Hold "{\"pid\":$offline,\"lease_ns\":2000000000,\"wait\":true}" >/dev/null && fact held_at_exit yes
kill $offline
ended exit_while_held $offline
# ---- killed while it is being stopped, or anywhere near ----
# A stop is lost when its process ends under it, or when it is not answered by its deadline: the first may happen once for
# each that is killed, the second to none. So the losses of the living and of the killed are counted apart.
online --seconds 600 --kernel 300us --poisson 150
is_unlisted() { call List "{\"pid\":$1}" | grep -q '"processes":\[\]'; }
known=$(count stops_lost)
living=0
i=0
while [ $i -lt 3 ]; do
	offline --seconds 600
	until_true 20 state_is off $offline
	usleep $(($(od -An -N2 -tu2 /dev/urandom) % 100 * 2000))
	before=$(count stops_lost)
	kill -KILL $offline
	wait $offline
	until_true 20 is_unlisted $offline || fact killed_at_stop_listed $offline
	living=$((living + before - known))
	known=$(count stops_lost)
	fact "killed_at_stop_$i" $((known - before))
	i=$((i + 1))
done
fact killed_at_stop_living $living
until_true 20 [ ! -e /sys/class/kfd/kfd/proc/$offline ] && fact killed_at_stop yes
fact killed_at_stop_left $(($(count stops_asked) - $(count stopped) - $(count stops_failed) - $(count stops_lost)))
kill $online
ended killed_at_stop_online $online
stop

# ---- killed at any instant; of five, one while a process is in hsa_init and one in hsa_shut_down ----
offline --seconds 600
online --seconds 600
kill_daemons "$kills"
kill $online
ended online_after_kills $online
kill $offline
ended offline_after_kills $offline
