#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The harness: a test that fails, dies or stops early must fail the run.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# tests LIST: a build directory for tools/run-tests with these tests.
tests() {
	rm -rf "$tmp/build"
	mkdir -p "$tmp/build/meson-info"
	printf "%s\n" "$1" >"$tmp/build/meson-info/intro-tests.json"
}
# suite COMMAND: its only test is that shell command.
suite() { tests "[$(of t unit 0 "$1")]"; }
# of NAME SUITE PRIORITY COMMAND [TIMEOUT]: one test, in meson's words.
of() {
	jq -n --arg n "$1" --arg s "gpreempt:$2" --argjson p "$3" --arg c "$4" --argjson t "${5:-60}" '{name: $n,
		suite: [$s], cmd: ["sh", "-c", $c], env: {}, workdir: null, timeout: $t, priority: $p}'
}
run_suite() { "$top/tools/run-tests" "$@" --build "$tmp/build"; }
json() { jq -r "$1" "$tmp/build/test-results.json"; }
# ends: the process whose number is in $tmp/pid ends.
ends() { await test ! -d "/proc/$(cat "$tmp/pid")"; }
# The environment of this test must not reach the runs that it starts.
unset GP_SEED GP_FULL

claim "claims that hold are counted and the run passes"
suite 'echo 1..2; echo ok 1 - a; echo ok 2 - b'
try run_suite
exits 0 && says '^2 passed, 0 failed$'

claim "one claim that does not hold fails the run"
suite 'echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1'
try run_suite
exits 1 && says '^1 passed, 1 failed$'

claim "a test that dies before its last claim fails the run"
suite 'echo 1..2; echo ok 1 - a; kill -SEGV $$'
try run_suite
exits 1 && says 'made 1 of 2 claims' && says 'which ended with status 139 (SIGSEGV)$'

claim "a leak reported after the last claim fails the run"
suite 'echo 1..1; echo ok 1 - a; exit 23'
try run_suite
exits 1 && says 'ended with status 23'

claim "a skipped claim is neither passed nor failed, and is named"
suite 'echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP no hardware"'
try run_suite
exits 0 && says '^skip t: no hardware' && says '^1 passed, 0 failed$'

claim "figures marked for it are shown although every claim holds, other comments are not"
suite 'echo 1..1; echo "# quiet"; echo "#| 42 rows"; echo ok 1 - a'
try run_suite
exits 0 && says '^ *42 rows$' && check test "$(grep -c quiet "$tmp/out")" -eq 0

claim "the remarks beside a claim that does not hold are shown below it"
suite 'echo 1..2; echo "# quiet"; echo ok 1 - a; echo "# why"; echo not ok 2 - b; echo "# how"; exit 1'
try run_suite
exits 1 && check test "$(grep -A2 '^  FAIL b' "$tmp/out" | tr -s ' \n' ' ')" = ' FAIL b # why # how '

claim "a run without a single claim fails"
suite 'exit 77'
try run_suite
exits 1 && says '^0 passed, 0 failed$'

claim "the test with the highest priority starts first, whatever its suite"
order=$tmp/order
four() {
	: >"$order"
	tests "[$(of a lab 3 "echo a >>$order"), $(of b unit 0 "echo b >>$order"), $(of c lab 90 "echo c >>$order"),
		$(of d cli 10 "echo d >>$order")]"
}
four
try run_suite --at-once 1
exits 0 && check test "$(tr -d '\n' <"$order")" = cdab

claim "a run records its times, and the next run starts the test first that took longest"
check test "$(jq -c '.seconds | map_values(length)' "$tmp/build/test-times.json")" = '{"c":1,"d":1,"a":1,"b":1}'
: >"$order"
echo '{"schema": 1, "seconds": {"a": [4, 2], "b": [50, 60], "c": [0.1], "d": [5]}}' >"$tmp/build/test-times.json"
try run_suite --at-once 1
exits 0 && check test "$(tr -d '\n' <"$order")" = bdac

claim "as many tests run at once as are allowed"
meet() { echo "echo >$tmp/$1; until [ -e $tmp/$2 ]; do sleep 0.05; done"; }
tests "[$(of x unit 2 "$(meet x y)" 2), $(of y unit 1 "$(meet y x)" 2)]"
try run_suite --at-once 2
exits 0 && says '^2 passed, 0 failed$'

