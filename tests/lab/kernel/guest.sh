#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In the guest: claims about `gpreempt module`, then those of lab-kernel. Prints TAP without numbers.
# shellcheck disable=SC2317 # functions are called by claim()
code=0
claim() { # TITLE COMMAND...
	title=$1
	shift
	if "$@"; then
		echo "ok - $title"
	else
		echo "not ok - $title"
		sed 's/^/# /' out err
		code=1
	fi
}
try() { want=$1; shift; got=0; "$@" >out 2>err || got=$?; [ "$got" -eq "$want" ]; }
loaded() { grep -q '^gpreempt ' /proc/modules; }

fits() {
	try 0 gpreempt module && grep -q 'the one it was built for: [0-9]* members' out &&
	try 0 gpreempt module check --json && grep -q '"layout": "same"' out
}
refuses() {
	try 1 gpreempt module --file moved.ko &&
	grep -q 'device_queue_manager.sched_halt: built with offset [0-9]*, running driver has' out &&
	try 1 gpreempt module load --file moved.ko && grep -q 'not loaded:.*sched_halt' err &&
	! loaded && try 2 gpreempt module load --file damaged.ko && grep -q damaged err && ! loaded
}
loads() {
	try 0 gpreempt module load && loaded && [ -c /dev/gpreempt ] &&
	try 1 gpreempt module load && grep -q already err &&
	try 0 gpreempt module unload && ! loaded &&
	try 5 gpreempt module unload && grep -q 'not loaded' err
}

claim "gpreempt module: the module is the one for the running driver" fits
claim "gpreempt module: refuses a module built with another layout and says what differs" refuses
claim "gpreempt module: loads and unloads" loads
modprobe gpreempt allow_direct=1 lease_max_ms=60000 stop_deadline_ms=10000 || exit 1
lab-kernel "$@" || code=1
claim "unloads when everything is over" try 0 gpreempt module unload
exit $code
