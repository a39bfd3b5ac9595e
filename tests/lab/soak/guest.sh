#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# What tools/run-soak runs in the guest, in one boot without the module.
# usage: guest.sh SECONDS SEED LONGEST
#
# Rounds of at most LONGEST seconds: first gpstorm on both GPUs, and on the second one loads under a
# daemon that is killed and stopped, with a device that has faults it gets over; then one life
# of the daemon; then faults it does not get over; then gpreempt.ko for a twelfth of that time, used by
# eight threads at once; and each time the modules must leave nothing.
# Prints facts, "NAME VALUE", which are added up outside, and "wrong WHAT".
remaining=$1
random=$2
longest=$3
# A program that opened the first GPU alone cannot be preempted (lib/kfd_debug/vm.h).
gpu=1
# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh
# The storm has a debugger of its own.
printf '[rule storm]\nexe = **gpstorm\nclass = unmanaged\n' >>/etc/gpreempt/gpreempt.conf
views=/sys/kernel/debug/vgpu

below() { # N: sets $any
	random=$(((random * 1103515245 + 12345) % 2147483648))
	any=$((random / 65536 % $1))
}
now() { cut -d . -f 1 /proc/uptime; }
wrong() { fact wrong "$*"; }
must() { # WHAT COMMAND...
	what=$1
	shift
	"$@" || wrong "$what"
}
kilobytes() { awk -v name="$1:" '$1 == name { print $2 }' "$2"; }

