#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The commands that talk to gpreemptd, against a made-up one (tests/shared/fake_daemon.c).
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

GPREEMPT_SOCKET=$tmp/control
export GPREEMPT_SOCKET
server=

# Its clock goes by steps: a daemon that a busy machine keeps waiting is not late.
# shellcheck disable=SC2317 # by try
gpreempt() { LD_PRELOAD=$STEP_CLOCK "$GPREEMPT" "$@"; }

# One line on stderr, nothing on stdout, exit code $1.
refused() {
	exits "$1" && check test ! -s "$tmp/out" && check test "$(wc -l <"$tmp/err")" -eq 1 &&
		says_err '^gpreempt: '
}
# The daemon was told "$1", a line of its own.
told() { grep -q -e "^$1\$" "$tmp/told" || no "the daemon was not told '$1' but: $(tr '\n' '|' <"$tmp/told")"; }
untold() { ! grep -q -e "^$1" "$tmp/told" || no "the daemon was told '$1'"; }

says_not() { ! grep -q -e "$1" "$tmp/out" || no "'$tried' prints '$1'"; }

stop() {
	[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
	server=
}
trap 'stop; rm -rf "$tmp"' EXIT

# A daemon with the world $tmp/world.json; "$@": for fake_daemon.
daemon() {
	stop
	: >"$tmp/told"	# what the last one was told is no sign of this one
	"$FAKE_DAEMON" "$GPREEMPT_SOCKET" "$tmp/world.json" "$@" >"$tmp/told" 2>&1 &
	server=$!
	await grep -q ready "$tmp/told"
}
# The daemon was told lines that begin with "$1", at least $2 times.
told_often() { [ "$(grep -c -e "^$1" "$tmp/told")" -ge "$2" ]; }
# The process $1 records, and a signal ends it: it opens its signalfd when it has subscribed.
# shellcheck disable=SC2317 # by await
records() { find "/proc/$1/fd" -lname '*signalfd*' 2>/dev/null | grep -q .; }

# It grants 40 ms at a time, so that commands renew holds often.
cat >"$tmp/world.json" <<'END'
{"lease_ns": 40000000,
 "status": {"version": "0.1", "pid": 77, "up_ns": 65000000000, "enabled": true,
   "observe_only": false, "policy": "priority", "ejected": null, "mechanism": "kfd-debug",
   "gpus": 2, "processes": 3, "held": 1, "trouble": ["debugfs is not mounted"]},
 "list": {"gpus": [
   {"index": 0, "gpu_id": 111, "bdf": "0000:c1:00.0", "name": "gfx942", "partition": null,
    "xccs": 4, "compute_units": 80, "vram_bytes": 206158430208, "mechanism": "kfd-debug", "watched": true},
   {"index": 1, "gpu_id": 222, "bdf": "0000:c2:00.0", "name": "gfx942", "partition": null,
    "xccs": 4, "compute_units": 80, "vram_bytes": 206158430208, "mechanism": "kfd-debug", "watched": false}],
  "processes": [
   {"pid": 101, "start": 5000, "uid": 1001, "name": "train\"1", "class": "offline", "class_from": "rule 1",
    "preempted": 12, "trouble": null,
    "seats": [{"gpu": 0, "state": "off", "work": "pending", "since_ns": 1, "on_ns": 2000000000,
      "off_ns": 500000000, "waiting_ns": 1000, "vram_bytes": 4000000000}],
    "queues": [{"id": 0, "gpu": 0, "type": "aql", "bytes": 65536}, {"id": 1, "gpu": 0, "type": "sdma", "bytes": 4096},
      {"id": 2, "gpu": 0, "type": "aql", "bytes": 65536}]},
   {"pid": 102, "start": 6000, "uid": 1002, "name": "infer", "class": "online", "class_from": "rule 2",
    "preempted": 0, "trouble": null,
    "seats": [{"gpu": 1, "state": "on", "work": "idle", "since_ns": 1, "on_ns": 3000000000,
      "off_ns": 0, "waiting_ns": 0, "vram_bytes": 8000000000}],
    "queues": [{"id": 0, "gpu": 1, "type": "aql", "bytes": 65536}]},
   {"pid": 13, "start": 7000, "uid": 1001, "name": "old", "class": "offline", "class_from": "default",
    "preempted": 0, "trouble": "its ROCm never enables the debug runtime", "seats": [], "queues": []}]},
 "stats": {"counters": {"looks": 123456, "processes_left_out": 2, "stop_time_ns": 1500000000, "scan_ns_max": 2000000,
   "retake_ns_sum": 5000000, "idle": 0},
  "processes": [
   {"pid": 101, "start": 5000, "name": "train\"1", "class": "offline",
    "counters": {"stops_asked": 12, "waiting_ns": 1000, "late": 0}, "parts": []},
   {"pid": 102, "start": 6000, "name": "infer", "class": "online", "counters": {"preempted_others": 12},
    "parts": [{"name": "save", "count": 12, "mean_ns": 40000, "p50_ns": 39000, "p99_ns": 61000, "max_ns": 70000},
     {"name": "total", "count": 12, "mean_ns": 90000, "p50_ns": 80000, "p99_ns": 110000, "max_ns": 120000}]}]},
 "policy": {"policy": "priority", "parameters": [
   {"name": "min_turn", "value": "5ms", "initial": "2ms", "what": "left alone for"}]}}
END

claim "without a daemon every command is one line and exit 3; run is 125"
for c in status list 'suspend 1' 'resume 1' 'class 1 offline' policy 'hint 1' stats 'record x.pftrace' off on; do
	# shellcheck disable=SC2086 # words
	try gpreempt $c
	refused 3 && says_err 'gpreemptd is not running'
done
try gpreempt run --class offline -- true
refused 125

daemon

claim "status says what runs and which process is on which GPU"
try gpreempt
exits 0 && says 'gpreemptd 0.1, pid 77' && says 'policy priority, mechanism kfd-debug' &&
	says 'trouble: debugfs' && says 'c1:00.0 .*- .*train"1 (101)' && says 'infer (102) *-'
try gpreempt status --json
exits 0 && json '.schema == 1 and .pid == 77 and .who[0].off == [101] and .who[1].on == [102]'

claim "-g selects by index, address and all; a wrong one is exit 5 or 2"
try gpreempt list -g 1 --json
exits 0 && json '[.gpus[].index] == [1] and [.processes[].pid] == [102]'
try gpreempt list --gpu c1:00.0 --json
exits 0 && json '[.gpus[].index] == [0] and [.processes[].pid] == [101]'
try gpreempt list -g all --json
exits 0 && json '.gpus | length == 2'
try gpreempt stats -g 0 --json
exits 0 && json '[.processes[].pid] == [101]'
try gpreempt status -g 0 --json
exits 0 && json '.who | length == 1'
try gpreempt list -g 7
refused 5 && says_err "'7'"
try gpreempt list -g 0,c9:00.0
refused 5 && says_err "'c9:00.0'"
try gpreempt list -g first
refused 2 && says_err "'first'"

claim "list shows GPUs, seats, queues by type, times, VRAM, and processes that cannot be preempted"
try gpreempt list
exits 0 && says '0000:c1:00.0 .* 4 *80 .*206.2 GB  kfd-debug$' && says '0000:c2:00.0 .*kfd-debug (idle)$' && says_not 'not watched' &&
	says '101 .*offline *0  off *pending  2 aql, 1 sdma .*2.00.*s .*12  4.0 GB' &&
	says '13 .*no queue yet' && says '^13: its ROCm never'

claim "an unmanaged process is on the GPU where it has queues, in list and in status"
cp "$tmp/world.json" "$tmp/world"
jq '.list.processes += [{"pid": 14, "start": 8000, "uid": 1001, "name": "alone", "class": "unmanaged", "class_from": "default",
	"preempted": 0, "trouble": null, "seats": [], "queues": [{"id": 0, "gpu": 1, "type": "aql", "bytes": 65536},
	{"id": 1, "gpu": -1, "type": "aql", "bytes": 65536}]}]' "$tmp/world" >"$tmp/world.json"
