#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# In the deterministic guest, where a nanosecond is an instruction: what a look costs with 100
# queues of 4 processes, and what the module does while no process can preempt another: nothing.
# Facts on stdout, judged by tests/lab/kmod-look.sh.
fact() { echo "$*"; }
has_queues() { [ "$(ls "/sys/class/kfd/kfd/proc/$1/queues" 2>/dev/null | wc -l)" -eq 25 ]; }
until_has() { while ! has_queues "$1"; do usleep 50000; done; }

modprobe gpreempt
others=
for _ in 1 2 3; do
	gpload --class offline --queues 25 --kernel 20ms --seconds 900 >/tmp/offline 2>&1 &
	others="$others $!"
done
gpload --class online --queues 25 --kernel 300us --waves 16 --poisson 40 --seconds 900 >/tmp/online 2>&1 &
online=$!
for pid in $others $online; do
	until_has "$pid"
done
attach=
for pid in $others; do
	attach="$attach offline=$pid"
done

# No process may preempt another: all are offline. A second of it.
# shellcheck disable=SC2086 # words
gpkmod policy=priority $attach sleep=0.3 mark=idle_looks gpu=looks mark=idle_wakeups gpu=wakeups \
	mark=idle_rescans stats=rescans sleep=1 mark=later_looks gpu=looks mark=later_wakeups \
	gpu=wakeups mark=later_rescans stats=rescans
# shellcheck disable=SC2086
gpkmod policy=priority $attach online=$online sleep=0.5 mark=looks gpu=looks mark=look gpu=look_ns \
	mark=every gpu=look_every_ns mark=stopped stats=stopped
# The cap on what looking may take: as much as it likes, and a thousandth of the processor.
for share in 1000 1; do
	echo $share >/sys/module/gpreempt/parameters/look_share
	# shellcheck disable=SC2086
	gpkmod policy=priority $attach online=$online sleep=0.1 mark=share_${share} gpu=looks \
		mark=share_${share} stats=looks_put_off sleep=0.3 mark=share_${share} gpu=looks \
		mark=share_${share} stats=looks_put_off mark=share_${share} gpu=look_ns
done
# shellcheck disable=SC2086
kill $others $online
wait
rmmod gpreempt

# From the look that saw an arrival until the command is given and until the fence is seen: by the
# scheduler, and by the same timer and worker without it. Direct's doorbell is found by polling.
echo 50 >/sys/module/amdgpu/parameters/poll_us
gpload --class offline --queues 4 --kernel 20ms --seconds 900 >/tmp/offline 2>&1 &
offline=$!
gpload --class online --kernel 300us --waves 64 --poisson 100 --seconds 900 >/tmp/online 2>&1 &
online=$!
sleep 1
for mechanism in evict direct; do
	for floor in 0 1; do
		modprobe gpreempt allow_direct=1
		# The first arrivals are the scheduler's in any case, and not counted.
		gpkmod policy=priority param=linger=0 mechanism=$mechanism offline=$offline \
			online=$online \
			run="echo $floor >/sys/module/gpreempt/parameters/floor" sleep=0.1 \
			subscribe= sleep=1.2 parts=${mechanism}_${floor}
		rmmod gpreempt
	done
done
for pid in $offline $online; do
	kill $pid
	wait $pid
	fact sums $?
done