# ---- the module, and what the kernel keeps ----
load_module() { modprobe amdgpu no_system_mem_limit=1 "$@" || wrong "the module does not load: $*"; }
is_unused() { [ "$(cat /sys/module/amdgpu/refcnt)" -eq 0 ]; }
none_left() { [ -z "$(ls /sys/class/kfd/kfd/proc)" ]; }
unload_module() {
	must "processes are left in the driver" until_true 60 none_left
	must "something holds the module" until_true 60 is_unused
	must "the module does not unload" rmmod amdgpu
}
settle() { # until everything delayed is done, and nothing is kept that need not be
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*; do
		{ echo 1 >"$cache"/shrink; } 2>/dev/null
	done
}
# What the driver itself forgets: of the lists of users' pages that it got (amdgpu_hmm_range_get_pages), those
# that it did not give back (doc/limits.md). Both are counted where it does so, by how many pages a list is for.
tracing=/sys/kernel/tracing
watch_lists() {
	mount -t tracefs none $tracing 2>/dev/null
	while read -r probe; do
		echo "$probe" >>$tracing/kprobe_events || wrong "no probe '$probe'"
	done <<'X'
r64:soak/got amdgpu:amdgpu_hmm_range_get_pages pages=$arg3:u64 failed=$retval:s32
p:soak/gave amdgpu:amdgpu_hmm_range_get_pages_done first=+16($arg1):u64 end=+24($arg1):u64
X
	echo 'hist:keys=pages if failed == 0' >$tracing/events/soak/got/trigger || wrong "lists that are got are not counted"
	echo 'hist:keys=end-first' >$tracing/events/soak/gave/trigger || wrong "lists given back are not counted"
}
# "LISTS KILOBYTES". Eight bytes a page; kmalloc rounds up to a power of two.
forgotten() {
	cat $tracing/events/soak/got/hist $tracing/events/soak/gave/hist | tr -d '{}:' | awk '
		$1 == "pages" { got += $4; list(8 * $2, $4) }
		$1 == "end-first" { gave += $4; list($2 / 512, -$4) }
		function list(bytes, n) {
			for (size = 8; size < bytes; size *= 2)
				;
			kept += n * size
		}
		END { print got - gave, int(kept / 1024) }'
}
# Calls that the probes missed: what they counted is worth nothing then.
are_counted() { awk '$1 ~ /^(got|gave)$/ { missed += $3; n++ } END { exit n != 2 || missed }' $tracing/kprobe_profile; }
# kept: what the kernel has in use, "NAME BYTES" each: the objects of every cache that it cannot reclaim,
# kmallocs too large for one less what the driver forgot, and what is no slab. Pages of caches are not counted: how
# many of them a few long-lived objects keep is chance.
kept() {
	{ forgotten; grep -l 1 /sys/kernel/slab/*/reclaim_account; cat /proc/slabinfo /proc/meminfo; } | awk '
		NR == 1 { large -= 1024 * $2; next }
		/reclaim_account$/ { split($0, path, "/"); can[path[5]] = 1; next }
		/^(slabinfo|#)/ { next }
		$1 == "SUnreclaim:" { large += 1024 * $2; next }
		$1 == "VmallocUsed:" || $1 == "Percpu:" { print tolower(substr($1, 1, length($1) - 1)), 1024 * $2; next }
		$1 ~ /:$/ || can[$1] { next }
		{ print $1, $2 * $4; large -= 4096 * $6 * $15 }
		END { print "large_kmallocs", large }'
}
settled() { # kilobytes
	settle
	kept | awk '{ sum += $2 } END { printf "%d\n", sum / 1024 }'
}

# ---- the daemon ----
daemon() { daemon_of "$supervisor" 2>/dev/null; }
# begin HEARTBEAT: a daemon whose supervisor ends it after so long without a sign of life.
begin() {
	sed -i "s/^heartbeat = .*/heartbeat = $1/" /etc/gpreempt/gpreempt.conf
	start || until_true 100 answers || wrong "no daemon answers"
}
is_alive() { { read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null && [ "$state" != Z ]; }
# The supervisor starts it again, and gives up when it has had to do that too often.
back() {
	for _ in $(seq 600); do
		answers && return
		is_alive "$supervisor" || { wait "$supervisor"; start && return; }
		usleep 200000
	done
	wrong "no daemon answers"
}
# account WHEN: what it counted, before it is gone. Stops and starts have no answer (are lost) if the process was
# killed or the GPU hung meanwhile, so there are none in times of unrest: only the daemon dies then.
account() {
	for counter in stopped stops_lost starts_lost; do
		n=$(count $counter)
		fact $counter "${n:-0}"
		[ $counter = stopped ] || fact "lost_$1" "${n:-0}"
	done
}
kill_daemon() { # SIGNAL
	account unrest
	pid=$(daemon)
	[ -n "$pid" ] && kill "-$1" "$pid" || return
	fact "daemon_$1" 1
	# A stopped one is ended by its supervisor if it could hold a process; else it goes on.
	if [ "$1" = STOP ]; then
		sleep 6
		kill -CONT "$pid" 2>/dev/null
	fi
	back
}

# ---- loads: $offline and $online are pids ----
seat() { # NAME ARGUMENTS...: starts one, whose pid is $seat
	out=$1
	shift
	gpload --json --gpu 1 "$@" --seconds 1000000 >"/tmp/$out" 2>&1 &
	seat=$!
}
seat_offline() { # NUMBER
	seat "off$1" --class offline --queues $((2 * $1)) --kernel $((5 * $1))ms
}
seat_online() { # NUMBER
	below 1000
	seat "on$1" --class online --kernel 500us --waves 64 --poisson 25 --seed "$any"
}
seat_all() {
	seat_offline 1; off1=$seat
	seat_offline 2; off2=$seat
	seat_online 1; on1=$seat
	seat_online 2; on2=$seat
}
# Ends one and looks at its sums.
leave() { # NAME PID
	kill "$2"
	code=0
	wait "$2" || code=$?
	done=$(sed -n 's/^  "completed": \([0-9]*\),$/\1/p' "/tmp/$1")
	fact requests "${done:-0}"
	[ $code -eq 0 ] && return
	wrong "$1 ended with $code: $(sed -n 's/^  "wrong": "\(.*\)"$/\1/p' "/tmp/$1")"
}
leave_all() {
	leave on1 "$on1"
	leave on2 "$on2"
	leave off1 "$off1"
	leave off2 "$off2"
}
# So often since it began.
has_attached() { [ "$(count attaches)" -ge "$1" ] 2>/dev/null; }
# A load is killed, held, being attached to or not, and another one comes.
kill_load() {
	kill -KILL "$off1"
	wait "$off1" 2>/dev/null
	fact loads_killed 1
	seat_offline 1; off1=$seat
}

# ---- faults the device gets over ----
device_fault() { # GPU TEXT
	echo "$2" >"$views/$1/fault" || wrong "no fault '$2'"
}
pass_fault() { # one of them, for a moment
	below 2; which=$any
	below 3
	if [ "$any" -eq 0 ]; then
		device_fault "$which" rptr-early
		fact fault_rptr-early 1
	else
		below 500
		device_fault "$which" "slow-save $((any + 2))"
		fact fault_slow-save 1
	fi
	below 20
	usleep $((any * 100000))
	device_fault "$which" none
}

# unrest UNTIL: the daemon is killed, again and again.
unrest() {
	while [ "$(now)" -lt "$1" ]; do
		below 30
		usleep $((any * 100000))
		below 6
		case $any in
		0 | 1 | 2) kill_daemon KILL ;;
		3) kill_daemon STOP ;;
		*) pass_fault ;;
		esac
	done
}
# The daemon $pid is not there any more. That its supervisor ended one which could not be heard of, since the driver or the
# host kept it waiting, is what the supervisor is for; everything else is a crash.
outlived() {
	if grep -q "the daemon ($pid) was not heard of" /tmp/daemon; then
		fact daemon_silent 1
	else
		wrong "the daemon has ended by itself: $(tail -n 1 /tmp/daemon)"
	fi
	until_true 100 answers || back
}
# calm UNTIL: one life of the daemon; its memory at the beginning and at the end.
calm() {
	account unrest
	stop || wrong "the daemon ended with $?"
	# A host with much to do may leave all of us without a processor for seconds.
	begin 25s
	must "no process is attached" until_true 60 has_attached 2
	sleep 5
	before=$(kilobytes VmRSS "/proc/$(daemon)/status")
	pid=$(daemon)
	while [ "$(now)" -lt "$1" ]; do
		below 40
		usleep $((any * 100000))
		below 8
		case $any in
		0) kill_load ;;
		*) pass_fault ;;
		esac
	done
	if [ "$pid" != "$(daemon)" ]; then
		outlived
		return
	fi
	fact daemon_rss "$before $(kilobytes VmRSS "/proc/$(daemon)/status") $(count stopped)"
}

