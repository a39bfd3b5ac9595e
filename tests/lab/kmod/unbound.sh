#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# usage: unbound.sh [unloading | unscanned]
#
# In a guest with two GPUs: one is partitioned anew, then both are unbound, one after the other, under processes that live on; or one while the module
# is being unloaded, or no scan follows. Facts on stdout, judged by tests/lab/kmod-unbound.sh. The driver falls over processes that make
# a call after that, or end: they are stopped, and outlive the guest.
# shellcheck source=tests/lab/kmod/kmod.sh
. ./kmod.sh
pci=/sys/bus/pci/drivers/amdgpu
gpu=0
load() { gpload --gpu $gpu --pointers gtt "$@" --seconds 900 >/dev/null 2>&1 & load=$!; until_true 60 has_queues $load; }
# $2: the last, or the first.
unbind() { basename "$(ls -d $pci/0000:* | "$2" -n 1)" >$pci/unbind; fact "$1" $?; }
wait_for() { echo "while ! test -e /tmp/$1; do usleep 50000; done"; }

# The worker is to be in the driver for seconds: it waits for a fence that is late.
while_unloading() {
	modprobe gpreempt allow_direct=1
	load --class offline --kernel 3s
	runs_waves() { [ "$(awk '/ mapped / { n += $11 } END { print n + 0 }' /sys/kernel/debug/vgpu/0/queues)" -gt 0 ]; }
	until_true 60 runs_waves
	echo slow-save:400000 >/sys/kernel/debug/vgpu/0/fault
	gpkmod mechanism=direct param=stop_deadline=300000000 offline=$load preempt=0 2>/dev/null
	fact unloading_late $?
	kill -STOP $load
	rmmod gpreempt &
	is_going() { grep -q '^gpreempt .* Unloading ' /proc/modules; }
	until_true 20 is_going && fact unloading yes
	unbind unloading_unbound head
	wait $!
	fact unloaded $?
	exit
}
[ "${1:-}" != unloading ] || while_unloading

# With fifo nothing scans: what still pins memory of the GPU is found when the process is detached.
without_scans() {
	modprobe gpreempt
	load --class offline --kernel 20ms
	gpkmod policy=fifo offline=$load sleep=1 mark=unscanned_before stats=rescans run="touch /tmp/ready" \
		run="$(wait_for own)" mark=unscanned_after stats=rescans detach=0 mark=unscanned stats=removals &
	holder=$!
	until_true 60 test -e /tmp/ready
	kill -STOP $load
	unbind unscanned_unbound head
	touch /tmp/own
	wait $holder
	rmmod gpreempt
	fact unscanned_rmmod $?
	exit
}
[ "${1:-}" != unscanned ] || without_scans

# ---- its compute partitions are switched: the driver frees it and makes it anew, and nothing is unbound ----
# The last one: it is so again afterwards.
gpu=1
partition=/sys/kernel/debug/vgpu/1/partition
switch() { true <$partition; } 2>/dev/null
modprobe gpreempt
load --class offline --kernel 20ms
gpkmod offline=$load run="! true <$partition" preempt=0 2>/dev/null
fact partition_used $?
kill $load
wait $load
fact partition_sums $?
until_true 60 switch
sh -c "exec 3<$partition; gpkmod gpu=looks" 2>&1 | sed 's/.*: /partition_says /'
load --class offline --kernel 20ms
gpkmod offline=$load preempt=0 mark=partition_off state=0 resume=0 mark=partition_on state=0
kill $load
wait $load
fact partition_sums_after $?
gpu=0

load --class offline --kernel 20ms; offline=$load
load --class online --kernel 1ms --waves 64 --poisson 5; online=$load
load --class offline --kernel 20ms; late=$load
gpkmod policy=priority offline=$offline online=$online run="touch /tmp/ready" run="$(wait_for other)" \
	mark=scans_before stats=rescans sleep=1 mark=scans_after stats=rescans mark=state state=0 run="touch /tmp/seen" \
	run="$(wait_for own)" mark=state_unbound state=0 mark=removals stats=removals detach=0 &
holder=$!
until_true 60 test -e /tmp/ready
kill -STOP $offline $online $late

# ---- a GPU without a queue ----
unbind other tail
touch /tmp/other
until_true 60 test -e /tmp/seen
gpkmod offline=$late 2>/tmp/late
fact late "$(sed 's/.*: //' /tmp/late)"

# ---- the one they are on, whose buffers are pinned ----
unbind own head
touch /tmp/own
wait $holder
rmmod gpreempt
fact rmmod $?