daemon
try gpreempt list
exits 0 && says '14 .*unmanaged *1  left alone *-  *1 aql$'
check test "$(grep -c 'left alone' "$tmp/out")" -eq 1
try gpreempt status --json
exits 0 && json '.who[0].on == [] and .who[1].on == [102, 14]'
try gpreempt
says 'infer (102), alone (14)'
cp "$tmp/world" "$tmp/world.json"
daemon

claim "list of one process; one that is not there is exit 5; no number is exit 2"
try gpreempt list 102 --json
exits 0 && json '.schema == 1 and (.processes | length == 1)'
try gpreempt list 99999999
refused 5
try gpreempt list infer
refused 2 && says_err "'infer' is not a process id"

claim "another user's process is shown by its pid, class, GPU and state, and says so"
cp "$tmp/world.json" "$tmp/kept.json"
jq '.list.processes[0] |= {pid, class, gpus: [0], seats: [.seats[] | {gpu, state}]} |
	.list.processes += [{pid: 777, class: "unmanaged", gpus: [1], seats: []}]' \
	"$tmp/kept.json" >"$tmp/world.json"
daemon 1002
try gpreempt list
exits 0 && says '^ *101 *- *- *offline *0 *off *$' && says '^ *777 *- *- *unmanaged *1 *left alone' &&
	says "^-: another user's process" && says '^ *102 .* infer '
