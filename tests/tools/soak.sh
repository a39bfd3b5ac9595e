#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run soak's table and verdict, with a made-up lab and a made-up simulator.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

mkdir -p "$tmp/tools" "$tmp/lab" "$tmp/build/cli"
cp "$top/tools/run-soak" "$tmp/tools/"
cat >"$tmp/lab/run" <<'END'
#!/bin/sh
while [ "$1" != -- ]; do
	[ "$1" != --log ] || log=$2
	shift
done
cat "$FACTS"
cat "$KMSG" >"$log"
exit "$LAB_CODE"
END
cat >"$tmp/build/cli/gpreempt" <<'END'
#!/bin/sh
echo "$@" >>"$CALLS"
case $SAYS in
nothing) exit 0 ;;
less) echo '{"preemptions": 1000, "expectations_failed": []}'; exit 0 ;;
esac
[ "$SAYS" != once ] || [ "$(wc -l <"$CALLS")" -eq 1 ] || exit 0
jq -n --argjson lost "$LOST" --argjson n "$PREEMPTIONS" '{preemptions: $n, served: 10, work_lost: $lost, work_doubled: 0, lost_tasks: 0,
	waves_saved: 1, bytes_saved: 1,
	expectations_failed: (if $lost > 0 then ["all work_lost = 0"] else [] end)}'
END
chmod +x "$tmp/lab/run" "$tmp/build/cli/gpreempt"
export FACTS="$tmp/facts" KMSG="$tmp/kmsg" CALLS="$tmp/calls" LAB_CODE=0 LOST=0 PREEMPTIONS=1000 SAYS=all
soak() { "$tmp/tools/run-soak" "$tmp/build" --seed 1 "$@"; }

# Two rounds without errors.
good() {
	: >"$KMSG"
	: >"$CALLS"
	for round in 1 2; do
		printf '%s\n' "stopped 5000" "stops_lost 2" "starts_lost 1" "lost_kills 1" "lost_hang 2" "daemon_KILL 3" "daemon_STOP 1" \
			"requests 700" "sums 30" "daemon_rss 1000 1010 4000" "seconds 600" \
			"kmod_preempts 300" "kmod_ended 20" "kmod_kb 17000 17004" \
			"kernel_kb $((18000 + round))" "kept filp $((3000 + 1024 * round))" "kept percpu 500" \
			"forgotten $((3 * round)) $((384 * round))" "round $round"
	done >"$FACTS"
}

claim "./run soak adds up the figures of all rounds, and exits with 0 if there was no error"
good
try soak --minutes 40
exits 0 && says '^no errors$' && says 'preemptions  *10 000 by gpreemptd' &&
	says 'without an answer  *4 stops, 2 starts: 2 while loads were killed, 4 around hangs, 0 else' &&
	says 'work verified  *1 400 requests, 60 sums' && says '6 times killed, 2 times stopped' &&
	says 'memory of gpreemptd .*+10 KB in 4000' && says 'memory of the kernel  *+1 KB' && says 'of that  *filp +1 KB$' &&
	says 'forgotten by amdgpu  *6 lists of pages, 768 KB' &&
	says 'by gpreempt.ko  *600 calls of PREEMPT, 40 gploads ended' && says 'memory of gpreempt.ko  *+4 KB, +4 KB'

claim "the simulator runs 24 times as long, in nine runs with a seed each"
says 'virtual time  *16 h in 9 runs' && says 'preemptions  *9 000$' &&
	check test "$(grep -c -- '--length 6400000ms' "$CALLS")" -eq 9 &&
	check test "$(sort -u "$CALLS" | wc -l)" -eq 9

claim "--json has the same, with its schema, and the model said"
good
try soak --minutes 40 --json
exits 0 && check jq -e '.schema == 1 and .model and .lab.stopped == 10000 and .simulator.preemptions == 9000 and
	.wrong == [] and .lab.kernel_kb == [18001, 18002] and
	.lab.forgotten_by_amdgpu == [[3, 384], [6, 768]]' "$tmp/out" >"$tmp/jq"

