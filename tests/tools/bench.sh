#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run bench's tables, comparison and verdict, with made-up benchmarks.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

mkdir -p "$tmp/tools" "$tmp/lab" "$tmp/bin"
cp "$top/tools/run-bench" "$tmp/tools/"
cat >"$tmp/bin/meson" <<END
#!/bin/sh
echo '[{"name": "one", "cmd": ["sh", "$tmp/one"]}]'
END
# Prints a ratio: each time the next of those in the file.
cat >"$tmp/one" <<END
ratio=\$(head -n 1 "$tmp/ratios")
[ "\$(wc -l <"$tmp/ratios")" -le 1 ] || sed -i 1d "$tmp/ratios"
echo called >>"$tmp/calls"
echo "{\"bench\": \"look\", \"value\": 12.5, \"unit\": \"ns\", \"baseline\": 10, \"ratio\": \$ratio, \"limit\": 3}"
exit "\$BENCH_CODE"
END
cat >"$tmp/lab/run" <<'END'
#!/bin/sh
echo "{\"schema\": 1, \"model\": true, \"operation\": \"suspend\", \"queues\": 8, \"repetitions\": 200,
	\"cost\": {\"min\": 900, \"median\": $COST, \"p90\": 9000}, \"modelled_ns\": 61000, \"unmaps\": 1,
	\"runlists\": 0, \"write_data\": 2, \"queues_mapped\": 0, \"bytes_saved\": 1000000}" | tr -d '\n\t'
exit "$LAB_CODE"
END
cat >"$tmp/lab/latency" <<'END'
#!/bin/sh
spread="{\"median\": $WAVE, \"p90\": 9000}"
echo "{\"latency\": \"gpreemptd\", \"unmap_ns\": $spread, \"fence_ns\": $spread, \"wave_ns\": $spread, \"software_ns\": $spread}"
END
chmod +x "$tmp/bin/meson" "$tmp/lab/run" "$tmp/lab/latency"
export BENCH_CODE=0 LAB_CODE=0 COST=1000 WAVE=5000
# bench RATIOS OPTIONS...
bench() {
	echo "$1" | tr ' ' '\n' >"$tmp/ratios"
	: >"$tmp/calls"
	shift
	PATH=$tmp/bin:$PATH "$tmp/tools/run-bench" "$tmp" "$@"
}
one_line() { check test "$(wc -l <"$tmp/err")" -eq 1; }

claim "a table of both kinds, and exit 0"
try bench 1.5
exits 0 && says '^look  *12.5 ns  *10  *1.5  *3$' && says '^suspend  *8  *900  *1,000  *9,000  *61.0  *1  *0  *2' &&
	says '^gpreemptd  *5.0  *9.0 ' && says 'of a model'

claim "a ratio above its limit is marked, exit 1"
try bench 3.5
exits 1 && says '^look .*over$'

claim "a benchmark that does not run is exit 1, and so is a lab that does not"
BENCH_CODE=4
try bench 1.5
exits 1 && says_err 'one ended with status 4'
BENCH_CODE=0 LAB_CODE=125
try bench 1.5
exits 1 && says_err 'ended with status 125'
LAB_CODE=0

claim "--json can be stored, and a run like it is not worse"
try bench 1.5 --json
cp "$tmp/out" "$tmp/stored"
exits 0 && check jq -e '.schema == 1 and .model and .results[0].ratio == 1.5 and .lab[0].cost.median == 1000' \
	"$tmp/stored" >"$tmp/jq"
try bench 1.6 --against "$tmp/stored"
exits 0 && says '^look  *1.5  *1.6  *+6.7%$' && says '^lab: suspend 8  *1,000  *1,000  *+0.0%$' &&
	check test "$(wc -l <"$tmp/calls")" -eq 1

claim "a ratio more than a tenth worse is measured again: if it stays so it is marked, exit 1"
try bench 1.7 --against "$tmp/stored"
exits 1 && says '^look .*+13.3%  worse$' && check test "$(wc -l <"$tmp/calls")" -eq 3

claim "if it does not, the best counts"
try bench '1.7 1.55' --against "$tmp/stored"
exits 0 && says '^look .*+3.3%$' && check test "$(wc -l <"$tmp/calls")" -eq 2

claim "more instructions in the lab are worse, too; fewer are not"
COST=1101
try bench 1.5 --against "$tmp/stored" --json
exits 1 && check jq -e '[.against[] | select(.worse).bench] == ["lab: suspend 8"]' "$tmp/out" >"$tmp/jq"
COST=500
try bench 1.5 --against "$tmp/stored"
exits 0
COST=1000

claim "an arrival that waits longer in the lab is worse"
WAVE=6000
try bench 1.5 --against "$tmp/stored"
exits 1 && says '^lab: gpreemptd to its wave .*+20.0%  worse$'
WAVE=5000

