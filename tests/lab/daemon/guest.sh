#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon.sh runs in the guest: prints facts, "name value", which it judges there.
# usage: guest.sh KILLS
kills=${1:-4}

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh

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

# ---- without debugfs: who is attached is watched all the same, who is not is said to be unwatched ----
unshare -m sh -c 'umount /sys/kernel/debug && exec ./gpreemptd --no-keeper' 2>/tmp/daemon &
keeper=$!
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
kill $keeper
wait $keeper
kill $offline
ended bare_offline_sums $offline

# ---- killed at any instant ----
offline --seconds 600
online --seconds 600
kill_daemons "$kills"
kill $online
ended online_after_kills $online
kill $offline
ended offline_after_kills $offline
sed -n 's/^requests */requests /p' /tmp/offline
