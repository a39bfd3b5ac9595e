#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The harness: a test that fails, dies or stops early must fail the run.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/claims.sh"

# tests LIST: a build directory for tools/run-tests with these tests.
tests() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/meson" <<-END
	#!/bin/sh
	cat "$tmp/tests.json"
	END
	chmod +x "$tmp/bin/meson"
	printf "%s\n" "$1" >"$tmp/tests.json"
}
# suite COMMAND: its only test is that shell command.
suite() { tests "[$(of t unit 0 "$1")]"; }
# of NAME SUITE PRIORITY COMMAND: one test, in meson's words.
of() {
	jq -n --arg n "$1" --arg s "gpreempt:$2" --argjson p "$3" --arg c "$4" '{name: $n, suite: [$s],
		cmd: ["sh", "-c", $c], env: {}, workdir: null, timeout: 5, priority: $p, is_parallel: true}'
}
run_suite() { PATH=$tmp/bin:$PATH "$top/tools/run-tests" "$@" "$tmp"; }

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
exits 1 && says 'made 1 of 2 claims'

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

claim "tests in the virtual machine come after all others, the longest first"
order=$tmp/order
tests "[$(of a lab -990 "sleep 0.2; echo a >>$order"), $(of b unit 0 "sleep 0.2; echo b >>$order"),
	$(of c lab -900 "sleep 0.2; echo c >>$order"), $(of d cli 10 "sleep 0.2; echo d >>$order")]"
try run_suite --at-once 1
exits 0 && check test "$(tr -d '\n' <"$order")" = dbca

claim "the table on stderr has what each suite took, of time and of processors"
exits 0 && says_err '^lab  *2  .* s .* s .* s$' && says_err '^cli  *1 ' && says_err '^the run  *4 '

claim "a test that does not end is killed and says so"
suite 'echo 1..1; echo ok 1 - a; sleep 100'
jq '.[].timeout = 1' "$tmp/tests.json" >"$tmp/short" && mv "$tmp/short" "$tmp/tests.json"
try run_suite
exits 1 && says 'timed out after 1 s' && says 'ended with status 124'

claim "a look that fails breaks its claim"
suite ". $top/tests/cli/claims.sh; claim x; try false; exits 0; claim y; end"
try run_suite
exits 1 && says '^1 passed, 1 failed$'
end