claim "figures that only one of the runs has are named and no failure"
sed 's/"look"/"glance"/' "$tmp/stored" >"$tmp/other"
try bench 1.5 --against "$tmp/other"
exits 0 && says '^glance .*gone$' && says '^look .*new$'

claim "a file that is no such run is exit 2 and one line, and nothing is measured"
echo '{"schema": 2}' >"$tmp/newer"
echo '[1]' >"$tmp/list"
echo '{"schema": 1, "results": [{"bench": "a"}], "lab": [3]}' >"$tmp/wrong"
for file in /nowhere/file "$top/README.md" "$tmp/newer" "$tmp/list" "$tmp/wrong"; do
	try bench 1.5 --against "$file"
	exits 2 && one_line && says_err "$file" && check test ! -s "$tmp/calls"
done
try bench 1.5 --nonsense
exits 2 && one_line

claim "--help says what is compared and how it ends"
try "$top/run" bench --help
exits 0 && says '--against FILE' && says 'Exit code'

# ---- bench_daemon, with a made-up guest ----
mkdir -p "$tmp/two/bench" "$tmp/two/lab"
cp "$top/bench/bench_daemon" "$tmp/two/bench/"
printf '#!/bin/sh\ncat "%s"\n' "$tmp/guest" >"$tmp/two/lab/run"
chmod +x "$tmp/two/lab/run"
# reacts LOOK SEEN: 120 requests, 10 ms apart, seen after SEEN ns, called for 50 us later, done after 150 us more.
reacts() {
	awk -v look="$1" -v seen="$2" 'BEGIN {
		print "look " look
		for (i = 1; i <= 120; i++) printf "submit %d\n", i * 10000000
		printf "{\"parameters\": {\"records\": [[1, 10, 0, 1, 7]"
		for (i = 1; i <= 120; i++) {
			t = i * 10000000 + seen
			printf ", [%d, 12, 0, 1, 7], [%d, 64, 0, 1, 0, %d]", t, t, i
			printf ", [%d, 15, 0, 1, 0, %d, 0, %d, 0, 0, %d]", t + 200000, i, t + 50000, t + 200000
		}
		print "]}}"
	}'
}
# shares RAN LOOKS PROBES: of six parts of 2 s; the last ran for RAN ns, with LOOKS looks after 100, PROBES probes after 50.
shares() {
	for n in 2 8 32; do
		echo "share $n 1ms 0 0 0 10.00 40000000 0 0 12.00 0 0 1980 0"
		[ $n -eq 32 ] || echo "share $n 100us 0 0 0 10.00 400000000 0 0 12.00 0 0 19800 0"
	done
	echo "share 32 100us 0 0 0 10.00 $1 0 0 12.00 100 50 $2 ${3-50}"
}
daemon_bench() { "$tmp/two/bench/bench_daemon" "$tmp"; }

claim "bench_daemon: the steps from a packet to the call, and shares with instructions per look"
{ reacts 1ms 400000; reacts 100us 40000; shares 1000000000 21100 2050; } >"$tmp/guest"
try daemon_bench
exits 0 && check jq -se 'length == 16 and all(.source == "model") and
	(map({key: .bench, value: .value}) | from_entries |
	.["packet to the look that sees it, looks of 1ms"] == 400000 and .["look to the decision, looks of 1ms"] == 0 and
	.["decision to the SUSPEND call, looks of 100us"] == 50000 and .["SUSPEND call, looks of 100us"] == 150000 and
	.["packet to the SUSPEND call, looks of 100us"] == 90000 and
	.["share of the daemon, 2 processes, looks of 1ms"] == 2 and .["share of the daemon, 32 processes, looks of 100us"] == 50) and
	any(.instructions_per_look == 10101)' "$tmp/out" >"$tmp/jq"

claim "bench_daemon: a row that cannot be is exit 1 and said: more looks than asked for, none, more than a core, a late look"
for bad in '1000000000 21000' '1000000000 100' '2100000000 19000' '0 19000'; do
	# shellcheck disable=SC2086 # words
	{ reacts 1ms 400000; reacts 100us 40000; shares $bad; } >"$tmp/guest"
	try daemon_bench
	exits 1 && one_line && says_err '32 processes, looks of 100us: .*cannot be'
done
{ reacts 1ms 400000; reacts 100us 140000; shares 1000000000 19000; } >"$tmp/guest"
try daemon_bench
exits 1 && one_line && says_err 'looks of 100us: half of the packets waited'

claim "bench_daemon: a part that is missing, and processes that were not attached, are exit 1"
{ reacts 1ms 400000; reacts 100us 40000; shares 1000000000 19000 | sed 1d; } >"$tmp/guest"
try daemon_bench
exits 1 && one_line && says_err '7 parts instead of 8'
{ reacts 1ms 400000; reacts 100us 40000; echo not-attached 32; shares 1000000000 19000 | sed 1d; } >"$tmp/guest"
try daemon_bench
exits 1 && one_line && says_err 'not all of 32'
end
