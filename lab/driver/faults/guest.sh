#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# usage: guest.sh stops|faults|profiles...
#
# Claims about the driver under stops, faults and reloads, in one boot of the lab without the
# module: it is loaded for each part with the parameters of that part, and must leave nothing.
slab=/sys/kernel/slab
queues=/sys/kernel/debug/vgpu/0/queues
broken=0

say() { # WORD CLAIM: WORD empty if it does not hold
	if [ -n "$1" ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		broken=$((broken + 1))
	fi
}
holds() { # CLAIM COMMAND...
	claim=$1
	shift
	if "$@"; then
		say yes "$claim"
	else
		say '' "$claim"
	fi
}
run() { "$@" || broken=$((broken + 1)); }

# Objects of a slab cache in use; empty slabs that are only kept are given back first. Without
# slub_debug the kernel merges caches of like sizes: such a link tells nothing of ours.
objects() {
	if [ -L $slab/"$1" ] || [ ! -e $slab/"$1" ]; then
		echo 0
		return
	fi
	echo 1 >$slab/"$1"/shrink
	sed 's/ .*//' $slab/"$1"/objects
}
kilobytes() { awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo; }
settled() { # how much memory the kernel has in use, when everything delayed is done
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	for cache in "$slab"/*; do
		{ echo 1 >"$cache"/shrink; } 2>/dev/null
	done
	echo $(($(kilobytes SUnreclaim) + $(kilobytes VmallocUsed) + $(kilobytes Percpu)))
}

load() { # PARAMETERS...
	loaded=${*:-as it is}
	holds "the module loads ($loaded)" modprobe amdgpu no_system_mem_limit=1 "$@"
	vram=$(gpfaults --available)
}
unload() {
	# Exits are finished by workers of the driver.
	for _ in $(seq 100); do
		[ -z "$(ls /sys/class/kfd/kfd/proc)" ] && break
		usleep 100000
	done
	holds "no process is left in the driver ($loaded)" test -z "$(ls /sys/class/kfd/kfd/proc)"
	now=$(gpfaults --available)
	holds "all VRAM is free again: $now of $vram bytes ($loaded)" test "$now" = "$vram"
	for _ in $(seq 100); do
		[ "$(cat /sys/module/amdgpu/refcnt)" -eq 0 ] && break
		usleep 100000
	done
	holds "nothing holds the module ($loaded)" test "$(cat /sys/module/amdgpu/refcnt)" -eq 0
	holds "no DMA buffer is left ($loaded)" grep -q 'Total 0 objects' /sys/kernel/debug/dma_buf/bufinfo
	holds "the module unloads ($loaded)" rmmod amdgpu
	holds "nothing in vmalloc space is the module's ($loaded)" \
		test -z "$(grep '\[amdgpu\]' /proc/vmallocinfo)"
	left=
	for cache in amdgpu_sync_entry gpu_buddy_block drm_buddy_block drm_sched_fence; do
		n=$(objects $cache)
		[ "$n" -eq 0 ] || left="$left $cache:$n"
	done
	holds "no object of the driver's slab caches is left ($loaded)$left" test -z "$left"
	used=$(settled)
	echo "# kernel memory after unloading: $used KB"
	# The first round also leaves what the kernel itself keeps for good.
	if [ -n "$before" ]; then
		holds "a round of loading, work and unloading leaks nothing: $before KB, $used KB ($loaded)" \
			test "$used" -le $((before + 1024))
	fi
	before=$used
}

each_has_worked() {
	for i in 1 2 3 4 5 6; do
		grep -q ': [1-9][0-9]* of [0-9]* requests completed' /tmp/load$i || return
	done
}

# 80 offline and 20 online queues of six processes at once on 24 hardware slots.
oversubscribe() {
	pids=
	for i in 1 2 3 4; do
		gpload --class offline --queues 20 --seconds 100000 --kernel 1ms --seed "$i" --print-every 0.5 \
			>/tmp/load"$i" 2>&1 &
		pids="$pids $!"
	done
	for i in 5 6; do
		gpload --class online --queues 10 --seconds 100000 --kernel 100us --waves 64 --seed "$i" \
			--print-every 0.5 >/tmp/load"$i" 2>&1 &
		pids="$pids $!"
	done
	for _ in $(seq 1200); do
		n=$(grep -c ' aql ' $queues)
		[ "$n" -ge 100 ] && break
		usleep 100000
	done
	holds "100 queues of 6 processes are on the GPU ($n)" test "$n" -eq 100
	for _ in $(seq 1200); do
		each_has_worked && break
		usleep 100000
	done
	# shellcheck disable=SC2086 # a list
	kill -TERM $pids
	wrong=
	for pid in $pids; do
		wait "$pid" || wrong="$wrong $pid:$?"
	done
	holds "each of 80 offline and 20 online queues does all its work exactly once$wrong" test -z "$wrong"
	[ -z "$wrong" ] || cat /tmp/load*
	# shellcheck disable=SC2016 # awk's
	holds "each of the six processes got its share of the GPU" \
		awk '/^requests/ { done += $4 > 0 } END { exit done != 6 }' /tmp/load[1-6]
}

free_before=$(kilobytes MemAvailable)
for part; do
	case $part in
	stops)
		load
		run gpstops "${GP_TIMES:-200}"
		oversubscribe
		unload
		load rptr_at=launch
		run gpstops $((${GP_TIMES:-200} / 4))
		oversubscribe
		unload
		;;
	faults)
		load
		run gpfaults
		unload
		;;
	profiles)
		for profile in mi300x mi210; do
			load profile=$profile
			right=
			gpload --queues 3 --requests 12 >/tmp/load && right=yes
			say "$right" "gpload is right on $profile"
			unload
		done
		;;
	esac
done
echo "# memory available: $free_before KB before, $(kilobytes MemAvailable) KB after"
[ "$broken" -eq 0 ]
