#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The completion of command lines in bash.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

gpreempt --bash-completion >"$tmp/completion"

# What bash offers for the line "$@", the last word of which is being typed.
offers() {
	# shellcheck disable=SC2016 # for bash, not for us
	try bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpreempt; printf "%s\n" "${COMPREPLY[@]}"' \
		bash "$tmp/completion" "$@"
}

claim "the first word is a command: every one of the list"
offers gpreempt ''
exits 0 && for c in $(gpreempt --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v gpreempt); do says "^$c\$"; done

claim "what is typed narrows it"
offers gpreempt su
exits 0 && check test "$(cat "$tmp/out")" = suspend

claim "then it is the options of that command, and no others"
offers gpreempt stats --
says '^--prometheus$' && says '^--watch$' && says '^--help$' && check test "$(grep -c -e --seed "$tmp/out")" -eq 0

claim "options that only tests use are not offered"
offers gpreempt doctor --
says '^--json$' && check test "$(grep -c -e --root "$tmp/out")" -eq 0

claim "operands of policy and help are offered by name"
offers gpreempt policy pri
says '^priority$'
offers gpreempt help doc
says '^doctor$'
end
