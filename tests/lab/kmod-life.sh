#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt.ko beside the stock driver: it preempts by itself, and releases every process whatever ends:
# a lease, the owner of a hold, a target, the module, the GPU. One boot; the guest prints facts.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

reloads=10
[ "${GP_FULL:-0}" = 0 ] || reloads=100

claim "a guest runs the module beside the driver without a complaint of the kernel"
try "$top/lab/run" --allow-warn --timeout 900 --copy "$top/tests/lab/kmod/kmod.sh" \
	--copy "$top/tests/lab/kmod/life.sh" -- sh ./life.sh $reloads
exits 0 || cat "$tmp/err"
is complaints 0

for mechanism in evict direct; do
	claim "online work preempts offline work by itself, by $mechanism, and both verify"
	check test "$(value ${mechanism}_stopped)" -ge 3
	is ${mechanism}_online 0
	is ${mechanism}_offline 0
	is ${mechanism}_lost 0
done

claim "direct is what it says, where it can"
is evict_direct 0
check test "$(value direct_direct)" -ge 3

claim "every wave that was saved was restored"
check test "$(value saved | awk '{ print ($1 > 0 && $1 == $2) }')" = 1

claim "the tracepoints gpreempt:* tell the five parts of every preemption, and they make sense"
check test "$(value traced | awk '{ print ($1 >= 3 && $1 == $2 && $3 >= 3 && $3 < $1) }')" = 1 || echo "# $(value traced)"

for mechanism in evict direct; do
	claim "$mechanism: and the others tell each state, action, answer, move of a pointer and look, with the right values"
	# Of each kind: good, bad. A stop and a start are four states and two actions.
	check test "$(value ${mechanism}_told | awk '{ print ($2 >= 12 && $5 >= 6 && $8 >= 6 && $11 > 9 && $14 > 9 &&
		$3 + $6 + $9 + $12 + $15 == 0) }')" = 1 || echo "# $(value ${mechanism}_told)"
done

claim "a hold ends with its lease, though its owner is stopped, or frozen with its cgroup"
is lease_began yes && is lease_ended yes
is frozen_began yes && is frozen_is yes && is frozen_ended yes

claim "a hold ends when its owner is killed"
is close_held yes && is close_released yes

claim "the module cannot be unloaded while a descriptor is open"
check test "$(value rmmod_open)" -ne 0

for how in evict direct; do
	claim "a target that is killed while held by $how was off, and is let go within 100 ms: no process, no queue, no memory of any kind"
	is died_${how}_soon yes && is died_${how}_state "off gone "
done
claim "and so is one that is killed while not held"
is died_unheld_soon yes && is died_unheld_state "on gone " && is died_memory yes

claim "unloaded while the GPU is still to answer a stop that was given up, it waits: the process is back on, and verifies"
is late_says "Input/output error" && is late_offline 0

claim "unloaded, nothing of it is left; loaded $reloads times, each time with a process held, too"
is rmmod 0
is reloads $reloads
is reloads_runs yes
is reloads_offline 0
check test "$(value memory)" -lt 1024

claim "a GPU is known until its last process ends; pulled out after that it leaves no complaint, comes back, and once the driver serves it, so does the module"
is pulled_held yes && is pulled yes && is pulled_removals 0 && is pulled_back yes
is pulled_reloaded 0 && is again_off off && is again_on on && is again_offline 0
echo "# before it was loaded anew the driver's answer to a new process was $(value pulled_driver)"

claim "a GPU that is unbound under a held process is dropped; what the kernel says of it is not about us"
is unbound_held yes
is unbound 0
is unbound_removals 1
is unbound_state absent
is rmmod_after 0
is unbound_ours 0
is unbound_worse 0
echo "# the driver warned $(value unbound_warnings) times"
end
