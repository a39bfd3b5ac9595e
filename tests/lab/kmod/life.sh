#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# usage: life.sh RELOADS
#
# In the guest: the module's life beside the driver's, one claim after the other. Facts on stdout,
# judged by tests/lab/kmod-life.sh. Times are of an emulated machine on a loaded one: only
# deadlines that are long.
# shellcheck source=tests/lab/kmod/kmod.sh
. ./kmod.sh
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
pci=/sys/bus/pci/drivers/amdgpu
tracing=/sys/kernel/tracing
rest=$tracing/instances/rest
parts="detect decide command save switch"
patient="param=stop_deadline=20000000000 param=lease=20000000000"

load() { modprobe gpreempt stop_deadline_ms=20000 lease_max_ms=20000 allow_direct=1; }
offline() { gpload --class offline --kernel 20ms "$@" >/tmp/offline 2>&1 & offline=$!; }
online() { gpload --class online --kernel 1ms --waves 64 --poisson 20 "$@" >/tmp/online 2>&1 & online=$!; }
runs() { ! grep -q 'No active runlist' /sys/kernel/debug/kfd/rls; }
stopped() { ! runs; }
ended() { wait "$2"; fact "$1" $?; }
device() { sed -n "s/^$1 //p" /sys/kernel/debug/vgpu/0/counters; }

# For awk: the number behind NAME= in a line of the trace, -1 if it has none.
# shellcheck disable=SC2016 # awk's
value='
function value(name,  i) {
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2) + 0
	return -1
}
'

# What the tracepoints told of preemptions for the processes PIDS: how many, of how many all parts were told
# before it, as numbers that make sense, and of how many the command, which by evict is inside the save.
traced() { # PIDS
	awk -v pids=" $1 " "$value"'
	{
		for (i = 1; i <= NF && $i !~ /^(detect|decide|command|save|switch|preemption):$/; i++)
			;
		if (i > NF)
			next
		sane = value("gpu_id") > 0 && value("task") > 0 && index(pids, " " value("pid") " ")
		if ($i != "preemption:") {
			ns = value("ns")
			if (sane && ns >= 0 && ns < 600e9) {
				told[$i]++
				sum += ns
			}
			next
		}
		n++
		whole = 1
		for (k = split("detect: decide: save: switch:", want, " "); k; k--)
			whole = whole && told[want[k]] == 1
		whole = whole && told["command:"] <= 1
		commands += told["command:"]
		whole = whole && sane && value("victims") == 1
		good += whole && value("total_ns") > 0 && sum >= value("total_ns")
		delete told
		sum = 0
	}
	END { print n + 0, good + 0, commands + 0 }' $tracing/trace
}

# What the others told while the process PID was preempted: of each kind how many made sense, and how many did not.
# States follow upon each other, what is answered was ordered, times and pointers go forward.
told() { # PID
	awk -v pid="$1" "$value"'
	function judge(kind, is) { if (is) good[kind]++; else bad[kind]++ }
	/ state: / {
		judge("state", value("gpu_id") > 0 && value("task") > 0 && value("pid") == pid &&
			value("from") == at + 0 && value("to") == (at + 1) % 4 && value("now_ns") >= last)
		at = value("to")
		last = value("now_ns")
	}
	/ action: / { ordered[value("id")] = 1; judge("action", value("gpu_id") > 0 && value("id") > 0) }
	/ answer: / {
		judge("answer", (value("id") in ordered) && value("gpu_id") > 0 && value("outcome") == 0 &&
			value("command_ns") > 0 && value("saved_ns") >= value("command_ns") &&
			value("switched_ns") >= value("saved_ns"))
	}
	/ sample: / {
		q = value("queue")
		judge("sample", value("gpu_id") > 0 && value("wptr") >= value("rptr") && value("rptr") >= rptr[q] &&
			value("wptr") + value("rptr") > wptr[q] + rptr[q])
		wptr[q] = value("wptr")
		rptr[q] = value("rptr")
	}
	/ look: / { judge("look", value("gpu_id") > 0) }
	END {
		nr = split("state action answer sample look", kind, " ")
		for (i = 1; i <= nr; i++)
			printf "%s %d %d ", kind[i], good[kind[i]], bad[kind[i]]
	}' $rest/trace
}

