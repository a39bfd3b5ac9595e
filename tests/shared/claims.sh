# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
#
# Sourced by every black-box test of a command. A test is a list of claims:
#
#	. "$(dirname "$0")/./claims.sh"
#	claim "a missing file is exit 2 and names the file"
#	try gpreempt sim nowhere.ini
#	exits 2 && says_err nowhere.ini
#	end
#
# try runs a command and keeps its exit code, stdout and stderr; exits, says and
# says_err look at them. A claim holds if every look since it was made did.
# await waits for something that another process does. Never sleep and hope instead:
# a busy machine needs longer.
# `gpreempt` is the one just built; $top is the source tree, $tmp is ours.

# shellcheck disable=SC2034 # used by the tests
top=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

claims=0
broken=0
title=
holds=

gpreempt() { "$GPREEMPT" "$@"; }

settle() {
	[ -n "$title" ] || return 0
	claims=$((claims + 1))
	if [ "$holds" = yes ]; then
		echo "ok $claims - $title"
	else
		broken=$((broken + 1))
		echo "not ok $claims - $title"
	fi
}

claim() { settle; title=$1; holds=yes; }
end() { settle; echo "1..$claims"; [ "$broken" -eq 0 ]; exit; }
no() { holds=no; echo "# $*"; return 1; }

try() {
	tried=$*
	code=0
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

exits() { [ "$code" -eq "$1" ] || no "'$tried' exited with $code, not $1: $(head -n 3 "$tmp/err")"; }
says() { grep -q -e "$1" "$tmp/out" || no "'$tried' does not print '$1'"; }
says_err() { grep -q -e "$1" "$tmp/err" || no "'$tried' does not print '$1' on stderr but: $(head -n 3 "$tmp/err")"; }
# The filter $1 is true of the JSON last printed, or of the file $2.
json() { jq -e "$1" "${2-$tmp/out}" >/dev/null || no "not so of '$tried': $1"; }
# Facts are lines "NAME VALUE". is NAME VALUE: that is the fact last printed.
value() { sed -n "s/^$1 //p" "$tmp/out"; }
is() { [ "$(value "$1")" = "$2" ] || no "$1 is '$(value "$1")', not '$2'"; }
# Any other check: `check test -s FILE`.
check() { "$@" || no "not so: $*"; }

# Waits until a command succeeds. The limit of ten minutes ends only a test that hangs.
await() {
	naps=0
	until "$@"; do
		[ "$naps" -lt 12000 ] || { no "waited in vain for: $*"; return 1; }
		naps=$((naps + 1))
		sleep 0.05
	done
}

# For tests whose claims are made in a guest of the lab. guest ARGUMENTS...: runs a lab and keeps what it prints.
# guest_end: prints all of that with the claims numbered, and ends with the code of the last lab that failed.
guest_code=0
guest() { "$top/lab/run" "$@" >>"$tmp/guest" || guest_code=$?; }
guest_end() {
	awk '/^1\.\.[0-9]+$/ { next }
		/^(not )?ok [0-9]* ?- / { n++; sub(/ok [0-9]* ?-/, "ok " n " -") }
		{ print }
		END { print "1.." n + 0 }' "$tmp/guest"
	[ "$guest_code" -eq 0 ] || echo "# the guest ended with $guest_code"
	exit "$guest_code"
}
