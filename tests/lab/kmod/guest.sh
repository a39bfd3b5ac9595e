#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/kmod-daemon.sh runs in the guest: prints facts, "name value", which it judges there.
# usage: guest.sh KILLS
kills=${1:-4}

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh

mechanism() { call Status | sed -n 's/.*"mechanism": *"\([^"]*\)".*/\1/p'; }
held() { call Hold "{\"pid\":$1,\"lease_ns\":$2,\"wait\":true}" >/dev/null; }
# The module takes back what it is told when the last descriptor is closed, so one is kept open.
load() { modprobe gpreempt lease_max_ms=60000 stop_deadline_ms=30000; }

# ---- a recording (core/trace.h) ----
words() { hexdump -v -s 8 -e '22/4 "%u " "\n"' /tmp/run.gptrace; }
# How many samples, looks, actions, answers, states and parts are in it.
records() { words | awk '{ n[$3]++ } END { print n[12] + 0, n[13] + 0, n[64] + 0, n[15] + 0, n[67] + 0, n[69] + 0 }'; }
# Of how many preemptions the parts are those of direct (a command that took time), of evict (it is inside
# the save), or neither; each of them as long as its parts.
parts() {
	words | awk '
	function ns(i) { return $(7 + 2 * i) + 4294967296 * $(8 + 2 * i) }
	$3 == 69 {
		within = $11 == 4294967295 && $12 == 4294967295
		command = within ? 0 : ns(2)
		sane = ns(3) > 0 && ns(0) + ns(1) + command + ns(3) + ns(4) == ns(5)
		n[!sane || (!within && !command) ? "neither" : within ? "evict" : "direct"]++
	}
	END { print n["direct"] + 0, n["evict"] + 0, n["neither"] + 0 }'
}

# ---- preemption, counted by both sides ----
preempt() {
	start
	fact "$1_mechanism" "$(mechanism)"
	saved=$(device waves_saved) restored=$(device waves_restored)
	offline --seconds 600
	online --seconds 600
	until_true 20 attached
	./gpreempt record /tmp/run.gptrace --for 6s --json >/tmp/records &
	second=$!
	./gpreempt record /tmp/timeline.pftrace --for 6s --json >/tmp/record
	fact "$1_recorded" "$(sed -n 's/.*"preemptions": *\([0-9]*\).*/\1/p' /tmp/record)"
	# Parts of no length are not drawn; these have one. A slice has its name in field 23, as bytes.
	for part in detect decide command save "command and save" switch; do
		name=$(printf '\272\001'"\\$(printf %03o ${#part})$part")
		LC_ALL=C grep -qaF "$name" /tmp/timeline.pftrace && fact "$1_drawn" "$part"
	done
	wait $second
	fact "$1_records" "$(records)"
	fact "$1_parts" "$(parts)"
	./gpreempt what-if /tmp/run.gptrace -p priority -m evict --json >/tmp/what-if 2>&1
	fact "$1_what_if" "$? $(tr -d '\n' </tmp/what-if)"
	fact traced "$(sed -n 's/TracerPid:\t//p' /proc/$offline/status) $(sed -n 's/TracerPid:\t//p' /proc/$online/status)"
	find "/proc/$(daemon_of $supervisor)/fd" -lname /dev/kfd >/tmp/kfd
	# Its own, for the driver's news of resets, is one of two kinds; no other process's is there.
	fact descriptors "$(wc -l </tmp/kfd)"
	fact dumps "$(count dumps)"
	fact parts "$(call Stats "{\"pid\":$online}" | sed -n 's/.*"name": *"total", *"count": *\([0-9]*\).*/\1/p')"
	until_true 60 stopped_since 0 5 || fact "$1_few_stops" "$(count stopped)"
	fact "$1_direct" "$(count kernel_direct_stops)"
	kill $online
	ended "$1_online" $online
	until_true 10 state_is on $offline
	sleep 1
	fact "$1_stopped" "$(count stopped)"
	fact "$1_stopped_in_all" "$(count stopped)"
	fact "$1_started_in_all" "$(count started)"
	fact "$1_suspends" "$(count suspends)"
	fact "$1_resumes" "$(count resumes)"
	fact "$1_saved" $(($(device waves_saved) - saved))
	fact "$1_restored" $(($(device waves_restored) - restored))
	kill $offline
	ended "$1_offline" $offline
	stop
}

# ---- the daemon is killed at any instant ----
kill_them() { # MECHANISM
	offline --seconds 600
	online --seconds 600
	kill_daemons "$kills" | sed "s/^/$1_/"
	kill $online
	ended "$1_online_after_kills" $online
	kill $offline
	ended "$1_offline_after_kills" $offline
}

load
preempt evict >/tmp/facts
# Of two rounds the first tells these.
cat /tmp/facts
kill_them evict
rmmod gpreempt
# From here on by direct.
load
# The self test opens the way for direct.
offline --seconds 600
has_queue() { [ -d /sys/class/kfd/kfd/proc/$offline/queues/0 ]; }
until_true 10 has_queue
./gpreempt doctor --selftest-direct $offline >/tmp/selftest 2>&1
fact selftest $?
sed 's/^/selftest_says /' /tmp/selftest
./gpreempt doctor | sed -n 's/.*module  *gpreempt.ko,/doctor/p'
kill $offline
ended selftest_victim $offline
preempt direct | grep -v -e ^traced -e ^descriptors -e ^dumps -e ^parts

# ---- the daemon is told to end while it holds a process ----
start
offline --seconds 600
until_true 20 held $offline 25000000000 && fact held_at_term yes
stop
fact daemon_at_term $?
kill $offline
ended offline_after_term $offline

# ---- stopped while it holds a process ----
./gpreemptd 2>/tmp/daemon &
supervisor=$!
until_true 20 answers
offline --requests 100
until_true 20 held $offline 3000000000 && fact held_at_stop yes
kill -STOP "$(daemon_of $supervisor)"
wait $offline && fact back_without_daemon yes
fact offline_after_stop $?
kill -CONT "$(daemon_of $supervisor)"
stop

# ---- a process ends while held ----
start
offline --seconds 600
until_true 20 held $offline 25000000000 && fact held_at_kill yes
kill -KILL $offline
ended killed $offline
until_true 20 [ ! -e /sys/class/kfd/kfd/proc/$offline ] && fact killed_is_gone yes
is_listed_empty() { call List | grep -q '"processes":\[\]'; }
until_true 5 is_listed_empty && fact none_left yes

# ---- the kill switch ----
offline --seconds 600
until_true 20 held $offline 25000000000
call Disable >/dev/null
until_true 20 state_is on $offline && fact off_releases yes
call Enable >/dev/null
until_true 20 held $offline 25000000000 && fact on_again yes
kill $offline
call Release "{\"pid\":$offline}" >/dev/null
ended offline_switch $offline
stop

# ---- permissions ----
start
call_as_users
kill $online $offline
ended may_online $online
stop
kill_them direct

# ---- without the module ----
rmmod gpreempt
fact unloaded $?
start
fact without "$(mechanism)"
stop