claim "a table on stderr has the time and the processor time of each suite"
four
try run_suite
exits 0 && says_err '^lab  *2  .* s .* s .* %$' && says_err '^cli  *1 ' && says_err '^the run  *4 '

claim "processor time counts what a test started in the background, in its own session"
busy='i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
suite "setsid sh -c '$busy' & sleep 0.01; sh -c '$busy'; wait"
try run_suite
both=$(json '.tests[0].processor_seconds')
suite "sh -c '$busy'"
try run_suite
exits 0 && check test "$(json ".tests[0].processor_seconds * 1.3 < $both")" = true

claim "each test gets GP_SEED, and the seed is printed at the start and at the end"
suite 'echo "#| seed=$GP_SEED"'
try run_suite --seed 77
exits 0 && says '^ *seed=77$' && says_err 'seed 77 ' && says '^seed 77;' && check test "$(json .seed)" = 77

# seed_of [OPTION]...: run the suite anew and print the seed that its test got.
seed_of() { run_suite "$@" 2>/dev/null | sed -n 's/^ *seed=//p'; }
claim "without a seed two runs of one tree have the same one, and two runs of --full do not"
first=$(seed_of)
second=$(seed_of)
check test "$first" -gt 0 && check test "$second" = "$first"
first=$(seed_of --full)
second=$(seed_of --full)
check test "$first" -gt 0 && check test "$second" -gt 0 && check test "$second" != "$first"

claim "a tree inside another git repository has the seed 1, and as a repository of its own another"
mkdir -p "$tmp/outer/inner"
cp -r "$top/tools" "$tmp/outer/inner/"
# commit FOLDER: make FOLDER a repository with a commit of a file of its own.
commit() {
	git -C "$1" init -q && date +%N >"$1/file" && git -C "$1" add file &&
		git -C "$1" -c user.name=x -c user.email=x@x commit -q -m x
}
commit "$tmp/outer"
inner_seed() { "$tmp/outer/inner/tools/run-tests" --build "$tmp/build" 2>/dev/null | sed -n 's/^ *seed=//p'; }
check test "$(inner_seed)" = 1
check test "$(GIT_DIR=$tmp/outer/.git inner_seed)" = 1
commit "$tmp/outer/inner"
check test "$(inner_seed)" -gt 1

claim "GP_SEED of the caller counts as a seed, and a bad one is exit 2"
try env GP_SEED=5 "$top/tools/run-tests" --build "$tmp/build"
exits 0 && check test "$(json .seed)" = 5
try env GP_SEED=five "$top/tools/run-tests" --build "$tmp/build"
exits 2 && says_err 'GP_SEED=five'

claim "a test that fails prints the command that repeats it, and only it"
tests "[$(of "lab a" lab 1 'exit 1'), $(of b unit 1 'exit 1'), $(of bb unit 1 true)]"
try run_suite --seed 9
exits 1 && says 'repeat: ./run test --seed 9 --only "lab a"$' && says 'repeat: ./run test --seed 9 --only =b$' &&
	check test "$(grep -c repeat: "$tmp/out")" -eq 4
try run_suite --seed 9 --only =b
exits 1 && says '^0 passed, 1 failed$'

claim "--only takes parts of names, more than one"
try run_suite --only bb --only lab
exits 1 && says '^1 passed, 1 failed$'

claim "an unknown name is exit 2 and one line that suggests another"
try run_suite --only lab-a
exits 2 && says_err "'lab-a'.*'lab a'" && check test "$(wc -l <"$tmp/err")" -eq 1

claim "bad usage is exit 2 and one line"
for bad in --seed=x --seed=-1 --repeat=0 --at-once=none --frobnicate stray; do
	try run_suite "$bad"
	exits 2 && says_err '^run: test: ' && check test "$(wc -l <"$tmp/err")" -eq 1
done

claim "--failed runs what failed in the last run, with its seed, until nothing did"
tests "[$(of good unit 1 true), $(of bad unit 1 "test -e $tmp/mended"), $(of worse full 1 false)]"
rm -f "$tmp/mended"
try run_suite --full
first=$(json .seed)
try run_suite --failed
exits 1 && says '^0 passed, 2 failed$' && check test "$(json .seed)" = "$first"
: >"$tmp/mended"
try run_suite --failed
exits 1 && says '^1 passed, 1 failed$'
tests "[$(of good unit 1 true)]"
try run_suite
try run_suite --failed
exits 0 && says_err 'no test that failed'

