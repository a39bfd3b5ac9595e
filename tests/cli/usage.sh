#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Help, versions and everything one can type wrong.
. "$(dirname "$0")/../shared/claims.sh"

# One line on stderr, nothing on stdout, exit code 2.
refused() {
	exits 2 && check test ! -s "$tmp/out" && check test "$(wc -l <"$tmp/err")" -eq 1 &&
		says_err '^gpreempt: '
}

# No daemon of this machine has a say in these tests.
export GPREEMPT_SOCKET="$tmp/nobody"

claim "without a command it is status, exit 3 without a daemon"
try gpreempt
exits 3 && says_err 'gpreemptd is not running' && says_err 'doctor' && check test ! -s "$tmp/out"
try gpreempt --json
exits 3 && check test ! -s "$tmp/out"

claim "--help lists the commands on stdout, exit 0"
try gpreempt --help
exits 0 && says '  compare FILE' && says 'exit codes: 0' && check test ! -s "$tmp/err"

claim "every command of the list has help of its own"
for c in $(gpreempt --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | grep -v gpreempt); do
	try gpreempt "$c" --help
	exits 0 && says "^usage: gpreempt $c"
done

claim "every command has a man page, and every option of it is there"
for c in $(gpreempt --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | grep -v 'gpreempt\|help'); do
	for o in $(gpreempt $c --help | sed -n 's/.*--\([a-z-]*\).*/\1/p' | sort -u); do
		[ "$o" = help ] || check grep -q -e "--$o" "$top/man/gpreempt-$c.1.scd"
	done
	check grep -q "'gpreempt-$c.1'" "$top/man/meson.build"
done

claim "--version is one line with a number"
try gpreempt --version
exits 0 && says '^gpreempt [0-9]'

claim "an unknown command, option, operand or value is one line, exit 2"
try gpreempt frobnicate
refused && says_err "no command 'frobnicate'"
try gpreempt sim colocate --frob
refused && says_err "no option '--frob'"
try gpreempt sim
refused && says_err 'no FILE'
try gpreempt sim a.ini b.ini
refused && says_err "b.ini"
try gpreempt sim colocate --seed x
refused && says_err 'seed'
try gpreempt sim colocate --seed
refused && says_err 'needs a value'
try gpreempt sim colocate --json=yes
refused && says_err 'takes no value'
try gpreempt sim colocate --set nothing
refused && says_err 'SECTION.KEY=VALUE'
try gpreempt sim colocate --set run.lenght=5s
refused && says_err 'lenght' && says_err 'length'
try gpreempt sim colocate --policy lottery
refused && says_err 'priority'
try gpreempt sim colocate --trace picture.png
refused && says_err '.pftrace'
try gpreempt compare colocate --rows native,magic
refused && says_err "no row 'magic'" && says_err 'ours-evict'
try gpreempt compare colocate --seeds 9..1
refused && says_err 'A..B'
try gpreempt compare colocate --robust --frontier
refused && says_err 'exclude each other'
try gpreempt facts --profile h100
refused && says_err 'mi308x'

claim "a mistyped command, option or mechanism is answered with the nearest name"
try gpreempt compre colocate
refused && says_err "no command 'compre'; did you mean 'compare'?"
try gpreempt help statu
refused && says_err "did you mean 'status'?"
try gpreempt list --jsn
refused && says_err "no option '--jsn'; did you mean '--json'?"
try gpreempt sim colocate --policy priorty
refused && says_err "did you mean 'priority'?"
try gpreempt sim colocate --set run.lenght=5s
refused && says_err "did you mean 'length'?"
try gpreempt sim colocate --mechanism evct
refused && says_err "did you mean 'evict'?"

claim "scenarios lists every scenario with a line, as text and as JSON; sim takes the names"
try gpreempt scenarios
exits 0 && for f in "$top"/scenarios/*.ini; do says "^$(basename "$f" .ini) \+[A-Z]"; done
try gpreempt scenarios --json
exits 0 && json '.schema == 1 and all(.scenarios[]; (.what | length) > 10)' &&
	check test "$(jq '.scenarios | length' "$tmp/out")" -eq "$(find "$top/scenarios" -name '*.ini' | wc -l)"
check test -f "$(jq -r '.scenarios[] | select(.name == "burst") | .path' "$tmp/out")"

claim "an unknown scenario is answered with the nearest name, a folder with what is expected"
try gpreempt sim colocat
refused && says_err "colocat: no such file or scenario; did you mean 'colocate'?"
try gpreempt compare xyzzy
refused && says_err "'gpreempt scenarios' lists"
try gpreempt sim "$top/scenarios"
refused && says_err 'scenarios: is a folder; expected a scenario'

claim "GPREEMPT_SCENARIOS names a folder that is searched first, and the source tree is found without it"
mkdir "$tmp/own"
printf '# Mine.\ninclude = %s\n' "$top/scenarios/burst.ini" >"$tmp/own/burst.ini"
cp "$tmp/own/burst.ini" "$tmp/own/mine.ini"
try env GPREEMPT_SCENARIOS="$tmp/own" "$GPREEMPT" scenarios --json
json '[.scenarios[] | .name + .what] == ["burstMine", "mineMine"]'
try env GPREEMPT_SCENARIOS="$tmp/own" "$GPREEMPT" sim mine --length 100ms
exits 0 && says '^mine: '
try env -u GPREEMPT_SCENARIOS "$GPREEMPT" sim colocate --length 100ms --set run.expect=none
exits 0

claim "options may be behind the operands and their letters together; -- ends them"
try gpreempt sim colocate -l1s --json
exits 0 && json '.schema == 1'
try gpreempt sim -- -none.ini
refused && says_err 'none.ini'
try gpreempt policy fifo -nx
refused && says_err "no option '-x'"

claim "a bad scenario is FILE:LINE: what, what is allowed"
printf '[run]\nlength = 1s\n[a]\nrole = onlin\n' >"$tmp/bad.ini"
try gpreempt sim "$tmp/bad.ini"
refused && says_err "bad.ini:4: " && says_err 'offline'
try gpreempt sim "$tmp/none.ini"
refused && says_err 'none.ini'

claim "what is said on stdout is not lost silently on a full disk"
if [ -w /dev/full ]; then
	code=0
	gpreempt facts >/dev/full 2>"$tmp/err" || code=$?
	check test "$code" -eq 2 && says_err 'cannot write'
fi

claim "facts lists every number with a source, as text and as JSON"
try gpreempt facts --json
exits 0 && json '.schema == 1 and (.facts | length > 20) and
	all(.facts[]; .source | IN("assumed", "read", "measured"))'
try gpreempt facts
exits 0 && says 'save_fixed' && says 'assumed' && check test -z "$(grep -c UNSET "$tmp/out" | grep -v '^0$')"

claim "no colours and no progress where there is no terminal"
try gpreempt facts
# shellcheck disable=SC1003
check test "$(tr -d '\033' <"$tmp/out" | wc -c)" -eq "$(wc -c <"$tmp/out")"
end
