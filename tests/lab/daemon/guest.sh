#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon.sh runs in the guest: prints facts, "name value", which it judges there.
# usage: guest.sh KILLS
kills=${1:-4}

mkdir -p /etc/gpreempt /run/gpreempt /var/lib/gpreempt
mount -t debugfs none /sys/kernel/debug 2>/dev/null
# Times are of an emulated machine on a loaded one: only leases and deadlines that are long.
cat >/etc/gpreempt/gpreempt.conf <<'X'
[daemon]
policy = priority
default_class = offline
attach_after = 200ms
attach_rate = 100
heartbeat = 4s
[policy priority]
look_min = 1ms
look_max = 2ms
look_relaxed = 5ms
stop_deadline = 20s
lease = 30s
max_hold = 5s
linger = 0
[rule online]
cmdline = *--class online*
class = online
X

fact() { echo "$*"; }
# until SECONDS COMMAND...: true as soon as COMMAND is.
until_true() {
	left=$(($1 * 10))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 100000
	done
}
call() { ./gpcall "$@" 2>/dev/null; }
answers() { call Status >/dev/null; }
count() { call Stats | sed 's/"processes":.*//' | sed -n "s/.*\"counters\":{[^}]*\"$1\":\([0-9]*\).*/\1/p" | head -n 1; }
device() { sed -n "s/^$1 //p" /sys/kernel/debug/vgpu/0/counters; }
attached() { [ "$(count attaches)" -gt "${1:-0}" ]; }
state_is() { call List "{\"pid\":$2}" | grep -q "\"state\":\"$1\""; }
can_be_held() { call Hold "{\"pid\":$1,\"lease_ns\":25000000000,\"wait\":true}" >/dev/null; }
# The daemon is the keeper's child.
daemon_of() { cat "/proc/$1/task/$1/children" | tr -d ' '; }
start() {
	./gpreemptd "$@" &
	keeper=$!
	until_true 20 answers
}
stop() { kill "$keeper"; wait "$keeper"; }
offline() { gpload --class offline --queues 2 --kernel 20ms "$@" >/tmp/offline 2>&1 & offline=$!; }
online() { gpload --class online --kernel 1ms --waves 64 --poisson 20 "$@" >/tmp/online 2>&1 & online=$!; }
ended() { wait "$2"; fact "$1" $?; }

# ---- preemption, counted by both sides ----
# Its figures are read while nobody is above anybody, so that nothing moves in between.
start
offline --seconds 600
online --seconds 600
until_true 20 attached
call SetClass "{\"pid\":$online,\"class\":\"offline\"}" >/dev/null
until_true 10 state_is on $offline
sleep 1
before=$(($(count suspends) + $(count resumes)))
unmaps=$(device UNMAP_QUEUES)
stopped=$(count stopped)
call SetClass "{\"pid\":$online,\"class\":\"online\"}" >/dev/null
sleep 5
call SetClass "{\"pid\":$online,\"class\":\"offline\"}" >/dev/null
until_true 10 state_is on $offline
sleep 1
fact calls $(($(count suspends) + $(count resumes) - before))
fact unmaps $(($(device UNMAP_QUEUES) - unmaps))
fact stopped $(($(count stopped) - stopped))
fact suspends "$(count suspends)"
fact stopped_in_all "$(count stopped)"
fact started_in_all "$(count started)"
fact saved "$(device waves_saved)"
fact restored "$(device waves_restored)"
fact traced "$(sed -n 's/TracerPid:\t//p' /proc/$offline/status) $(sed -n 's/TracerPid:\t//p' /proc/$online/status)"
kill $online
ended online $online
# ---- the daemon is told to end while it holds somebody ----
can_be_held $offline && fact held_at_term yes
stop
fact daemon_at_term $?
kill $offline
ended offline_after_term $offline

# ---- stopped while it holds somebody ----
start
offline --requests 100
until_true 20 can_be_held $offline && fact held_at_stop yes
kill -STOP "$(daemon_of $keeper)"
ended offline_after_stop $offline
until_true 20 answers && fact after_stop answers
# ---- somebody ends while held ----
offline --seconds 600
until_true 20 can_be_held $offline && fact held_at_kill yes
kill -KILL $offline
ended killed $offline
until_true 20 [ ! -e /sys/class/kfd/kfd/proc/$offline ] && fact killed_is_gone yes
call List | grep -q '"processes":\[\]' && fact nobody_left yes
# ---- the kill switch, and a restart that finds it ----
offline --seconds 600
until_true 20 can_be_held $offline
call Disable >/dev/null
until_true 20 state_is on $offline && fact off_releases yes
kill -KILL "$(daemon_of $keeper)"
sleep 1
until_true 20 answers
call Status | grep -q '"enabled": *false' && fact off_outlasts yes
call Enable >/dev/null
until_true 20 can_be_held $offline && fact on_again yes
kill $offline
call Release "{\"pid\":$offline}" >/dev/null
ended offline_switch $offline
stop

# ---- killed at any instant ----
offline --seconds 600
online --seconds 600
i=0
killed=0
saved=$(device waves_saved)
while [ $i -lt "$kills" ]; do
	./gpreemptd --no-keeper &
	keeper=$!
	# From the middle of its start to the middle of its work.
	usleep $(($(od -An -N2 -tu2 /dev/urandom) % 20 * 100000 + 50000))
	kill -KILL $keeper && killed=$((killed + 1))
	wait $keeper
	i=$((i + 1))
done
fact killed_daemons $killed
fact saved_by_killed $(($(device waves_saved) - saved))
kill $online
ended online_after_kills $online
kill $offline
ended offline_after_kills $offline
sed -n 's/^requests */requests /p' /tmp/offline