claim "--repeat counts each repetition and names the claims that differ between them"
n='n=$(cat n 2>/dev/null); echo $((n + 1)) >n'
suite "cd $tmp; $n; echo ok 1 - steady; [ \$((n % 2)) -eq 0 ] || echo -n 'not '; echo ok 2 - odd; echo 1..2"
rm -f "$tmp/n"
try run_suite --repeat 4 --at-once 1
exits 1 && says '^6 passed, 2 failed$' && says "^t: its claims differ .*'odd' passed in 2 of 4; 'odd' failed in 2 of 4$"
suite 'echo ok 1 - steady; echo 1..1'
try run_suite --repeat 3
exits 0 && says '^3 passed, 0 failed$' && check test "$(grep -c differ "$tmp/out")" -eq 0

claim "--repeat also names a claim that one repetition makes twice and another not at all"
suite "cd $tmp; $n; [ \$((n % 2)) -eq 0 ] || { echo ok 1 - twice; echo ok 2 - twice; }; echo ok 3 - steady"
rm -f "$tmp/n"
try run_suite --repeat 2 --at-once 1
exits 0 && says "^t: its claims differ between repetitions: 'twice' passed 0 to 2 times$"

claim "repetitions share a seed that was given, and else count up from it"
try run_suite --repeat 3 --seed 4
check test "$(json '[.tests[].seed] | sort | map(tostring) | join(" ")')" = '4 4 4'
try run_suite --repeat 3
check test "$(json '[.tests[].seed] | sort | .[2] - .[0]')" = 2

claim "--failed gives each test the seed with which it failed"
suite 'echo 1..1; [ $((GP_SEED % 3)) -ne 0 ] || echo -n "not "; echo ok 1 - a'
try run_suite --repeat 3
bad=$(json '.tests[] | select(.result == "failed") | .seed')
try run_suite --failed
exits 1 && check test "$(json '.tests[].seed')" = "$bad"

claim "JUnit's XML is well-formed whatever a test prints, and JSON has what it shows"
tests "[$(of 'a<&"' unit 2 'printf "ok 1 - <b> & \"c\"\nnot ok 2 - d\n1..2\n\001\377]]>\n"; exit 1'),
	$(of s cli 1 'exit 77')]"
try run_suite --seed 3 --at-once 1
exits 1 && says 'test-results.json and .*test-results.xml$'
check test "$(json '[.schema, .seed, .passed, .failed, .skipped] | map(tostring) | join(" ")')" = '1 3 1 1 1'
check test "$(json '.tests[] | select(.suite == "unit") | .claims[0].text')" = '<b> & "c"'
check test "$(json '[.tests[] | .seconds >= 0 and .processor_seconds >= 0] | all')" = true
try python3 -c 'import sys, xml.etree.ElementTree as x; r = x.parse(sys.argv[1]).getroot()
print(r.tag, len(r.findall("*/testcase")), len(r.findall("*/testcase/failure")), len(r.findall("*/testcase/skipped")))
print(r.find("*/testcase").get("name"))' "$tmp/build/test-results.xml"
exits 0 && says '^testsuites 3 1 1$' && says '^<b> & "c"$'

claim "a run whose results cannot be saved prints them, says so and fails"
suite 'echo 1..1; echo ok 1 - a'
mkdir "$tmp/build/test-results.json"
try run_suite
exits 1 && says '^1 passed, 0 failed$' && says_err 'cannot save the results: ' && says 'not saved$' &&
	check test -z "$(find "$tmp/build" -name '*.new')"

claim "output that does not end is cut off and fails the test"
suite 'echo 1..1; echo ok 1 - a; head -c 20000000 /dev/zero'
try run_suite
exits 1 && says 'the rest is cut off after 16 MB'

claim "a run of all tests that uses more processor time than its budget fails"
suite "sh -c '$busy'"
try run_suite --budget 0.0001
exits 1 && says 'FAIL budget: the default tier stays within 0.0001 minutes of processor time$' && says '^1 passed, 1 failed$'
try run_suite --full --budget 0.0001
exits 1 && says 'the full tier stays within'
try run_suite --failed
exits 1 && says_err 'failed by its processor time or by changed files only'

