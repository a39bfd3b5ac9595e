#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What preemption by gpreempt.ko gives and takes: tests/lab/daemon-price.sh with the module, by direct; by evict, too, and
# with five seeds, with GP_FULL=1. One list of claims.
here=$(dirname "$0")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
ways=direct code=0
[ "${GP_FULL:-0}" = 0 ] || ways="evict direct"

for way in $ways; do
	"$here/daemon-price.sh" "$way" >>"$tmp/out" || code=1
done
awk '/^1\.\.[0-9]+$/ { next }
	/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+/, "ok " n) }
	{ print }
	END { print "1.." n + 0 }' "$tmp/out"
exit $code
