#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt compare and demo, as a user types them.
# shellcheck disable=SC2086 # $short is a list of words
. "$(dirname "$0")/../shared/claims.sh"

same() { cmp -s "$1" "$2"; }
some=alone,native,kfd-priority,ours-evict,bound
# Enough for a dozen requests; the figures themselves are the scenarios' business.
short='--length 300ms --set run.warmup=50ms'

claim "a comparison has the rows asked for, in their order"
try gpreempt compare colocate $short --rows $some --json
exits 0 && check test "$(jq -r '[.rows[].name] | join(",")' "$tmp/out")" = $some

claim "alone is the measure: ratio 1, nothing added"
json '.rows[] | select(.name == "alone") | .ratio.mean == 1 and .added.mean == 0 and
	.added.max == 0 and .breakdown == null'

claim "native has all its own work, and ours is far better for the requests"
json '(.rows | map({(.name): .}) | add) as $r | $r.native.total_vs_native == 1 and
	$r["ours-evict"].online.p99 < $r.native.online.p99 / 2'

claim "bound is not beaten by ours"
json '(.rows | map({(.name): .}) | add) as $r |
	$r.bound.added.mean <= $r["ours-evict"].added.mean'

claim "no row loses or doubles work"
json 'all(.rows[]; .work_lost == 0 and .work_doubled == 0)'

claim "JSON says what a row is, how its requests are spread, and what all are measured against"
json '(.quantiles | length) as $n | all(.rows[]; (.cdf | length == $n) and .what != "" and
	(.name == "bound" or .spec == .name) and
	.cdf[-1] == .online.max) and .alone.p99 > 0 and .alone.gpu_share > 0 and .length == 300000000'
json '.closed_form.name == "ours-evict" and .closed_form.simulated > 0 and
	(.better | map(.name) | index("mean added latency") != null)'

claim "results do not depend on how many rows run at a time"
cp "$tmp/out" "$tmp/first"
try gpreempt compare colocate $short --rows $some --json --jobs 1
check same "$tmp/first" "$tmp/out"

claim "the text says model, both tables, closed form and weakest source"
try gpreempt compare colocate $short --rows $some
exits 0 && says 'model: virtual MI308X, no hardware' && says '^online requests' &&
	says '^preemption' && says 'closed form of ours-evict' && says 'weakest source' &&
	says 'where another row is better'

claim "progress is on stderr only, and only when asked for"
check test ! -s "$tmp/err"
try gpreempt compare colocate $short --rows alone --progress --json
exits 0 && says_err '1/3 ' && json .

claim "every row that compare prints can be asked for by its name, with the same result"
try gpreempt compare colocate $short --rows cu-mask,throttle --json
exits 0 && check test "$(jq -r '[.rows[].name] | join(",")' "$tmp/out")" = cu-mask,cu-mask-25%,throttle,throttle-16
jq '[.rows[] | select(.name | IN("cu-mask-25%", "throttle-16")) | del(.what, .spec)]' "$tmp/out" >"$tmp/first"
try gpreempt compare colocate $short --rows cu-mask-25%,throttle-16 --json
jq '[.rows[] | del(.what, .spec)]' "$tmp/out" >"$tmp/second"
exits 0 && check test -s "$tmp/first" && check same "$tmp/first" "$tmp/second"
try gpreempt compare colocate $short --rows ours-evict,cu-mask-25
exits 2 && says_err "no row 'cu-mask-25'; did you mean 'cu-mask-25%'?"

claim "several seeds give min, median and max"
try gpreempt compare colocate $short --rows ours-evict --seeds 1..3 --json
exits 0 && json '.rows[0] | .runs == 3 and .added_mean.min <= .added_mean.median and
	.added_mean.median <= .added_mean.max'

claim "robust prints the order of the rows three times"
try gpreempt compare colocate $short --rows alone,native,ours-evict --robust --json
exits 0 && json '(.scales | length == 3) and .stays and
	all(.scales[]; .order[0].name == "alone")'

claim "robust says so when there was no time for a request: there is no order then"
try gpreempt compare colocate --length 1ms --rows alone,ours-evict --robust
exits 2 && says_err 'no order: give it more time with --length' && check test ! -s "$tmp/out"

claim "frontier has learnt and fixed points"
try gpreempt compare colocate-steps $short --frontier --json
check test "$code" -le 1 && json '(.points | length == 16) and
	([.points[] | select(.fixed)] | length == 8)'

claim "the demo draws bars, says what they mean and writes a timeline"
try env LC_ALL=C "$GPREEMPT" demo --length 200ms -o "$tmp/demo"
exits 0 && says '^ours-evict .*#' && says 'What this shows' && says 'is a model' &&
	says 'ui.perfetto.dev' && check test -s "$tmp/demo/gpreempt-demo.pftrace"
end
