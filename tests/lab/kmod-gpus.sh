#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# gpreempt.ko with two GPUs: a gang over both, and each with work of its own. One boot; the guest prints
# facts.
# shellcheck disable=SC2016 # conditions are awk's
# shellcheck source=tests/cli/claims.sh
. "$(dirname "$0")/../cli/claims.sh"

value() { sed -n "s/^$1 //p" "$tmp/out"; }
is() { [ "$(value "$1")" = "$2" ] || no "$1 is '$(value "$1")', not '$2'"; }
holds_of() { # NAME CONDITION: an awk condition on its words
	check test "$(value "$1" | awk "{ print ($2) }")" = 1 || echo "# $1 $(value "$1")"
}

claim "a guest with two GPUs runs the module without a complaint of the kernel"
try "$top/lab/run" --gpus 2 --param no_system_mem_limit=1 --timeout 500 \
	--copy "$top/tests/lab/kmod/kmod.sh" --copy "$top/tests/lab/kmod/gpus.sh" -- sh ./gpus.sh
exits 0 || cat "$tmp/err"

claim "a gang with a rank on each GPU is held and let back as a whole"
is gang_held "off off" && is gang_back "on on"

claim "it is taken off both GPUs for online work on one of them, and everybody verifies"
check test "$(value gang_stopped)" -ge 2
holds_of gang_saved '$3 > $1 && $4 > $2'
is gang_lost 0 && is gang_online 0

claim "on GPUs with different online processes each preempts its own, and everybody verifies"
check test "$(value own_stopped)" -ge 2
holds_of own_saved '$3 > $1 && $4 > $2'
is own_lost 0 && is own_online 0 && is own_other 0 && is first 0 && is second 0

claim "every wave that was saved was restored, on both"
holds_of restored '$1 == $2 && $3 == $4'

claim "the module can be unloaded then"
is rmmod 0
end
