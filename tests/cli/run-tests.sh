#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The harness: a test that fails, dies or stops early must fail the run.
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/claims.sh"

# A build directory for tools/run-tests whose only test is the shell command $1.
suite() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/meson" <<-END
	#!/bin/sh
	cat "$tmp/tests.json"
	END
	chmod +x "$tmp/bin/meson"
	jq -n --arg c "$1" '[{name: "t", suite: ["gpreempt:unit"], cmd: ["sh", "-c", $c], env: {},
		workdir: null, timeout: 5, priority: 0, is_parallel: true}]' >"$tmp/tests.json"
}
run_suite() { PATH=$tmp/bin:$PATH "$top/tools/run-tests" "$tmp"; }

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

claim "a run without a single claim fails"
suite 'exit 77'
try run_suite
exits 1 && says '^0 passed, 0 failed$'

claim "a look that fails breaks its claim"
suite ". $top/tests/cli/claims.sh; claim x; try false; exits 0; claim y; end"
try run_suite
exits 1 && says '^1 passed, 1 failed$'
end
