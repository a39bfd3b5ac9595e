#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# GPUs that are unbound under processes that are attached, or were: what the driver frees with them is not touched. Three
# boots with the kernel's checks of memory; the guests print facts.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# The driver warns of memory in use.
guest() {
	try "$top/lab/run" --gpus 2 --debug-kernel --allow-warn --param no_system_mem_limit=1 --timeout 300 \
		--copy "$top/tests/lab/kmod/kmod.sh" --copy "$top/tests/lab/kmod/unbound.sh" -- sh ./unbound.sh "$@"
	exits 0 || cat "$tmp/err"
}

claim "a guest outlives that its GPUs are unbound"
guest

claim "the partitions of a GPU are switched once no process is attached, and nothing of the old ones is touched after that"
is partition_used 0 && is partition_sums 0 && is partition_says "No such device"
is partition_off off && is partition_on on && is partition_sums_after 0

claim "an attached process keeps its seat on a GPU that goes while no queue is on it, and the module asks that seat no more"
is other 0 && is state on
check test "$(value scans_after)" -gt "$(value scans_before)"

claim "a process that was there before it went is not attached any more"
is late "No such device"

claim "a GPU goes with queues that are looked at: nothing of its memory is held when it is gone"
is own 0 && is removals 1 && is state_unbound absent && is rmmod 0

claim "a GPU that goes while the module is being unloaded goes when the module has let go of it"
guest unloading
is unloading_late 1 && is unloading yes && is unloading_unbound 0 && is unloaded 0

claim "a GPU goes and no scan follows: what pinned its memory has let go of it before the process is detached"
guest unscanned
is unscanned_unbound 0 && is unscanned 1 && is unscanned_rmmod 0
is unscanned_after "$(value unscanned_before)"
end
