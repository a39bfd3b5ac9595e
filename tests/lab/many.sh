#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# 10 000 preemptions of running work on the real driver, in one boot, by the stock driver's debug interface and by the
# module, and none of the work lost or done twice: gpload knows how often each workgroup ran.
# usage: GP_BUILD=build tests/lab/many.sh [ROUNDS]
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

rounds=${1:-10000}
half=$((rounds / 2))

# In the guest: half of them by each way, then the sums; what the device counted.
cat >"$tmp/guest.sh" <<'X'
half=$1
mount -t debugfs none /sys/kernel/debug 2>/dev/null
device() { sed -n "s/^$1 //p" /sys/kernel/debug/vgpu/0/counters; }
modprobe gpreempt stop_deadline_ms=20000 || exit 1
gpload --queues 2 --kernel 20ms --seconds 90000 >/tmp/load 2>&1 &
load=$!
until [ -d /sys/class/kfd/kfd/proc/$load/queues/0 ]; do usleep 100000; done
for way in kfd-debug evict; do
	unmaps=$(device unmaps)
	# A busy host may keep the guest waiting; that a stop takes long is not what is asked here.
	gpkmod param=stop_deadline=20000000000 \
		run="gpreempt bench $load --mechanism $way --rounds $half --grace 1 --json >/tmp/bench" || exit 1
	echo "$way $(sed -n 's/.*"rounds": *\([0-9]*\).*/\1/p' /tmp/bench | head -n 1)"
	echo "${way}_unmaps $(($(device unmaps) - unmaps))"
done
kill $load
wait $load
echo "load $?"
sed 's/^/load_says /' /tmp/load
echo "saved $(device waves_saved)"
echo "restored $(device waves_restored)"
X

claim "a guest preempts a load $rounds times, and the kernel has no complaint"
try "$top/lab/run" --timeout 3000 --copy "$tmp/guest.sh" -- sh ./guest.sh "$half"
exits 0 || cat "$tmp/err"
for way in kfd-debug evict; do
	claim "$half of them by $way, each of which the device has seen"
	check test "$(value $way)" -eq "$half" && check test "$(value ${way}_unmaps)" -ge "$half"
done

claim "every workgroup of the load ran exactly once"
check test "$(value load)" -eq 0
sed -n 's/^load_says /#| /p' "$tmp/out"

claim "every wave that was saved was restored"
check test "$(value saved)" -gt "$half" && check test "$(value restored)" -eq "$(value saved)"
echo "#| $(value saved) waves saved, $(value restored) restored"
end
