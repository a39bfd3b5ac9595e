#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon-edges.sh runs in the guest, which has two GPUs: prints facts.
# usage: edges.sh PREEMPTIONS
wanted=${1:-20}
# Most of it is on the second one.
gpu=1
# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh

load() {
	out=$1
	shift
	gpload --gpu 1 "$@" >"/tmp/$out" 2>&1 &
}
trouble_of() { call List "{\"pid\":$1}" | sed -n 's/.*"trouble": *"\([^"]*\)".*/\1/p'; }
is_troubled() { [ -n "$(trouble_of "$1")" ]; }
completed() { sed -n 's/.*: \([0-9]*\) of [0-9]* requests completed.*/\1/p' "/tmp/$1" | tail -n 1; }
preempted() { call List "{\"pid\":$1}" | sed -n 's/.*"preempted": *\([0-9]*\).*/\1/p'; }

# ---- three online and two offline processes ----
start
preempt_often "$wanted"

# ---- two GPUs with an online and an offline process each: each is preempted by its own ----
was_preempted() { [ "$(preempted "$1")" -ge "$2" ]; }
load off0 --class offline --gpu 0 --kernel 20ms --seconds 900
a=$!
load off1 --class offline --kernel 20ms --seconds 900
b=$!
load on0 --class online --gpu 0 --kernel 1ms --waves 64 --poisson 20 --seconds 900
d=$!
until_true 60 was_preempted $a 2 && fact own_first "$(preempted $b)"
kill $d
ended own_first_online $d
until_true 20 state_is on $a
first=$(preempted $a)
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
until_true 60 was_preempted $b 2 && fact own_second $(($(preempted $a) - first))
kill $c $a $b
ended own_second_online $c
ended own_offline $a
ended own_offline_second $b

# ---- a gang over both: what one of it must give up, all of it gives up ----
GPREEMPT_GANG=job
export GPREEMPT_GANG
load rank0 --class offline --gpu 0 --kernel 20ms --seconds 900
a=$!
load rank1 --class offline --kernel 20ms --seconds 900
b=$!
unset GPREEMPT_GANG
# Who comes first is held alone, and let go when the other joins: a gang begins again as a whole.
gang_states() { call List "{\"pid\":$a}" | grep -o '"state": *"[a-z]*"' | sort | uniq -c | tr -d ' '; }
gang_is_off() { can_be_held $b && [ "$(gang_states)" = '2"state":"off"' ]; }
until_true 30 gang_is_off
fact gang_held "$(gang_states)"
gpu=0
first=$(device waves_saved)
gpu=1
second=$(device waves_saved)
fact gang_off_gpu0 "$(cat /sys/class/kfd/kfd/proc/$a/stats_*/cu_occupancy | sort -n | tail -n 1)"
call Release "{\"pid\":$a}" >/dev/null
until_true 20 state_is on $b && fact gang_released yes
# By hand it was preempted too, on a busy machine more than once.
n=$(preempted $a)
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
until_true 60 was_preempted $a $((n + 3)) && fact gang_preempted yes
fact gang_counted_once "$(preempted $a) $(preempted $b)"
kill $c
ended gang_online $c
until_true 20 state_is on $a
gpu=0
[ "$(device waves_saved)" -gt "$first" ] && fact gang_saved_first yes
gpu=1
[ "$(device waves_saved)" -gt "$second" ] && fact gang_saved_second yes
# One of it is killed while all of it is held: the other goes on.
until_true 20 can_be_held $b
kill -KILL $a
wait $a
call Release "{\"pid\":$b}" >/dev/null
until_true 20 state_is on $b && fact gang_survivor yes
kill $b
ended gang_right $b

# ---- a process without memory on the second GPU: its suspension would crash the driver ----
load off0 --class offline --gpu 0 --vm one --kernel 20ms --seconds 900
a=$!
load off1 --class offline --kernel 20ms --seconds 900
b=$!
load on0 --class online --gpu 0 --kernel 1ms --waves 64 --poisson 20 --seconds 900
d=$!
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
until_true 60 was_preempted $b 2 && fact second_gpu yes
until_true 20 is_troubled $a && fact trouble "$(trouble_of $a)"
fact first_gpu "$(preempted $a)"
kill $d
ended two_first_online $d
# ---- the online one dies while it has the GPU ----
kill -KILL $c
wait $c
until_true 20 state_is on $b && fact online_died yes
# ---- the policy changes while a process is held ----
until_true 20 can_be_held $b
call SetPolicy '{"policy":"none"}' >/dev/null
until_true 20 state_is on $b && fact policy_none yes
call SetPolicy '{"policy":"priority"}' >/dev/null
until_true 20 can_be_held $b && fact policy_again yes
# ---- the class changes while it is held ----
call SetClass "{\"pid\":$b,\"class\":\"online\"}" >/dev/null
until_true 20 state_is on $b && fact class_changed yes
call SetClass "{\"pid\":$b,\"class\":\"offline\"}" >/dev/null
# ---- another process debugs it ----
until_true 20 can_be_held $b
sed 's,^\[daemon\],&\nsocket = /run/second/control\nstate = /run/second,' \
	/etc/gpreempt/gpreempt.conf >/run/second.conf
