#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Other people's programs against ours: promtool reads what stats prints, Debian 13's varlinkctl
# talks to the control socket and reads its interface. For the long tier: it fetches them.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# Debian 12 has no varlinkctl: that of 13 runs by its own loader, from a tree of its own.
tree=$GP_BUILD/varlinkctl
lib=$tree/usr/lib/x86_64-linux-gnu
socket=$tmp/control
GPREEMPT_SOCKET=$socket
export GPREEMPT_SOCKET
# shellcheck disable=SC2317 # by try
varlinkctl() { "$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/systemd" "$tree/usr/bin/varlinkctl" "$@"; }

cat >"$tmp/world.json" <<'END'
{"status": {"version": "0.1", "pid": 77, "up_ns": 65000000000, "enabled": true, "observe_only": false,
  "policy": "priority", "ejected": null, "mechanism": "kfd-debug", "gpus": 1, "processes": 1, "held": 0, "trouble": []},
 "list": {"gpus": [{"index": 0, "gpu_id": 1, "bdf": "0000:c1:00.0", "name": "gfx942", "partition": 0, "xccs": 4,
   "compute_units": 80, "vram_bytes": 1000, "mechanism": "kfd-debug", "watched": true}],
  "processes": [{"pid": 102, "start": 6000, "uid": 0, "name": "in\"fer", "class": "online", "class_from": "rule",
   "preempted": 3, "queues": [], "seats": [{"gpu": 0, "state": "on", "work": "idle", "since_ns": 5, "on_ns": 3000000000,
    "off_ns": 7, "waiting_ns": 9, "vram_bytes": 11}]}]},
 "stats": {"counters": {"looks": 5, "scan_ns_max": 2000000, "waiting_ns": 7},
  "processes": [{"pid": 102, "start": 6000, "name": "in\"fer", "class": "online", "counters": {"preempted_others": 12},
   "parts": [{"name": "command", "count": 12, "mean_ns": 4, "p50_ns": 3, "p99_ns": 6, "max_ns": 7},
    {"name": "save", "count": 0, "mean_ns": 0, "p50_ns": 0, "p99_ns": 0, "max_ns": 0}]}]},
 "policy": {"policy": "priority", "parameters": []}}
END
"$FAKE_DAEMON" "$socket" "$tmp/world.json" >"$tmp/told" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$tmp"' EXIT
await grep -q ready "$tmp/told"

claim "promtool has nothing to say about stats --prometheus"
try gpreempt stats --prometheus
exits 0 && cp "$tmp/out" "$tmp/metrics" && try sh -c "promtool check metrics <'$tmp/metrics'" && exits 0 &&
	check test ! -s "$tmp/err"

claim "varlinkctl can be had"
if [ ! -x "$tree/usr/bin/varlinkctl" ]; then
	rm -rf "$tree"
	try mmdebstrap --quiet --variant=extract --include=systemd trixie "$tree" http://deb.debian.org/debian
	exits 0 || cat "$tmp/err"
fi
check test -x "$tree/usr/bin/varlinkctl"

claim "it takes our interface description for one, from the file and over the socket"
try varlinkctl validate-idl "$top/lib/org.gpreempt.varlink"
exits 0
try varlinkctl info "$socket"
exits 0 && says 'org.gpreempt$' && says gpreemptd
try varlinkctl introspect "$socket" org.gpreempt
exits 0 && says 'method Status() ' && check test ! -s "$tmp/err"

claim "calls are answered, change something, fail with the error's name, and stream"
try varlinkctl call "$socket" org.gpreempt.Status '{}'
exits 0 && says '"policy"'
try varlinkctl call "$socket" org.gpreempt.Hint '{"pid": 102, "in_ns": 1000, "for_ns": 5}'
exits 0 && check grep -q '^hint 102 1000 5$' "$tmp/told"
try varlinkctl call "$socket" org.gpreempt.Release '{"pid": 99999999}'
exits 1 && says_err 'org.gpreempt.NotFound'
try varlinkctl call "$socket" org.gpreempt.Hint '{"pid": "x", "in_ns": 1, "for_ns": 5}'
exits 1 && says_err 'InvalidParameter'
"$lib/ld-linux-x86-64.so.2" --library-path "$lib:$lib/systemd" "$tree/usr/bin/varlinkctl" \
	--more call "$socket" org.gpreempt.Subscribe '{"kinds": ["enabled"]}' >"$tmp/events" 2>&1 &
listener=$!
# It does not say when it has subscribed.
# shellcheck disable=SC2317 # by await
heard() {
	gpreempt off >/dev/null && gpreempt on >/dev/null && grep -q 'switched off' "$tmp/events"
}
await heard
kill $listener
end
