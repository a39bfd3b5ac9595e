#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon-price.sh runs in the guest, in deterministic mode: an online process alone, beside an offline
# one, and the same under gpreemptd. Prints lines "NAME SEED JSON", which are judged there.
# usage: price.sh kfd-debug|evict|direct SEED...

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh
as_by_default
say() { # NAME FILE
	echo "$1 $seed $(tr -d '\n' <"$2")"
}
# Sets @online, @offline.
load_online() {
	gpload --json --class online --kernel 300us --poisson 40 --seed "$seed" --warm-up 20 "$@" >/tmp/online &
	online=$!
}
load_offline() {
	gpload --json --class offline --kernel 20ms --seed "$seed" "$@" >/tmp/offline &
	offline=$!
}

# When states changed, by the guest's clock, to /tmp/states; what that is by the device's is in its file clock. The
# daemon knows it by its own clock, or hears of it from the module later: then the tracepoint tells.
tracing=/sys/kernel/tracing
watch_states() {
	events=
	[ "$way" = kfd-debug ] || { echo >$tracing/trace; return; }
	./gpcall --more Subscribe '{"kinds":["state"]}' >/tmp/states &
	events=$!
}
end_of_states() {
	[ -z "$events" ] || { kill $events; wait $events; return; }
	awk -v pid="pid=$offline" '
	BEGIN { split("stopping off starting on", names, " "); names[0] = "on" }
	index($0, pid " ") && match($0, /to=[0-9]+ /) {
		to = substr($0, RSTART + 3, RLENGTH - 4)
		sub(/.*now_ns=/, "")
		printf "{\"parameters\":{\"event\":{\"state\":\"%s\",\"at_ns\":%s}}}\n", names[to], $0
	}' $tracing/trace >/tmp/states
}

has_queue() { [ -d /sys/class/kfd/kfd/proc/$offline/queues/0 ]; }
way=$1
shift
if [ "$way" != kfd-debug ]; then
	modprobe gpreempt
	mount -t tracefs none $tracing 2>/dev/null
	echo 1 >$tracing/events/gpreempt/state/enable
fi
if [ "$way" = direct ]; then	# is used where its self test has passed
	seed=1
	load_offline --seconds 2
	until_true 10 has_queue
	./gpreempt doctor --selftest-direct $offline >&2
	wait $offline
fi

for seed; do
	load_offline --seconds 1
	wait $offline
	say offline-alone /tmp/offline
	load_online --requests 100
	wait $online
	say alone /tmp/online
	load_offline --seconds 900
	sleep 0.3
	load_online --requests 60
	wait $online
	say native /tmp/online
	kill $offline
	wait $offline
	say native-offline /tmp/offline

	start
	load_offline --seconds 900 --print-kernels 2>/tmp/kernels
	until_true 20 state_is on $offline
	sleep 0.5
	watch_states
	load_online --seconds 900
	sleep 2.5
	call Stats "{\"pid\":$online}" >/tmp/stats
	say parts /tmp/stats
	kill $online
	wait $online
	say with /tmp/online
	until_true 20 state_is on $offline
	end_of_states
	call Stats "{\"pid\":$offline}" >/tmp/stats
	say counters /tmp/stats
	fact direct_stops "$(count kernel_direct_stops)"
	kill $offline
	wait $offline
	say with-offline /tmp/offline
	stop
	sed -n "s/^kernel /kernel $seed /p" /tmp/kernels
	sed "s/^/states $seed /" /tmp/states
	sed "s/^/clock $seed /" /sys/kernel/debug/vgpu/0/clock
done
