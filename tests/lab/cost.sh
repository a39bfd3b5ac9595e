#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What operations cost, by the deterministic lab: the same on every run, and as many packets as the
# driver's own rules say.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# As ./run bench measures, with fewer repetitions.
cost() {
	try "$top/lab/run" --seed 0 --param poll_us=20000 --param no_system_mem_limit=1 \
		--timeout 600 -- sh -c 'modprobe gpreempt && gpcost --json --repetitions 5'
}
# row OPERATION QUEUES FILTER: a value of the last run.
row() {
	jq -r --arg o "$1" --argjson q "$2" "select(.operation == \$o and .queues == \$q) | $3" \
		"$tmp/out"
}
# is OPERATION QUEUES FILTER VALUE
is() { check test "$(row "$1" "$2" "$3")" = "$4"; }

claim "every way to stop and start is measured, and says that it is of a model"
cost
exits 0 && check test "$(jq -s 'map(select(.model)) | length' "$tmp/out")" -eq 28
cp "$tmp/out" "$tmp/first"

claim "a suspend is one unmap between two writes of the grace period, a resume one runlist"
for queues in 1 8 80; do
	is suspend $queues '[.unmaps, .write_data, .runlists] | join(" ")' '1 2 0'
	is resume $queues '[.unmaps, .write_data, .runlists] | join(" ")' '0 0 1'
done

claim "an eviction is one unmap, a restore one runlist"
for queues in 1 8 80; do
	is evict $queues '[.unmaps, .write_data, .runlists] | join(" ")' '1 0 0'
	is restore $queues '[.unmaps, .write_data, .runlists] | join(" ")' '0 0 1'
done

claim "taking one of eight queues off cycles all of them: an unmap, a runlist, seven mapped"
is 'update off' 8 '[.unmaps, .runlists, .queues_mapped] | join(" ")' '1 1 7'
is 'update on' 8 '[.unmaps, .runlists, .queues_mapped] | join(" ")' '1 1 8'

claim "by the module a stop is one unmap too, and a start one runlist; after direct all processes are cycled for it"
# mechanism, its start, and the unmaps of that
for way in 'evict restore 0' 'direct map 1' 'halt unhalt 0'; do
	# shellcheck disable=SC2086 # three words
	set -- $way
	for queues in 1 8; do
		is "module $1" $queues '[.unmaps, .write_data, .runlists] | join(" ")' '1 0 0'
		is "module $2" $queues '[.unmaps, .write_data, .runlists, .queues_mapped] | join(" ")' "$3 0 1 $queues"
	done
done

claim "no more queues are mapped than there are slots"
is restore 80 .queues_mapped 24

claim "a cost is no accident: the median is within a tenth of the least"
for queues in 1 8 80; do
	check test "$(row suspend $queues '.cost | .median * 10 <= .min * 11')" = true
	check test "$(row evict $queues '.cost | .median * 10 <= .min * 11')" = true
done

claim "a second boot, beside other work on the machine, gives the same bytes"
(while :; do :; done) & busy=$!
(while :; do :; done) & busier=$!
cost
kill "$busy" "$busier"
exits 0 && check cmp "$tmp/first" "$tmp/out"

end
