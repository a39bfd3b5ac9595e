#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# ./run bench's tables, comparison and verdict, with made-up benchmarks.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/claims.sh"

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
end
