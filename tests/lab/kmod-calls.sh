#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# /dev/gpreempt: random calls, right and wrong, from a privileged and an unprivileged process, and eight
# threads that attach, detach, preempt and end processes at the same time, in a guest with the kernel's checks of
# memory. GP_FULL=1: a million calls and five minutes of threads, on two processors.
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
count=2000 seconds=3 clock=
[ "${GP_FULL:-0}" = 0 ] || count=250000 seconds=300 clock=--wall-clock

# shellcheck disable=SC2086 # an option or none
exec "$top/lab/run" $clock --debug-kernel --param no_system_mem_limit=1 --timeout 1700 -- sh -c '
	count=$1 seconds=$2 n=0 code=0
	claim() {	# CODE TEXT
		n=$((n + 1))
		[ "$1" -eq 0 ] && echo "ok $n - $2" && return
		echo "not ok $n - $2"
		code=1
	}
	unreclaimable() { sed -n "s/^SUnreclaim: *\([0-9]*\) kB/\1/p" /proc/meminfo; }
	is_empty() { [ -z "$(ls "$1")" ]; }

	modprobe gpreempt allow_direct=1
	files=$(cut -f1 /proc/sys/fs/file-nr)
	gpioctl-fuzz --seed ${GP_SEED}1 --count $count
	claim $? "$count random calls as root: wrong descriptors are refused, sums are right"
	gpioctl-fuzz --seed ${GP_SEED}2 --count $count --unprivileged
	claim $? "$count random calls as an unprivileged user, who cannot open the device: the same"
	before=$(unreclaimable)
	gpioctl-fuzz --seed ${GP_SEED}3 --count $count && gpioctl-fuzz --seed ${GP_SEED}4 --count $count --unprivileged
	claim $? "and as many again"
	grown=$(($(unreclaimable) - before))
	echo "# the slabs grew by $grown kB"
	[ $grown -lt 1500 ]
	claim $? "which take no memory that is not given back"
	gpkmod-storm $seconds $GP_SEED
	claim $? "eight threads attach, detach, preempt, resume and end processes for $seconds s: sums are right"
	# A worker of the driver takes them apart.
	for _ in $(seq 20); do
		is_empty /sys/class/kfd/kfd/proc && break
		sleep 1
	done
	is_empty /sys/class/kfd/kfd/proc
	claim $? "no process is left in the driver"
	now=$(cut -f1 /proc/sys/fs/file-nr)
	[ $now -le $((files + 64)) ]
	claim $? "no file is left open"
	rmmod gpreempt && ! grep -q "\[gpreempt\]" /proc/vmallocinfo
	claim $? "the module can be unloaded and leaves no memory behind"
	echo "1..$n"
	exit $code' sh $count $seconds