# ---- faults it does not get over: the processes that were there lose, those that come later do not ----
driver_waits() { echo "$1" >/sys/module/amdgpu/parameters/queue_preemption_timeout_ms; }
resets() { dmesg | grep -c 'GPU reset end with ret = 0'; }
was_reset() { [ "$(resets)" -gt "$had" ]; }
was_stopped() { [ "$(count stopped)" -gt "${counted:-0}" ] 2>/dev/null; }
hang() {
	had=$(resets)
	begin 25s
	seat_offline 1; off1=$seat
	seat_online 1; on1=$seat
	must "before a hang no process is preempted" until_true 60 was_stopped
	# Only now: on a busy host the GPU may well be silent for half a second.
	driver_waits 500
	device_fault 1 hang
	must "a hang while the daemon preempts leads to no reset" until_true 60 was_reset
	driver_waits 9000
	fact fault_hang 1
	kill -KILL "$off1" "$on1"
	wait "$off1" "$on1" 2>/dev/null
	must "no daemon answers after a reset" until_true 20 answers
	counted=$(count stopped)
	seat_all
	must "after a reset no process is preempted" until_true 60 was_stopped
	counted=
	account hang
	stop || wrong "after a reset the daemon ended with $?"
	leave_all
}
break_device() {
	load_module
	gpfaults >/tmp/gpfaults || wrong "gpfaults: $(grep '^not ok' /tmp/gpfaults | head -n 1)"
	fact fault_claims "$(grep -c '^ok' /tmp/gpfaults)"
	fact fault_hang 2
	fact fault_preempt 1
	hang
	unload_module
}

# storm_facts: what gpstorm said.
storm_facts() {
	sed -n 's/.*debugger: \([0-9]*\) sessions, \([0-9]*\) suspends; sums checked: \([0-9]*\).*/sessions \1\nsuspends \2\nsums \3/p
		s/.*random use by \([0-9]*\) processes, \([0-9]*\) of them.*/storm_processes \1\nstorm_killed \2/p' /tmp/storm
	grep '^not ok' /tmp/storm >/dev/null && wrong "gpstorm: $(grep -m 1 '^#.*process' /tmp/storm)"
}

# by_module SECONDS: gpreempt.ko beside the driver, and what it leaves.
by_module() {
	load_module
	before=$(settled)
	modprobe gpreempt allow_direct=1 || wrong "gpreempt.ko does not load"
	gpkmod-storm "$1" "$random" >/tmp/threads 2>&1 || wrong "gpkmod-storm: $(grep -m 1 status /tmp/threads)"
	sed -n 's/.*preempted \([0-9]*\),.*gploads ended \([0-9]*\),.*/kmod_preempts \1\nkmod_ended \2/p' /tmp/threads
	must "processes are left in the driver" until_true 60 none_left
	must "gpreempt.ko does not unload" rmmod gpreempt
	fact kmod_kb "$before $(settled)"
	unload_module
}

round() { # NUMBER SECONDS
	rptr=completion
	[ $(($1 % 2)) -eq 1 ] || rptr=launch
	load_module rptr_at=$rptr
	# The probes stay when the driver goes, and count again when it is back.
	[ "$1" -gt 1 ] || watch_lists
	first=$(now)
	begin 4s
	seat_all
	gpstorm --gpus 2 --processes 4 --seconds "$2" --seed "$random" >/tmp/storm 2>&1 &
	storm=$!
	unrest $((first + $2 / 2))
	calm $((first + $2))
	account kills
	stop || wrong "the daemon ended with $?"
	leave_all
	wait $storm || wrong "gpstorm ended with $?"
	storm_facts
	for i in 0 1; do
		fact waves_saved "$(sed -n 's/^waves_saved //p' $views/$i/counters)"
	done
	unload_module
	fact seconds "$2"
	break_device
	by_module $(($2 / 12 + 1))
	fact kernel_kb "$(settled)"
	kept | sed 's/^/kept /'
	fact forgotten "$(forgotten)"
	must "lists of pages were not counted" are_counted
	fact round "$1"
}

number=1
while [ "$remaining" -gt 0 ]; do
	length=$remaining
	[ "$length" -le "$longest" ] || length=$longest
	round $number "$length"
	remaining=$((remaining - length))
	number=$((number + 1))
done