try gpreempt status
exits 0 && says 'infer (102)' && says ' 101' && says_not 'train'
try gpreempt stats 777
refused 4 && says_err 'permission denied'
try gpreempt stats --prometheus
exits 0 && says '^gpreempt_process_gpu_on{.*"101"' && says_not '^gpreempt_process_gpu_off_seconds_total{.*"101"'
cp "$tmp/kept.json" "$tmp/world.json"
daemon

claim "status says how often the daemon was restarted, and why"
try gpreempt status
exits 0 && says_not restarted
jq '.status += {restarts: 2, restart_reasons: ["2026-11-18T12:00:00Z ended by signal 9", "x"]}' \
	"$tmp/kept.json" >"$tmp/world.json"
daemon
try gpreempt status
exits 0 && says 'restarted 2 times, last 2026-11-18T12:00:00Z ended by signal 9'
cp "$tmp/kept.json" "$tmp/world.json"
daemon

claim "class of a process that uses no GPU says so"
try gpreempt class $$ offline
exits 0 && says "process $$ uses no GPU now"
try gpreempt class 101 offline
exits 0 && says_not 'uses no GPU'

claim "-w repeats, with --json one object per line"
"$GPREEMPT" list --json -w 0.1 >"$tmp/lines" 2>/dev/null &
watcher=$!
# shellcheck disable=SC2317 # by await
three_lines() { [ "$(wc -l <"$tmp/lines")" -ge 3 ]; }
await three_lines
check kill "$watcher"	# it still runs
code=0
wait "$watcher" || code=$?
check test "$code" -eq 143 &&
	check test "$(head -n 3 "$tmp/lines" | jq -s 'map(.schema == 1) | all')" = true
try gpreempt list -w 0
refused 2 && says_err 'watch'

claim "run tells the class of the very process that becomes the command"
# shellcheck disable=SC2016 # for the inner shell
try gpreempt run --class offline -- sh -c 'echo "$$ $GPREEMPT_CLASS"; exit 42'
exits 42 && told "register $(cut -d' ' -f1 "$tmp/out") offline" && says ' offline$'

claim "run: options behind the command are the command's, and -- may be left out"
try gpreempt run -c offline echo --class --json
exits 0 && says '^--class --json$'

claim "run: 127 no such command, 126 not executable, 125 refused, no class or no command"
try gpreempt run -c offline "$tmp/none"
refused 127
try gpreempt run -c offline "$tmp"
refused 126
try gpreempt run -c nosuch true
refused 125
try gpreempt run true
refused 125 && says_err 'no class'
try gpreempt run -c offline
refused 125 && says_err 'no COMMAND'

