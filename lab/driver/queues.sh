#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Queues, memory and events on the real driver, in one boot. The claims are made in the guest
# (lab/driver/queues) and passed on here.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../../tests/shared/claims.sh"

try "$top/lab/run" --vram 256 --param no_system_mem_limit=1 --timeout 500 -- lab-queues
while read -r word rest; do
	case $word in
	"#") echo "# $rest" ;;
	ok) claim "${rest#* - }" ;;
	not) claim "${rest#* - }"; no "see above" ;;
	esac
done <"$tmp/out"

claim "the guest runs to its end without a complaint of the kernel"
exits 0
end
