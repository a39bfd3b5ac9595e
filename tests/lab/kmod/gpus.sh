#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# In a guest with two GPUs: a gang with a rank on each, and two GPUs that have nothing to do with each
# other. Facts on stdout, judged by tests/lab/kmod-gpus.sh.
# shellcheck source=tests/lab/kmod/kmod.sh
. ./kmod.sh
patient="param=stop_deadline=20000000000 param=lease=20000000000 param=small_victim=0"

counters=/sys/kernel/debug/vgpu
device() { sed -n "s/^$2 //p" "$counters/$1/counters"; }
load() { # GPU ARGUMENTS...: $load is its pid
	on=$1
	shift
	gpload --gpu "$on" "$@" >/dev/null 2>&1 &
	load=$!
	until_true 60 has_queues $load
}
offline() { load "$1" --class offline --kernel 20ms --seconds 900; }
online() { load "$1" --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900; }
ended() { kill "$2"; wait "$2"; fact "$1" $?; }
# A command that ends when waves were saved on both GPUs since now, or when it has waited long enough.
both_save() {
	echo "for i in \$(seq 1200); do
		[ \$(sed -n 's/^waves_saved //p' $counters/0/counters) -gt $(device 0 waves_saved) ] &&
		[ \$(sed -n 's/^waves_saved //p' $counters/1/counters) -gt $(device 1 waves_saved) ] && break
		usleep 50000
	done"
}

modprobe gpreempt stop_deadline_ms=20000 lease_max_ms=20000

# ---- a gang: by hand, then for an online process on the first GPU only ----
offline 0; first=$load
offline 1; second=$load
online 0; online=$load
# shellcheck disable=SC2086 # words
gpkmod $patient policy=priority param=linger=0 gang=$first,$second preempt=0 mark=gang_held state=0 \
	resume=0 mark=gang_back state=0
before="$(device 0 waves_saved) $(device 1 waves_saved)"
# shellcheck disable=SC2086
gpkmod $patient policy=priority param=linger=0 gang=$first,$second online=$online run="$(both_save)" \
	mark=gang_stopped stats=stopped mark=gang_lost stats=lost
fact gang_saved "$before $(device 0 waves_saved) $(device 1 waves_saved)"
ended gang_online $online

# ---- each GPU its own ----
online 0; online=$load
online 1; other=$load
before="$(device 0 waves_saved) $(device 1 waves_saved)"
# shellcheck disable=SC2086
gpkmod $patient policy=priority param=linger=0 offline=$first offline=$second online=$online \
	online=$other run="$(both_save)" mark=own_stopped stats=stopped \
	mark=own_lost stats=lost
fact own_saved "$before $(device 0 waves_saved) $(device 1 waves_saved)"
ended own_online $online
ended own_other $other
ended first $first
ended second $second
fact restored "$(device 0 waves_saved) $(device 0 waves_restored) $(device 1 waves_saved) $(device 1 waves_restored)"
rmmod gpreempt
fact rmmod $?