fresh=$(cat /sys/kernel/debug/ttm/buffer_objects)

# ---- by itself, with each mechanism ----
load
for event in $parts preemption; do
	echo 1 >$tracing/events/gpreempt/"$event"/enable
done
mkdir $rest
echo mono >$rest/trace_clock
for event in state action answer sample look; do
	echo 1 >$rest/events/gpreempt/"$event"/enable
done
onlines=
for mechanism in evict direct; do
	offline --seconds 900
	online --requests 30
	onlines="$onlines $online"
	until_true 30 has_queues $offline && until_true 30 has_queues $online
	# shellcheck disable=SC2086 # words
	gpkmod $patient policy=priority mechanism=$mechanism param=linger=0 offline=$offline \
		online=$online run="while kill -0 $online; do usleep 50000; done 2>/dev/null" \
		mark=${mechanism}_stopped stats=stopped mark=${mechanism}_direct stats=direct_stops \
		mark=${mechanism}_lost stats=lost
	ended ${mechanism}_online $online
	kill $offline
	ended ${mechanism}_offline $offline
	fact ${mechanism}_told "$(told $offline)"
	echo >$rest/trace
done
fact saved "$(device waves_saved)" "$(device waves_restored)"
fact traced "$(traced "$onlines")"
echo 0 >$tracing/events/enable
echo 0 >$rest/events/enable
rmdir $rest

# ---- whichever process is stopped, the lease ends ----
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0x2000 mark=held run=echo sleep=60 >/tmp/held 2>&1 &
holder=$!
until_true 20 stopped && fact lease_began yes
kill -STOP $holder
until_true 20 runs && fact lease_ended yes
kill -KILL $holder
wait $holder 2>/dev/null

# ---- or frozen ----
frozen=/tmp/frozen
mkdir -p $frozen && mount -t cgroup2 none $frozen && mkdir -p $frozen/holder
is_frozen() { grep -q '^frozen 1' $frozen/holder/cgroup.events; }
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0x2000 mark=held run=echo sleep=60 >/tmp/held 2>&1 &
holder=$!
echo $holder >$frozen/holder/cgroup.procs
until_true 20 stopped && fact frozen_began yes
echo 1 >$frozen/holder/cgroup.freeze
until_true 20 is_frozen && fact frozen_is yes
until_true 20 runs && fact frozen_ended yes
echo 0 >$frozen/holder/cgroup.freeze
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
gpkmod run="touch /tmp/ready" sleep=60 &
holder=$!
until_true 20 test -e /tmp/ready
rm -f /tmp/ready
rmmod gpreempt 2>/dev/null
fact rmmod_open $?
kill $holder
wait $holder 2>/dev/null

# ---- kill -9 of a held and of an unheld one ----
# Buffers of all kinds (VRAM, GTT, the process's own pages), and what the driver counts as its system memory.
buffers() { cat /sys/kernel/debug/ttm/buffer_objects; }
no_memory() { [ "$(buffers)" -le "$fresh" ] && grep -q '^System mem used 0M' /sys/kernel/debug/kfd/mem_limit; }
is_gone() { [ -z "$(ls /sys/class/kfd/kfd/proc)" ] && stopped && no_memory; }
# Sets $soon. The host may keep the whole guest waiting: whether it takes 100 ms is asked three times at most.
kill_one() { # evict | direct | unheld
	has_queues $offline || { offline --seconds 900; until_true 30 has_queues $offline; }
	hold=
	[ "$1" = unheld ] || hold="mechanism=$1 preempt=0"
	# shellcheck disable=SC2086
	gpkmod $patient offline=$offline $hold state=0 run="touch /tmp/ready" sleep=1 state=0 >/tmp/state &
	holder=$!
	until_true 20 test -e /tmp/ready
	rm -f /tmp/ready
	[ "$(buffers)" -gt "$fresh" ] && had_memory=yes
	kill -KILL $offline
	usleep 100000
	soon=no
	is_gone && soon=yes
	until_true 20 is_gone || soon=never
	wait $offline $holder 2>/dev/null
	state=$(tr '\n' ' ' </tmp/state)
}
had_memory=no
for how in evict direct unheld; do
	for _ in 1 2 3; do
		kill_one $how
		[ $soon = no ] || break
	done
	fact died_${how}_soon "$soon"
	fact died_${how}_state "$state"