claim "run --anyway runs the command though it is refused"
try gpreempt run -c nosuch --anyway echo ran
exits 0 && says ran && says_err 'nosuch\|class'

claim "suspend --for holds, renews and releases"
LD_PRELOAD=$STEP_CLOCK "$GPREEMPT" suspend 101 >"$tmp/out2" 2>"$tmp/err2" &
held=$!
await grep -q '^hold 101 wait$' "$tmp/told"
# Once before it waited; the others renew.
await told_often 'hold 101$' 4
kill -TERM "$held"
code=0
wait "$held" || code=$?
check test "$code" -eq 0 && told 'release 101' && check grep -q '^held off; Ctrl-C releases$' "$tmp/out2"
try gpreempt suspend 101 --for 200ms
exits 0 && check told_often 'release 101' 2 && says 'held off for 200 ms'

claim "suspend of one that is not there is exit 5 and releases the others"
daemon
try gpreempt suspend 102 99999999 --for 5s
refused 5 && says_err 99999999 && told 'hold 102' && told 'release 102'

claim "suspend of several keeps those that are off while it waits for one that takes longer than a lease"
jq '.list.processes += [.list.processes[1] | .pid = 15] | .slow_until = 6' "$tmp/world.json" >"$tmp/w2"
cp "$tmp/world.json" "$tmp/world"
mv "$tmp/w2" "$tmp/world.json"
daemon
try gpreempt suspend 101 15 --for 300ms --json
exits 0 && json '[.suspended[].end] == ["released", "released"]' && check test ! -s "$tmp/err" && told 'hold 15 wait' &&
	check told_often 'hold 101$' 7
cp "$tmp/world" "$tmp/world.json"

claim "suspend ends when the process is resumed, and says so"
daemon
LD_PRELOAD=$STEP_CLOCK "$GPREEMPT" suspend 101 --json >"$tmp/out2" 2>"$tmp/err2" &
held=$!
await grep -q '^hold 101 wait$' "$tmp/told"
# suspend asks whether it still holds, then renews: a resume in between is undone, so repeat it.
# shellcheck disable=SC2317 # by await
resume_it() {
	try gpreempt resume 101
	exits 0
	grep -q 'resumed by another client' "$tmp/err2"
}
await resume_it
code=0
wait "$held" || code=$?
check test "$code" -eq 0 && json '.suspended == [{"pid": 101, "end": "resumed"}]' "$tmp/out2" &&
	check grep -q 'resumed by another client' "$tmp/err2"

claim "suspend releases when it is interrupted"
daemon
LD_PRELOAD=$STEP_CLOCK "$GPREEMPT" suspend 101 --json >"$tmp/out2" 2>"$tmp/err2" &
held=$!
await told_often 'hold 101' 2
kill -TERM "$held"
code=0
wait "$held" || code=$?
check test "$code" -eq 0 && told 'release 101' && json '.suspended[0].end == "released"' "$tmp/out2"

claim "suspend of one that does not get off in time is exit 6, says why, and releases it and the others"
daemon
STEP_CLOCK_MS=2
export STEP_CLOCK_MS
try gpreempt suspend 101 13 --for 9s
unset STEP_CLOCK_MS
refused 6 && says_err '13: its ROCm never' && told 'release 13' && told 'release 101' &&
	check test "$(grep -c '^hold 101$' "$tmp/told")" -ge 6

claim "suspend without a time, or for no time, is bad usage"
try gpreempt suspend 101 --for 0
refused 2
try gpreempt suspend 101 --for soon
refused 2 && says_err 'soon'
try gpreempt suspend
refused 2 && says_err 'no PID'

claim "class changes it and says from what"
try gpreempt class 102 batch
exits 0 && told 'class 102 batch' && says '^102: online -> batch$'
try gpreempt class 102 offline --json
exits 0 && json '.schema == 1 and .pid == 102 and .class == "offline" and .previous == "batch"'
try gpreempt class 102 nosuch
refused 2
try gpreempt class 99999999 offline
refused 5
try gpreempt class 102
refused 2

