#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# lab-replay as a command, without a virtual machine.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

replay() { "${GPREEMPT%/cli/gpreempt}/lab/replay/lab-replay" "$@"; }
xz -dc "$top/tests/data/operations.rec.xz" >"$tmp/good"

claim "a recording of the real driver replays, and the state is printed as the lab's views show it"
try replay "$tmp/good"
exits 0 && says '^UNMAP_QUEUES [1-9]' && says '^bytes_saved [1-9]' && says '^pasid doorbell kind state '
check test ! -s "$tmp/err"

claim "it can come from stdin"
try sh -c "\"${GPREEMPT%/cli/gpreempt}/lab/replay/lab-replay\" - <'$tmp/good'"
exits 0 && says '^RUN_LIST [1-9]'

claim "a file that is no recording is exit 2 and one line that names it"
head -c 1000 "$tmp/good" >"$tmp/short"
echo nonsense >"$tmp/nonsense"
for wrong in "$tmp/short" "$tmp/nonsense" /dev/null "$tmp/nowhere"; do
	try replay "$wrong"
	exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err "$wrong" && check test ! -s "$tmp/out"
done

claim "no file and too many are usage, exit 2"
try replay
exits 2 && says_err usage
try replay a b
exits 2

claim "--help says what the exit codes mean"
try replay --help
exits 0 && says 'Exit code'
end