./gpreemptd --config /run/second.conf >/tmp/second 2>&1 &
second=$!
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
has_complained() { grep -q 'a debugger has it' /tmp/second; }
until_true 30 has_complained && fact second_daemon refused
kill -KILL $second
wait $second
kill $c
ended two_online $c
call Release "{\"pid\":$b}" >/dev/null
kill $a $b
ended two_first $a
ended two_second $b

# ---- the preemption test of the design notes (doc/background.md) in its eight steps: 80 offline and 20 online queues ----
has_queues() { [ "$(find "/sys/class/kfd/kfd/proc/$1/queues" -mindepth 1 -maxdepth 1 | wc -l)" -eq "$2" ]; }
has_completed() { [ "$(completed "$1")" -gt "$2" ]; }
load off80 --class offline --queues 80 --kernel 5ms --seconds 900 --print-every 0.5
a=$!
until_true 60 has_queues $a 80 && fact step_1 created
until_true 60 has_completed off80 0 && fact step_2 runs
load on20 --class online --queues 20 --kernel 500us --waves 64 --poisson 20 --seconds 900 --print-every 0.5
b=$!
until_true 60 has_queues $b 20 && fact step_3 created
# By hand, since by itself it would be over too soon to look at each step.
until_true 60 can_be_held $a && fact step_4 preempted
sleep 2
off=$(completed off80)
on=$(completed on20)
# A slow machine must not see the lease end meanwhile.
completes_while_held() { can_be_held $a && has_completed on20 $((on + 5)); }
until_true 60 completes_while_held && fact step_5 runs
can_be_held $a && fact step_6 "$(($(completed off80) - off)) $(cat /sys/class/kfd/kfd/proc/$a/stats_*/cu_occupancy | sort -n | tail -n 1)"
call Release "{\"pid\":$a}" >/dev/null
# By that, not by the end of its lease, which would come too.
is_held() { call List "{\"pid\":$a}" | grep -q held_until_ns; }
! is_held && until_true 60 state_is on $a && fact step_7 released
until_true 60 has_completed off80 "$off" && fact step_8 runs
suspends=$(count suspends)
was_suspended() { [ "$(count suspends)" -gt $((suspends + 2)) ]; }
until_true 120 was_suspended && fact seed_suspended yes
kill $b
ended seed_online $b
kill $a
ended seed_offline $a

# ---- the second GPU hangs while a process on it is held: the driver resets it ----
gpreempt_pid=$(daemon_of $supervisor)
load off0 --class offline --gpu 0 --kernel 20ms --seconds 900 --print-every 0.5
a=$!
load off1 --class offline --kernel 20ms --seconds 900
b=$!
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
until_true 30 can_be_held $b
echo hang >/sys/kernel/debug/vgpu/1/fault
call Release "{\"pid\":$b}" >/dev/null
was_reset() { [ "$(count gpu_resets)" -gt 0 ]; }
until_true 60 was_reset && fact reset_noticed yes
until_true 20 state_is lost $b && fact reset_lost "$(count processes_lost)"
fact reset_trouble "$(trouble_of $b)"
grep -q 'GPU 1: the driver resets it; 3 processes are lost' /tmp/daemon && fact reset_logged yes
has_left() { [ "$(count detaches)" -ge "$(count attaches)" ]; }
until_true 30 has_left && fact reset_left yes
# The driver runs no process any more that was there, on the other GPU neither. Printed counts lag by half a second.
sleep 1
n=$(completed off0)
sleep 3
fact reset_others_work "$n $(($(completed off0) - n))"
kill -KILL $a $b $c
wait $a $b $c
until_true 30 [ -z "$(ls /sys/class/kfd/kfd/proc)" ]
load off1 --class offline --kernel 20ms --seconds 900
b=$!
load on1 --class online --kernel 1ms --waves 64 --poisson 20 --seconds 900
c=$!
until_true 60 was_preempted $b 2 && fact reset_goes_on yes
kill $c $b
ended reset_online $c
ended reset_offline $b
[ "$(daemon_of $supervisor)" = "$gpreempt_pid" ] && fact reset_daemon same
stop