claim "policy shows what differs from the beginning, and changes"
try gpreempt policy
exits 0 && says '^policy priority' && says 'min_turn *5ms *2ms  left alone for'
try gpreempt policy fair min_turn=1ms --json
exits 0 && told 'policy fair' && told 'set min_turn 1ms' && json '.changed and .policy == "fair"'
try gpreempt policy min_turn=3ms --dry-run
exits 0 && told 'policy - dry' && says 'nothing was changed'
try gpreempt policy fair fifo
refused 2
try gpreempt policy =1
refused 2
try gpreempt policy --dry-run
refused 2
try gpreempt policy busy
refused 1 && says_err 'not now'

claim "hint says when and for how long"
try gpreempt hint 102 --in 2ms
exits 0 && told 'hint 102 2000000 100000000' && check test ! -s "$tmp/out"
try gpreempt hint 102 --for 1s --json
exits 0 && told 'hint 102 0 1000000000' && json '.for_ns == 1000000000'

claim "stats shows counters and parts"
try gpreempt stats
exits 0 && says 'gpreemptd *looks *123 456' && says 'train"1 (101) *stops_asked *12' &&
	says 'infer (102) *save *12 *40.00 us' && says 'scan_max *2.00.* ms' &&
	check test "$(grep -c ' late \| idle ' "$tmp/out")" -eq 0
try gpreempt stats 102
exits 0 && says 'infer (102) *preempted_others *12' && says_not gpreemptd && says_not train
try gpreempt stats 102 --json
exits 0 && json '.counters.looks == 123456 and [.processes[].pid] == [102]'
try gpreempt stats --json --prometheus
refused 2

# Name, labels and value of each sample as the format has them; HELP and TYPE once and before.
well_formed() {
	awk '
	/^# HELP / { help[$3]++; next }
	/^# TYPE / { type[$3] = $4; types[$3]++; last = $3; next }
	!/^[a-z_]+[{]([a-z_]+="([^"\\]|\\["n\\])*",?)+[}] [0-9.]+$/ { print "# bad: " $0; bad = 1; next }
	{
		name = $0; sub(/[{].*/, "", name); base = name
		if (type[last] == "summary") sub(/_(sum|count)$/, "", base)
		if (base != last || types[base] != 1 || help[base] != 1) { print "# not under its TYPE: " $0; bad = 1 }
		if ((type[base] == "counter") != (name ~ /_total$/)) { print "# name and type: " $0; bad = 1 }
		series = $0; sub(/ [^ ]*$/, "", series)
		if (seen[series]++) { print "# twice: " $0; bad = 1 }
	}
	END { exit bad }' "$1"
}

claim "stats --prometheus is the text format, with AMD's label names"
try gpreempt stats --prometheus
cp "$tmp/out" "$tmp/metrics"
exits 0 && check well_formed "$tmp/metrics" && says '^gpreempt_looks_total{hostname="[^"]*"} 123456$' &&
	says '^gpreempt_stop_time_seconds_total{.*} 1.500000000$' && says '^gpreempt_processes_left_out{' && says '^# HELP gpreempt_looks_total .*gpreempt-stats(1)' &&
	says '^gpreempt_scan_seconds_max{.*} 0.002000000$' && says '^gpreempt_retake_seconds_total{.*} 0.005000000$' &&
	says 'gpreempt_process_gpu_on_seconds_total{.*kfd_process_id="102",process="infer",class=.*,gpu_id="1",gpu_partition_id="0",card_model="gfx942"} 3.0' &&
	says 'process="train\\"1"' && says 'gpreempt_preemption_seconds{.*part="save",quantile="0.99"} 0.000061000' &&
	says 'gpreempt_preemption_seconds_sum{.*part="total"} 0.001080000'

claim "record draws states as spans, why they changed, and what the daemon did"
"$GPREEMPT" record "$tmp/t.pftrace" --json >"$tmp/out2" 2>"$tmp/err2" &
recorder=$!
await records "$recorder"
try "$GPREEMPT" suspend 101 --for 300ms
exits 0
try gpreempt off
try gpreempt on
try gpreempt status	# answered after the event of the last command was sent
kill -INT "$recorder"
code=0
wait "$recorder" || code=$?
check test "$code" -eq 0 && json '.events >= 4 and .lost == 0 and .slices > 5' "$tmp/out2" &&
	check "$top/tools/pftrace-json" "$tmp/t.pftrace" >"$tmp/t.json" &&
	json '[.tracks[].path] | any(. == ["train (101)", "GPU 0"]) and any(. == ["gpreemptd"])' "$tmp/t.json" &&
	json '[.slices[] | select(.name == "off") | .ns] | any(. > 200000000)' "$tmp/t.json" &&
	json '.slices | any(.name == "off" and .args.for == "infer (102)")' "$tmp/t.json" &&
	json '.instants | any(.name == "enabled: switched off")' "$tmp/t.json"

claim "record draws when a process had work, and the parts of each preemption as far as they are known"
json '.preemptions == 1' "$tmp/out2" &&
	json '[.slices[] | select(.name == "work") | [.track, .ns]] == [[["infer (102)", "GPU 0 queue 5"], 1000000]]' "$tmp/t.json" &&
	json '[.slices[] | select(.track == ["infer (102)", "GPU 0 preemptions"]) | [.name, .depth, .ns]] ==
		[["preemption", 0, 300000], ["detect", 1, 50000], ["decide", 1, 50000],
		 ["command, save and switch", 1, 200000]]' "$tmp/t.json" &&
	json '[.slices[] | select(.name == "preemption").args] == [{"victims": 1, "detect": 50000, "decide": 50000,
		"command, save and switch": 200000, "total": 300000}]' "$tmp/t.json"

