#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# usage: life.sh RELOADS
#
# In the guest: the module's life beside the driver's, one claim after the other. Facts on stdout,
# judged by tests/lab/kmod-life.sh. Times are of an emulated machine on a loaded one: only
# deadlines that are long.
mount -t debugfs none /sys/kernel/debug 2>/dev/null
pci=/sys/bus/pci/drivers/amdgpu
patient="param=stop_deadline=20000000000 param=lease=20000000000"

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
load() { modprobe gpreempt stop_deadline_ms=20000 lease_max_ms=20000 allow_direct=1; }
offline() { gpload --class offline --kernel 20ms "$@" >/tmp/offline 2>&1 & offline=$!; }
online() { gpload --class online --kernel 1ms --waves 64 --poisson 20 "$@" >/tmp/online 2>&1 & online=$!; }
has_queues() { [ -n "$(ls "/sys/class/kfd/kfd/proc/$1/queues" 2>/dev/null)" ]; }
runs() { ! grep -q 'No active runlist' /sys/kernel/debug/kfd/rls; }
stopped() { ! runs; }
ended() { wait "$2"; fact "$1" $?; }
device() { sed -n "s/^$1 //p" /sys/kernel/debug/vgpu/0/counters; }

# ---- by itself, with each mechanism ----
load
for mechanism in evict direct; do
	offline --seconds 900
	online --requests 30
	until_true 30 has_queues $offline && until_true 30 has_queues $online
	# shellcheck disable=SC2086 # words
	gpkmod $patient policy=priority mechanism=$mechanism param=linger=0 offline=$offline \
		online=$online run="while kill -0 $online; do usleep 50000; done 2>/dev/null" \
		mark=${mechanism}_stopped stats=stopped mark=${mechanism}_direct stats=direct_stops \
		mark=${mechanism}_lost stats=lost
	ended ${mechanism}_online $online
	kill $offline
	ended ${mechanism}_offline $offline
done
fact saved "$(device waves_saved)" "$(device waves_restored)"

# ---- whoever is stopped, the lease ends ----
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0x500 mark=held run=echo sleep=60 >/tmp/held 2>&1 &
holder=$!
until_true 20 stopped && fact lease_began yes
kill -STOP $holder
until_true 20 runs && fact lease_ended yes
kill -KILL $holder
wait $holder 2>/dev/null

# ---- the owner of a hold is killed ----
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0 sleep=60 >/dev/null 2>&1 &
holder=$!
until_true 20 stopped && fact close_held yes
kill -KILL $holder
wait $holder 2>/dev/null
until_true 20 runs && fact close_released yes

# ---- rmmod while a descriptor is open ----
gpkmod sleep=60 &
holder=$!
usleep 300000
rmmod gpreempt 2>/dev/null
fact rmmod_open $?
kill $holder
wait $holder 2>/dev/null

# ---- kill -9 of a held and of an unheld one ----
for how in held unheld; do
	has_queues $offline || { offline --seconds 900; until_true 30 has_queues $offline; }
	hold=
	[ $how = unheld ] || hold=preempt=0
	# shellcheck disable=SC2086
	gpkmod $patient offline=$offline $hold run="touch /tmp/ready" sleep=1 state=0 >/tmp/state &
	holder=$!
	until_true 20 test -e /tmp/ready
	rm -f /tmp/ready
	[ $how = unheld ] || { stopped && fact died_held yes; }
	kill -KILL $offline
	usleep 100000
	fact died_${how}_proc "$(ls /sys/class/kfd/kfd/proc)"
	stopped && fact died_${how}_runlist none
	wait $offline $holder 2>/dev/null
	fact died_${how}_state "$(cat /tmp/state)"
done

# ---- again and again ----
rmmod gpreempt
fact rmmod $?
memory() { sleep 1; echo 3 >/proc/sys/vm/drop_caches; awk '/^(SUnreclaim|VmallocUsed|Percpu):/ { n += $2 } END { print n }' /proc/meminfo; }
load && rmmod gpreempt
before=$(memory)
offline --seconds 900
until_true 30 has_queues $offline
n=0
while [ $n -lt "$1" ]; do
	load || break
	# shellcheck disable=SC2086
	gpkmod $patient offline=$offline preempt=0 >/dev/null || break
	rmmod gpreempt || break
	n=$((n + 1))
done
fact reloads $n
until_true 20 runs && fact reloads_runs yes
kill $offline
ended reloads_offline $offline
until_true 20 test -z "$(ls /sys/class/kfd/kfd/proc)"
fact memory $(($(memory) - before))

# ---- the GPU goes, while a descriptor knows it ----
load
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0 run="touch /tmp/ready" \
	run="while ! test -e /tmp/gone; do usleep 50000; done" mark=unbound_removals \
	stats=removals mark=unbound_state state=0 &
holder=$!
until_true 20 test -e /tmp/ready
# The driver warns (uninitialize() of its queue manager) when it is unbound under a process.
kill -KILL $offline
wait $offline 2>/dev/null
until_true 20 test -z "$(ls /sys/class/kfd/kfd/proc)"
basename "$(ls -d $pci/0000:* | head -n 1)" >$pci/unbind
fact unbound $?
touch /tmp/gone
ended unbound_holder $holder
rmmod gpreempt
fact rmmod_after $?