claim "a run within its budget, or one of some tests, does not"
try run_suite --budget 10
exits 0 && says '^1 passed, 0 failed$'
try run_suite --budget 0.0001 --only t
exits 0
try run_suite --budget 0.0001 --repeat 2
exits 0

claim "a run fails if a test leaves a file in the tree or changes one, and names it"
mkdir -p "$tmp/copy"
cp -r "$top/tools" "$tmp/copy/"
echo /build >"$tmp/copy/.gitignore"
echo old >"$tmp/copy/changed"
echo old >"$tmp/copy/edited"
in_copy() { git -C "$tmp/copy" -c user.name=t -c user.email=t "$@" >/dev/null; }
in_copy init -q && in_copy add -A && in_copy commit -qm one
echo mine >>"$tmp/copy/edited"
copy_run() { "$tmp/copy/tools/run-tests" --build "$tmp/build"; }
suite "echo more >>$tmp/copy/edited; mkdir -p $tmp/copy/build; touch $tmp/copy/build/new"
try copy_run
exits 0 && says '^1 passed, 0 failed$'
suite "touch $tmp/copy/left; echo new >$tmp/copy/changed"
try copy_run
exits 1 && says '^1 passed, 1 failed$' && check test "$(grep -c '^FAIL tree: .*changed, ?? left$' "$tmp/out")" -eq 1

# A tree of its own for the suites of the driver, and a kernel package whose version is in a file.
mkdir -p "$tmp/tree/vgpu" "$tmp/bin"
cp -r "$top/tools" "$tmp/tree/"
echo 1 >"$tmp/tree/vgpu/device.c"
echo 6.12-1 >"$tmp/package"
printf '#!/bin/sh\nexec cat "%s"\n' "$tmp/package" >"$tmp/bin/dpkg-query"
chmod +x "$tmp/bin/dpkg-query"
driver_run() { PATH=$tmp/bin:$PATH "$tmp/tree/tools/run-tests" "$@" --build "$tmp/build"; }
tests "[$(of steady driver 1 "test ! -e $tmp/broken"), $(of other unit 1 true)]"

claim "a suite of the driver runs once, and is then listed as left out and counted as neither passed nor failed"
try driver_run
exits 0 && says '^2 passed, 0 failed$'
try driver_run
exits 0 && says '^skip steady: left out: it passed with this linux-source' && says '^1 passed, 0 failed$' &&
	check test "$(json .skipped)" -eq 1
try driver_run --list
exits 0 && says '^driver .*steady.*left out$'

claim "it runs again with another kernel package, with another virtual GPU, with --full and with --only"
echo 6.12-2 >"$tmp/package"
try driver_run
exits 0 && says '^2 passed, 0 failed$'
echo 2 >"$tmp/tree/vgpu/device.c"
try driver_run
exits 0 && says '^2 passed, 0 failed$'
try driver_run --full
exits 0 && says '^2 passed, 0 failed$'
try driver_run --only steady
exits 0 && says '^1 passed, 0 failed$'

claim "it runs again after it failed, and where no package tells the kernel's version"
touch "$tmp/broken"
try driver_run --full
exits 1 && says '^1 passed, 1 failed$'
try driver_run
exits 1
rm "$tmp/broken"
try driver_run
exits 0 && says '^2 passed, 0 failed$'
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/dpkg-query"
try driver_run
exits 0 && says '^2 passed, 0 failed$'

claim "without --budget it is 24 minutes, with --full 160"
try run_suite
check test "$(json '"\(.all_tests) \(.budget_seconds)"')" = 'true 1440'
try run_suite --full
check test "$(json .budget_seconds)" = 9600

claim "the summary has the processor time, and the budget of a run of all tests"
try run_suite
exits 0 && says '^processor time: [0-9]* s of a budget of 1440 s ([0-9]* %)$'
try run_suite --only t
exits 0 && says '^processor time: [0-9]* s; only a run of all tests has a budget$' &&
	check test "$(json '"\(.all_tests) \(.budget_seconds)"')" = 'false null'