claim "record: a flow leads from a preemption to its victim, and the clocks are those of rocprof's traces"
json '[.flows[] | [.from, .to, .to_name]] ==
	[[["infer (102)", "GPU 0 preemptions"], ["train (101)", "GPU 0"], "stopping"]]' "$tmp/t.json" &&
	json '.clocks | has("3") and has("6")' "$tmp/t.json" && json '[.slices[].clock] | all(. == 3)' "$tmp/t.json" &&
	json '[.tracks[] | select(.pid != null) | .pid] | sort == [101, 102]' "$tmp/t.json"

claim "record: a .gptrace has the records that say something, and names the tasks; replay refuses it"
"$GPREEMPT" record "$tmp/t.gptrace" --json >"$tmp/out2" 2>"$tmp/err2" &
recorder=$!
await records "$recorder"
try gpreempt suspend 101 --for 100ms
try gpreempt status	# answered after the last record was sent
kill -TERM "$recorder"
code=0
wait "$recorder" || code=$?
check test "$code" -eq 0 && json '.records == 15 and .lost == 0' "$tmp/out2" &&
	check grep -qa 'infer' "$tmp/t.gptrace"
try gpreempt replay "$tmp/t.gptrace"
refused 2 && says_err 'what-if'

claim "what-if repeats a recording natively and with each policy and mechanism, and says what it assumes"
try gpreempt what-if "$tmp/t.gptrace"
exits 0 && says '^recorded: .* 1 GPU' && says '  infer (102), online: 1 requests' && says '^none *(native)' &&
	says '^priority  *debug ' && says '^fair  *direct ' && says '^lowest p99: [a-z]* by [a-z]*, .* instead of .* natively, training ' &&
	check test "$(grep -c '^priority' "$tmp/out")" -eq 3 && says '^assumed: ' &&
	says 'results of a model'
try gpreempt what-if "$tmp/t.gptrace" --policy fair --mechanism evict --json
exits 0 && json '.schema == 1 and ([.ways[] | [.policy, .mechanism]] == [["none", "native"], ["fair", "evict"]]) and
	.recorded.requests == 1 and .recorded.processes[0].name == "infer" and .ways[0].requests == 1 and
	.ways[1].p99_ns > 0'
try gpreempt what-if "$tmp/t.gptrace" --set infer-102.kernel.slots=1/4 --length 1ms
exits 0

