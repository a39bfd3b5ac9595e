#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/daemon-price.sh runs in the guest, in deterministic mode: an online process alone, beside an offline
# one, and the same under gpreemptd. Prints lines "NAME SEED JSON", which are judged there.
# usage: price.sh SEED...

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
	load_offline --seconds 900
	until_true 20 state_is on $offline
	sleep 0.5
	# When the daemon's states changed, by the guest's clock; what that is by the device's is in its file clock.
	./gpcall --more Subscribe '{"kinds":["state"]}' >/tmp/states &
	events=$!
	load_online --seconds 900
	sleep 2.5
	call Stats "{\"pid\":$online}" >/tmp/stats
	say parts /tmp/stats
	kill $online
	wait $online
	say with /tmp/online
	until_true 20 state_is on $offline
	kill $events
	wait $events
	call Stats "{\"pid\":$offline}" >/tmp/stats
	say counters /tmp/stats
	kill $offline
	wait $offline
	say with-offline /tmp/offline
	stop
	sed "s/^/states $seed /" /tmp/states
	sed "s/^/clock $seed /" /sys/kernel/debug/vgpu/0/clock
done