claim "without a seed each run has its own, and says which; a run that failed says how to repeat it"
unset GP_SEED
good
try "$tmp/tools/run-soak" "$tmp/build" --minutes 40 --json
first=$(jq .seed "$tmp/out")
good
try "$tmp/tools/run-soak" "$tmp/build" --minutes 40
exits 0 && says '^seed [0-9]*$' && check test "$(sed -n 's/^seed //p' "$tmp/out")" != "$first" &&
	check test "$(grep -c repeat: "$tmp/err")" -eq 0
LOST=1
good
try soak --minutes 40 --seed 7
LOST=0
exits 1 && says '^seed 7$' && says_err 'repeat: ./run soak --minutes 40 --seed 7$'

# fails TEXT COMMAND...: the change makes the verdict 1, and TEXT says why.
fails() {
	good
	text=$1
	shift
	"$@"
	try soak --minutes 40
	exits 1 && says "^wrong: .*$text"
}
add() { echo "$*" >>"$FACTS"; }
claim "what the guest found wrong is exit 1 and said"
fails 'off1 ended with 1' add 'wrong off1 ended with 1: lost'
claim "a lab that fails is, and its kernel's log is kept"
LAB_CODE=125
crash() { echo 'Kernel panic' >"$KMSG"; }
fails 'the lab ended with 125' crash && says_err 'kept: .*soak-kernel.log' &&
	check cmp "$KMSG" "$tmp/build/soak-kernel.log"
LAB_CODE=0
claim "a round that did not come to its end is"
fails '1 of 2 rounds' sed -i '$d' "$FACTS"
claim "a load that verified nothing is"
fails "no 'requests'" sed -i '/^requests/d' "$FACTS"
claim "a stop without an answer, while no process but the daemon was killed, is"
fails '1 stops or starts were lost while nothing was killed' add 'lost_unrest 1'
claim "a daemon that grows is"
fails 'the daemon grew by 5000 KB' add 'daemon_rss 1000 6000 10'
claim "a gpreempt.ko that leaves memory behind is"
fails 'gpreempt.ko left 3000 KB behind' add 'kmod_kb 17000 20000'
claim "a kernel that grows is, and what in it grew, the largest first"
grow() { printf '%s\n' 'kernel_kb 24000' 'kept percpu 4096500' 'kept filp 2052024' >>"$FACTS"; }
fails 'the kernel grew by 5999 KB: percpu +4000 KB, filp +2000 KB' grow
claim "unexpected words are"
fails 'the guest says: sh: out of memory' add 'sh: out of memory'
claim "work lost in the simulator is"
LOST=3
fails 'seed 1: all work_lost = 0' true
LOST=0
claim "a simulator that says nothing, or less than it should, is"
for SAYS in nothing less; do
	fails 'no result (seed 9)' true && says '^wrong: 0 of 9 runs' && says "^wrong: .*no 'preemptions'"
done
claim "one of whose runs only the first has a result is"
SAYS=once
fails '1 of 9 runs of the simulator' true && says 'virtual time  *1.77778 h in 1 runs' && says 'preemptions  *1 000$'
SAYS=all
claim "one that is not there, or preempts no process, is"
PREEMPTIONS=0
fails "no 'preemptions'" true
PREEMPTIONS=1000
mv "$tmp/build/cli/gpreempt" "$tmp/simulator"
fails 'FileNotFoundError' true
mv "$tmp/simulator" "$tmp/build/cli/gpreempt"

claim "a mistake in the options is one line and exit 2"
for wrong in "--hours x" "--minutes 0" "--hours 1 --minutes 1" "--seed -1" "--nonsense"; do
	# shellcheck disable=SC2086 # options and their values
	try soak $wrong
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1
done

claim "--help says what it does and how it ends"
try "$top/run" soak --help
exits 0 && says '--hours N' && says 'Exit code'
end