claim "what-if: a picture, a cut file, nothing, a bad setting and a bad policy are one line each"
try gpreempt what-if "$tmp/t.pftrace"
refused 2 && says_err 'record FILE.gptrace'
head -c 500 "$tmp/t.gptrace" >"$tmp/cut.gptrace"
try gpreempt what-if "$tmp/cut.gptrace"
refused 2 && says_err 'cut.gptrace: cut short'
head -c 272 "$tmp/t.gptrace" >"$tmp/empty.gptrace"
try gpreempt what-if "$tmp/empty.gptrace"
refused 2 && says_err 'empty.gptrace: no process had work'
try gpreempt what-if "$tmp/none.gptrace"
refused 2 && says_err 'No such file'
try gpreempt what-if "$tmp/t.gptrace" --policy best
refused 2 && says_err best
try gpreempt what-if "$tmp/t.gptrace" --set infer-1.kernels=1
refused 2 && says_err 'infer-1'

claim "record: --for ends it; a name that says no kind of trace is refused in one line"
try "$GPREEMPT" record "$tmp/t.pftrace" --for 100ms
exits 0 && check test -s "$tmp/t.pftrace" && says '[0-9] slices, .* 0 events lost; .*ui.perfetto.dev'
try gpreempt record "$tmp/t.png"
refused 2
try gpreempt record "$tmp/none/t.pftrace"
refused 2
try gpreempt record "$tmp/timeline.json"
refused 2 && says_err 'timeline.json: .*\.pftrace' && check test ! -e "$tmp/timeline.json"

claim "bench without a GPU, with a bad process, grace, mechanism or count is one line and changes nothing"
for c in '1' '99999999'; do
	try gpreempt bench $c
	refused 1 && says_err 'amdkfd'
done
for c in x '1 --grace 0' '1 --grace 256' '1 --grace 1,,2' '1 --grace 1,' '1 --mechanism debug' '1 --rounds 0' '1 2' ''; do
	# shellcheck disable=SC2086 # words
	try gpreempt bench $c
	refused 2
done
try gpreempt bench -- "$tmp/none"
refused 127 && says_err 'No such file'
try gpreempt bench -- "$tmp"
refused 126
try gpreempt bench -- true
refused 1 && says_err 'ended before it had a queue'

claim "off and on say whether they changed anything"
try gpreempt off
exits 0 && told disable && says '^off: '
try gpreempt off --json
exits 0 && json '.schema == 1 and .changed == false'
try gpreempt status
exits 0 && says 'OFF'
try gpreempt on
exits 0 && told enable && says '^on$'

claim "no colours where there is no terminal, and none with NO_COLOR where there is one"
try gpreempt status
check test "$(tr -d '\033' <"$tmp/out" | wc -c)" -eq "$(wc -c <"$tmp/out")"
if command -v script >/dev/null; then
	TERM=xterm script -qec "'$GPREEMPT' status" /dev/null >"$tmp/painted" </dev/null
	NO_COLOR=1 TERM=xterm script -qec "'$GPREEMPT' status" /dev/null >"$tmp/plain" </dev/null
	check test "$(tr -cd '\033' <"$tmp/painted" | wc -c)" -gt 0
	check test "$(tr -cd '\033' <"$tmp/plain" | wc -c)" -eq 0
fi

claim "a user without permission gets exit 4 and the reason"
daemon 1001
try gpreempt suspend 102 --for 1s
refused 4 && untold 'hold 102'
try gpreempt class 101 online
refused 4 && untold class
try gpreempt off
refused 4 && untold disable
try gpreempt policy fifo
refused 4 && untold policy
try gpreempt record "$tmp/others.pftrace" --for 1s
refused 4 && says_err 'permission denied' && check test ! -e "$tmp/others.pftrace"
try gpreempt run --class online true
refused 125 && untold register
try gpreempt class 101 batch
exits 0
try gpreempt suspend 101 --for 200ms
exits 0

claim "a daemon that does not answer is exit 6"
jq '. + {silent: true}' "$tmp/world.json" >"$tmp/w2" && mv "$tmp/w2" "$tmp/world.json"
daemon
try "$GPREEMPT" status
refused 6
end
