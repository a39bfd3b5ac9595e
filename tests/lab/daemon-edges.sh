#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreemptd on the real driver at its edges: many processes, two GPUs, changes while a process is held, another debugger,
# a hundred queues; with read pointers that pass a packet at its launch.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
many=20
[ -z "${GP_FULL:-}" ] || [ "$GP_FULL" = 0 ] || many=1000

# shellcheck source=tests/lab/daemon/often.sh
. "$top/tests/lab/daemon/often.sh"

claim "a guest with two GPUs runs the daemon to its end without a complaint of the kernel"
try "$top/lab/run" --gpus 2 --param rptr_at=launch --param no_system_mem_limit=1 --timeout 1700 \
	--param queue_preemption_timeout_ms=2000 \
	--copy "$build/daemon/gpreemptd" --copy "$build/tests/lab/gpcall" \
	--copy "$top/tests/lab/daemon/common.sh" --copy "$top/tests/lab/daemon/edges.sh" -- sh ./edges.sh $many
exits 0 || cat "$tmp/err"

judge_often $many

claim "two GPUs with different online processes: each preempts on its own GPU and on no other"
is own_first 0 && is own_second 0 && is own_first_online 0 && is own_second_online 0 && is own_offline 0 && is own_offline_second 0

claim "a gang over two GPUs is held on both when one of it is, and released by the other"
is gang_held '2"state":"off"' && is gang_off_gpu0 0 && is gang_released yes

claim "online work on one GPU preempts a gang on both, and it is counted as one"
is gang_preempted yes && is gang_saved_first yes && is gang_saved_second yes && is gang_online 0
case $(value gang_counted_once) in ?*' '?*) [ "$(value gang_counted_once | cut -d ' ' -f 1)" -le "$(value gang_counted_once | cut -d ' ' -f 2)" ] ||
	no "$(value gang_counted_once)" ;; *) no "$(value gang_counted_once)" ;; esac

claim "one of a gang is killed while it is held: the other goes on and its sums are right"
is gang_survivor yes && is gang_right 0

claim "on two GPUs: a process that opened the first alone is left alone, since the driver would crash, and listed with the reason"
is second_gpu yes && is first_gpu 0 && is two_first 0 && is two_first_online 0
case $(value trouble) in *"would crash"*) ;; *) no "trouble: $(value trouble)" ;; esac

claim "an online process that dies while it has the GPU gives it back"
is online_died yes

claim "a policy that changes while a process is held releases it, and holds it again when it is back"
is policy_none yes && is policy_again yes

claim "a class that changes while its process is held releases it"
is class_changed yes

claim "a second daemon leaves alone whom the first one has, and its death changes nothing"
is second_daemon refused && is two_online 0 && is two_second 0

claim "80 offline and 20 online queues in eight steps: created (1), runs (2), created (3), preempted (4), online runs (5)"
is step_1 created && is step_2 runs && is step_3 created && is step_4 preempted && is step_5 runs

claim "... while offline completes nothing and has no wave (6), is let back (7) and goes on (8)"
is step_6 '0 0' && is step_7 released && is step_8 runs

claim "and by itself: 20 online queues preempt 80 offline ones, and all finish right"
is seed_suspended yes && is seed_online 0 && is seed_offline 0

claim "a GPU that hangs is reset: all are lost, on the other GPU too, nothing is owed to them, and it is reported"
case $(value reset_others_work) in [1-9]*' 0') ;; *) no "completed by the other GPU's process: $(value reset_others_work)" ;; esac
is reset_noticed yes && is reset_lost 3 && is reset_logged yes && is reset_left yes
case $(value reset_trouble) in *"was reset"*) ;; *) no "trouble: $(value reset_trouble)" ;; esac

claim "the same daemon preempts processes that come after the reset"
is reset_goes_on yes && is reset_online 0 && is reset_offline 0 && is reset_daemon same

end
