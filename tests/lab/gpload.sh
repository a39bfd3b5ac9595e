#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpload on the real driver, and our definitions against that driver's own headers.
#
# One boot does all of it; what each part printed is looked at here.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}

cat >"$tmp/all" <<'END'
part() {
	echo "=== $1"
	shift
	code=0
	timeout 150 "$@" 2>&1 || code=$?
	echo "exit $code"
}
stopped() {
	gpload --class online --requests 1000000 --kernel 2ms --wait event &
	for _ in 1 2 3 4 5 6 7 8 9; do
		sleep 1
		grep -q online /proc/$!/comm && break
	done
	cat /proc/$!/comm
	kill -TERM $!
	wait $!
}
hundred() {
	gpload --class offline --queues 80 --requests 160 --kernel 2ms &
	offline=$!
	gpload --class online --queues 20 --requests 40 --kernel 500us --waves 64 --poisson 50
	online=$?
	wait $offline
	code=$?
	echo "online $online, offline $code"
	awk '/MemTotal|MemAvailable/ { print $1 int($2 / 1024) }' /proc/meminfo
}
part check gpload --check
part userptr gpload --queues 2 --requests 10 --kernel 2ms --json
part gtt gpload --queues 2 --requests 10 --kernel 2ms --pointers gtt --wait event --save-area full
part stuck gpload --requests 1 --kernel 60s --patience 1
echo "=== stopped"; stopped 2>&1; echo "exit $?"
echo "=== hundred"; hundred 2>&1; echo "exit $?"
END

# look PART: make what it printed what `says` and `exits` look at.
look() {
	awk -v part="=== $1" '/^=== / { on = $0 == part; next } on' "$tmp/guest" >"$tmp/out"
	tried="$1"
	code=$(sed -n 's/^exit //p' "$tmp/out")
	code=${code:-125}
}

claim "a guest runs gpload to its end without a complaint of the kernel"
# The parts of save areas that share pages count in full for the driver's limit of memory.
try "$top/lab/run" --param no_system_mem_limit=1 --timeout 400 --copy "$tmp/all" -- sh ./all
cp "$tmp/out" "$tmp/guest"
exits 0

claim "our definitions are those of the driver that runs there"
try "$top/lab/abi/check" "$build/lab/source"
exits 0

claim "the driver shows a four-XCC MI308X and takes a queue of its geometry"
look check
exits 0 && says '^KFD 1\.17$' && says '^4 XCC of 20 CUs, 2560 waves at once, 24 compute queues' &&
	says 'save area 48959488 bytes' && says 'created.*destroyed'

claim "every workgroup runs once with rings in user memory"
look userptr
exits 0 && says '"completed": 10' && says '"verified": true' && says '"schema": 1'

claim "... and with rings in GTT, full save areas and sleep in WAIT_EVENTS"
look gtt
exits 0 && says '10 submitted, 10 completed' && says 'exactly once'

claim "what never completes is exit 3 and is named"
look stuck
exits 3 && says 'queue 0 packet 0 never completed'

claim "SIGTERM ends a load early, verified, under its class's name"
look stopped
exits 0 && says '^gpload-online$' && says 'exactly once'

claim "80 offline and 20 online queues, in two processes, finish right in 2 GB"
look hundred
exits 0 && says 'online 0, offline 0' && says '160 submitted, 160 completed' &&
	says '40 submitted, 40 completed'

end