claim "a test that uses too much processor time is killed with everything it started"
tests "[$(of t unit 0 "setsid sh -c 'echo \$\$ >$tmp/pid; while :; do :; done' & while :; do :; done" 0.5)]"
try run_suite
exits 1 && says 'timed out after 0.5 s of processor time' && says 'ended with status 124\|^FAIL t: t$' && ends

claim "an idle test is killed with everything it started"
tests "[$(of t unit 0 "(sleep 100 & echo \$! >$tmp/pid); echo ok 1 - a; echo 1..1; sleep 100")]"
try run_suite --idle-seconds 1
exits 1 && says 'timed out after 1 s of idling' && says 'ended with status 124' && ends

claim "a test is idle after 15 minutes without 0.1 s of processor time, and ends after 40 times its limit"
# Prints when a test with a limit of 60 s ends that uses 0.05 s of processor time in so many seconds.
try python3 -c 'import sys
sys.path.insert(0, sys.argv[1])
from runner import schedule
for every in 2, 400, 500:
    timeout = schedule.Timeout(60, schedule.IDLE_SECONDS, 0)
    now = next(now for now in range(10000) if timeout.reason(now, now // every * 0.05))
    print(every, now, timeout.reason(now, now // every * 0.05))' "$top/tools"
exits 0 && says '^2 2401 timed out after 2400 s, 40 times its limit$' && says '^400 2401 ' &&
	says '^500 901 timed out after 900 s of idling$'

claim "a slow machine does not time a test out: sleep costs no processor time"
tests "[$(of t unit 0 'sleep 2' 0.5)]"
try run_suite
exits 0

claim "what a test leaves running is ended and named"
suite "setsid sleep 100 & echo \$! >$tmp/pid; until grep -q sleep /proc/\$!/comm; do :; done
	echo ok 1 - a; echo 1..1; exit 1"
try run_suite
exits 1 && says 'left running: sleep' && ends

# interrupt SIGNAL: start a run of a test that sleeps, and send the signal to the runner.
interrupt() {
	tests "[$(of t unit 0 "setsid sleep 100 & echo \$! >$tmp/pid; sleep 100")]"
	rm -f "$tmp/pid"
	"$top/tools/run-tests" --build "$tmp/build" >"$tmp/out" 2>"$tmp/err" </dev/null &
	runner=$!
	await test -s "$tmp/pid"
	kill -s "$1" "$runner"
	code=0
	tried="a run that gets SIG$1"
	wait "$runner" || code=$?
	ends
}
claim "a run that is interrupted leaves no process"
interrupt TERM
exits 143 && says_err interrupted

claim "a run that is killed leaves no process"
interrupt KILL
exits 137

claim "progress that is no terminal's is not more than one line in 15 s, without colour"
suite 'sleep 1'
try run_suite
exits 0 && check test "$(grep -c 'tests done' "$tmp/err")" -eq 0 && check test "$(grep -c "$(printf '\033')" "$tmp/err" "$tmp/out" | grep -vc ':0')" -eq 0

claim "a plan names the programs of unit tests, of each build directory, and the lab only if it is needed"
tests "$(jq -n --arg b "$tmp/build" '[
	{name: "one", suite: ["g:unit"], cmd: [$b + "/tests/one"]}, {name: "two", suite: ["g:unit"], cmd: [$b + "/tests/two"]},
	{name: "cmd", suite: ["g:cli"], cmd: ["/x/cmd.sh"]}, {name: "lab x", suite: ["g:lab"], cmd: ["/x/x.sh"]}] |
	map(. + {env: {}, workdir: null, timeout: 5, priority: 0})')"
try "$top/tools/run-tests" --plan --build "$tmp/build" --build "$tmp/build-asan" --only one
says '^build build-asan tests/one$' && says '^build build tests/one$' && check test "$(wc -l <"$tmp/out")" -eq 2
try run_suite --plan --only one --only cmd
says '^build build all$' && check test "$(wc -l <"$tmp/out")" -eq 1
try run_suite --plan --only 'lab x'
says '^lab$'

claim "a look that fails breaks its claim"
suite ". $top/tests/shared/claims.sh; claim x; try false; exits 0; claim y; end"
try run_suite
exits 1 && says '^1 passed, 1 failed$'
end