done
fact died_memory $had_memory

# ---- the module goes while a fence is awaited whose deadline has passed ----
gpload --class offline --kernel 3s --requests 2 >/tmp/offline 2>&1 &
offline=$!
runs_waves() { [ "$(awk '/ mapped / { n += $11 } END { print n + 0 }' /sys/kernel/debug/vgpu/0/queues)" -gt 0 ]; }
until_true 30 runs_waves
echo slow-save:400000 >/sys/kernel/debug/vgpu/0/fault
gpkmod mechanism=direct param=stop_deadline=300000000 offline=$offline preempt=0 2>/tmp/late
fact late_says "$(sed 's/.*: //' /tmp/late)"
rmmod gpreempt
fact rmmod $?
echo none >/sys/kernel/debug/vgpu/0/fault
ended late_offline $offline

# ---- again and again ----
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

# ---- the GPU is pulled out of its slot and put back; its last process, which was held, has just ended ----
load
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0 run="touch /tmp/ready" \
	run="while ! test -e /tmp/gone; do usleep 50000; done" mark=pulled_removals stats=removals &
holder=$!
until_true 20 test -e /tmp/ready
stopped && fact pulled_held yes
kill -KILL $offline
wait $offline 2>/dev/null
until_true 20 is_gone
gpu=$(basename "$(echo $pci/0000:*)")
echo 1 >/sys/bus/pci/devices/"$gpu"/remove && fact pulled yes
touch /tmp/gone
ended pulled_holder $holder
rm -f /tmp/ready /tmp/gone
echo 1 >/sys/bus/pci/rescan
until_true 20 test -e $pci/"$gpu" && fact pulled_back yes
# The driver stays locked after a removal, for every GPU: its next life serves it again.
gpload --requests 1 >/dev/null 2>&1
fact pulled_driver $?
rmmod gpreempt && rmmod amdgpu && modprobe amdgpu && load
fact pulled_reloaded $?
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0 mark=again_off state=0 resume=0 mark=again_on state=0
kill $offline
ended again_offline $offline

# ---- the GPU goes, under a process that is held ----
offline --seconds 900
until_true 30 has_queues $offline
# shellcheck disable=SC2086
gpkmod $patient offline=$offline preempt=0 run="touch /tmp/ready" \
	run="while ! test -e /tmp/gone; do usleep 50000; done" mark=unbound_removals \
	stats=removals mark=unbound_state state=0 &
holder=$!
until_true 20 test -e /tmp/ready
stopped && fact unbound_held yes
# The driver goes on to serve calls for a GPU that is gone, and falls over: with us and without. He makes none.
kill -STOP $offline
# The driver warns, of its queue manager and of memory in use, when it is unbound under a process. So
# the lab must let warnings pass, and up to here there must have been none.
bad='WARNING:|BUG:|Oops|UBSAN|refcount_t:|corruption|blocked for|general protection|unable to handle'
fact complaints "$(dmesg | grep -c -E "$bad")"
lines=$(dmesg | wc -l)
basename "$(ls -d $pci/0000:* | head -n 1)" >$pci/unbind
fact unbound $?
touch /tmp/gone
ended unbound_holder $holder
rmmod gpreempt
fact rmmod_after $?
dmesg | tail -n +$((lines + 1)) >/tmp/log
fact unbound_ours "$(grep -c '\[gpreempt\]\|gpreempt:' /tmp/log)"
fact unbound_warnings "$(grep -c 'WARNING: ' /tmp/log)"
fact unbound_worse "$(grep -E "$bad" /tmp/log | grep -c -v 'WARNING: ')"
