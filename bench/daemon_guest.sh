#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# bench_daemon runs this in the lab's guest, in deterministic mode. Prints one fact per line.
# usage: daemon_guest.sh REQUESTS PROCESSES...
requests=$1
shift

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh
as_by_default
# One virtual processor starts all of them: its daemon waits its turn, longer than the heartbeat by default.
sed -i 's/^\[daemon\]$/&\nheartbeat = 20s/' /etc/gpreempt/gpreempt.conf
printf '[policy priority]\nlease = 20s\n' >>/etc/gpreempt/gpreempt.conf

# ---- from the online pointer to the SUSPEND call ----
start || { cat /tmp/daemon >&2; exit 1; }
gpload --class offline --kernel 20ms --seconds 900 >/dev/null &
offline=$!
sleep 0.5
for look in 1ms 100us; do
	call SetPolicy "{\"parameters\":{\"look_min\":\"$look\",\"look_max\":\"$look\"}}" >/dev/null
	./gpcall --more Record >/tmp/record &
	recorder=$!
	gpload --class online --kernel 300us --poisson 40 --warm-up 20 --requests "$requests" --print-submits \
		>/dev/null 2>/tmp/submits
	kill $recorder
	wait $recorder 2>/dev/null
	echo "look $look"
	cat /tmp/submits /tmp/record
done
kill $offline
wait $offline
stop

# ---- what looking costs: half of the processes online, half offline, all with a queue, all asleep ----
# Until they are stopped they sleep in the driver: polling, thirty of them would leave no other process a turn.
# The decider decides, the readers look.
used() { for pid in $daemon $(children_of "$supervisor" gp-reader); do cat "/proc/$pid/schedstat"; done |
	awk '{ for (i = 1; i <= 3; i++) sum[i] += $i } END { printf "%.0f %.0f %.0f\n", sum[1], sum[2], sum[3] }'; }
# Looks so far, and those of them that came with a probe: they were not asked for at that time.
looked() {
	call Stats | sed 's/"processes":.*//' | sed -n 's/.*"looks":\([0-9]*\),"probes":\([0-9]*\).*/\1 \2/p' | head -n 1
}
for processes; do
	start || { cat /tmp/daemon >&2; exit 1; }
	daemon=$(daemon_of $supervisor)
	pids=
	i=0
	while [ $i -lt "$processes" ]; do
		class=online
		[ $((i % 2)) -eq 0 ] || class=offline
		gpload --class $class --kernel 200ms --waves 64 --wait event --requests 100000000 --depth 1 >/dev/null 2>&1 &
		pids="$pids $!"
		i=$((i + 1))
	done
	all() { [ "$(count attaches)" -ge $((processes / 2)) ]; }
	until_true 300 all || echo "not-attached $processes"
	# shellcheck disable=SC2086 # a list of pids
	kill -STOP $pids
	sleep 1
	for look in 1ms 100us; do
		# No process has work: then the third is what counts.
		call SetPolicy "{\"parameters\":{\"look_min\":\"$look\",\"look_max\":\"$look\",\"look_relaxed\":\"$look\"}}" \
			>/dev/null
		sleep 0.2
		before_looks=$(looked)
		before="$(used) $(cut -d ' ' -f 1 /proc/uptime)"
		sleep 2
		# In the order of before, so that both spans are equally long: to ask takes long where many are asked about.
		looks=$(looked)
		echo "share $processes $look $before $(used) $(cut -d ' ' -f 1 /proc/uptime) $before_looks $looks"
	done
	# shellcheck disable=SC2086
	kill -KILL $pids
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null
	stop
done
