#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# usage: gpus.sh PREEMPTIONS MECHANISM-OF-EIGHT-STEPS...
#
# In a guest with two GPUs: a gang with a rank on each, two GPUs that have nothing to do with each other,
# many preemptions on one of them, and a hundred queues. Facts on stdout, judged by tests/lab/kmod-gpus.sh.
# shellcheck source=tests/lab/kmod/kmod.sh
. ./kmod.sh
patient="param=stop_deadline=20000000000 param=lease=60000000000 param=small_victim=0"
counters=/sys/kernel/debug/vgpu
device() { sed -n "s/^$2 //p" "$counters/$1/counters"; }
load() { # GPU ARGUMENTS...: $load is its pid
	on=$1
	shift
	gpload --gpu "$on" "$@" >/tmp/load 2>&1 &
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
# One descriptor that does what it is told and then waits for let_go.
hold() {
	rm -f /tmp/ready /tmp/over
	# shellcheck disable=SC2086 # words
	gpkmod $patient "$@" run="touch /tmp/ready; while ! test -e /tmp/over; do usleep 50000; done" &
	holder=$!
	until_true 60 test -e /tmp/ready
}
let_go() { touch /tmp/over; wait $holder; }
stat() { gpkmod stats="$1"; }

# ---- a gang: by hand, then for an online process on the first GPU only ----
gang() { # MECHANISM
	offline 0; first=$load
	offline 1; second=$load
	online 0; online=$load
	# shellcheck disable=SC2086 # words
	gpkmod $patient mechanism=$1 policy=priority param=linger=0 gang=$first,$second preempt=0 \
		mark=$1_gang_held state=0 resume=0 mark=$1_gang_back state=0
	before="$(device 0 waves_saved) $(device 1 waves_saved)"
	# shellcheck disable=SC2086
	gpkmod $patient mechanism=$1 policy=priority param=linger=0 gang=$first,$second online=$online \
		run="$(both_save)" mark=$1_gang_stopped stats=stopped mark=$1_gang_lost stats=lost
	fact "$1_gang_saved" "$before $(device 0 waves_saved) $(device 1 waves_saved)"
	ended "$1_gang_online" $online
}

# ---- each GPU its own ----
own() { # MECHANISM
	online 0; online=$load
	online 1; other=$load
	before="$(device 0 waves_saved) $(device 1 waves_saved)"
	# shellcheck disable=SC2086
	gpkmod $patient mechanism=$1 policy=priority param=linger=0 offline=$first offline=$second \
		online=$online online=$other run="$(both_save)" mark=$1_own_stopped stats=stopped \
		mark=$1_own_lost stats=lost mark=$1_own_direct stats=direct_stops
	fact "$1_own_saved" "$before $(device 0 waves_saved) $(device 1 waves_saved)"
	for pid in $online $other $first $second; do
		ended "$1_own" "$pid"
	done
}

# ---- three online processes preempt two offline ones, again and again ----
are_on() { [ "$(stat nr_off)" = 0 ]; }
is_idle() { [ "$(device 0 hiq_busy)" = 0 ]; }
quiet() { # nothing moves any more
	# shellcheck disable=SC2086 # a list
	kill -STOP $onlines
	until_true 60 are_on || fact never_quiet yes
	sleep 1
	until_true 60 are_on
	# No process waits for the last runlist; a busy host may keep the device from it.
	until_true 60 is_idle
}
has_stopped() { [ $(($(stat stopped) - $1)) -ge "$2" ]; }
books() {
	for name in stopped started evict_cycles direct_stops direct_refused lost; do stat $name; done
	for name in UNMAP_QUEUES QUERY_STATUS RUN_LIST waves_saved waves_restored; do device 0 $name; done
}
often() { # MECHANISM PREEMPTIONS
	offline 0; offlines=$load
	load 0 --class offline --queues 3 --kernel 10ms --seconds 9000; offlines="$offlines $load"
	onlines=
	for seed in 1 2 3; do
		load 0 --class online --kernel 500us --waves 64 --poisson 25 --seed $seed --seconds 9000
		onlines="$onlines $load"
	done
	# shellcheck disable=SC2046,SC2086 # words
	hold mechanism=$1 policy=priority param=linger=0 $(printf 'offline=%s ' $offlines) \
		$(printf 'online=%s ' $onlines)
	until_true 60 has_stopped 0 2
	quiet
	before=$(books)
	from=$(stat stopped)
	# shellcheck disable=SC2086
	kill -CONT $onlines
	until_true $((60 + $2)) has_stopped "$from" "$2"
	quiet
	# As in books(), since then.
	fact "$1_often" "$(echo "$before $(books)" | tr '\n' ' ' |
		awk '{ for (i = 1; i <= NF / 2; i++) printf "%d ", $(i + NF / 2) - $i }')"
	# shellcheck disable=SC2086
	kill -CONT $onlines
	let_go
	for pid in $onlines $offlines; do
		ended "$1_often_sums" "$pid"
	done
}

# ---- the preemption test of the design notes (doc/background.md) in its eight steps: 80 offline and 20 online queues ----
queues() { find "/sys/class/kfd/kfd/proc/$1/queues" -mindepth 1 -maxdepth 1 | wc -l; }
have_queues() { [ "$(queues "$1")" -eq "$2" ]; }
completed() { sed -n 's/.*: \([0-9]*\) of [0-9]* requests completed.*/\1/p' "/tmp/$1" | tail -n 1; }
has_completed() { [ "$(completed "$1")" -gt "$2" ]; }
eight() { # MECHANISM
	gpload --class offline --queues 80 --kernel 5ms --seconds 900 --print-every 0.5 >/tmp/off80 2>&1 &
	a=$!
	until_true 60 have_queues $a 80 && fact "$1_step_1" created
	until_true 60 has_completed off80 0 && fact "$1_step_2" runs
	gpload --class online --queues 20 --kernel 500us --waves 64 --poisson 20 --seconds 900 \
		--print-every 0.5 >/tmp/on20 2>&1 &
	b=$!
	until_true 60 have_queues $b 20 && fact "$1_step_3" created
	refused=$(stat direct_refused)
	hold mechanism="$1" offline=$a online=$b preempt=0 mark="$1_step_4" state=0
	sleep 1
	off=$(completed off80)
	on=$(completed on20)
	until_true 40 has_completed on20 $((on + 5)) && fact "$1_step_5" runs
	fact "$1_step_6" "$(($(completed off80) - off)) $(cat /sys/class/kfd/kfd/proc/$a/stats_*/cu_occupancy | sort -n | tail -n 1)"
	let_go
	until_true 60 has_completed off80 "$off" && fact "$1_step_8" runs
	fact "$1_steps_refused" $(($(stat direct_refused) - refused))
	ended "$1_step_online" $b
	ended "$1_step_offline" $a
}

modprobe gpreempt stop_deadline_ms=20000 lease_max_ms=60000 allow_direct=1
for mechanism in evict direct; do
	gang $mechanism
	own $mechanism
	often $mechanism "$1"
done
shift
for mechanism; do
	eight "$mechanism"
done
fact restored "$(device 0 waves_saved) $(device 0 waves_restored) $(device 1 waves_saved) $(device 1 waves_restored)"
rmmod gpreempt
fact rmmod $?
