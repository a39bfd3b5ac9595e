#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The model tells the truth: what the real driver does in the lab, replayed outside, gives the
# states that the lab saw; and the simulator counts for the same operations what the lab counts.
# GP_KEEP=FILE keeps the recording, compressed: tests/data/operations.rec.xz is one.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
replay() { "$build/lab/replay/lab-replay" "$@"; }
model_error() { "$build/lab/truth/lab-model-error" "$@"; }
value() { sed -n "s/^$1 //p" "$tmp/state"; }

claim "the real driver creates, updates, suspends, evicts, halts, oversubscribes, kills and exits in the lab"
try "$top/lab/run" --param record=64 --param no_system_mem_limit=1 --timeout 400 -- \
	sh -c 'modprobe gpreempt && lab-operations'
exits 0 && check test "$(grep -c '^op ' "$tmp/err")" -eq 23
mv "$tmp/out" "$tmp/recording"
mv "$tmp/err" "$tmp/operations"
[ -z "$GP_KEEP" ] || xz -9e -c "$tmp/recording" >"$GP_KEEP"

claim "its bytes lead a chip outside the virtual machine to every state the lab saw"
try replay "$tmp/recording"
exits 0
cp "$tmp/out" "$tmp/state"
echo "#| $(wc -c <"$tmp/recording") bytes: $(value UNMAP_QUEUES) unmaps, $(value RUN_LIST) runlists," \
	"$(value queues_mapped) queues mapped, $(value bytes_saved) bytes saved"

claim "nothing in them was wrong or unknown to the chip"
check test "$(value 'bad packet')" = 0 && check test "$(value reports)" = 0 && check test "$(value faults)" = 0

claim "every command of the driver was one operation of the device"
check test "$(value UNMAP_QUEUES)" = "$(value unmaps)" && check test "$(value RUN_LIST)" = "$(value maps)"

claim "a recording with one bit changed is told from it, with the place"
size=$(wc -c <"$tmp/recording")
cp "$tmp/recording" "$tmp/changed"
# The last byte of the last line of the last state, its newline.
printf 'X' | dd of="$tmp/changed" bs=1 seek=$((size - 9)) conv=notrunc 2>/dev/null
try replay "$tmp/changed"
exits 1 && check test "$(wc -l <"$tmp/err")" -eq 1 && says_err 'entry [0-9]*, [0-9]* ns: .*expected .*; got '

claim "the simulator counts exactly what the lab counts, and its times are within 10 %"
try model_error "$tmp/operations"
exits 0
sed 's/^/#| /' "$tmp/out"

claim "the table is there as JSON, too"
try model_error --json "$tmp/operations"
exits 0 && check test "$(jq -s 'length' "$tmp/out")" -eq 23 &&
	check test "$(jq -s 'map(select(.off)) | length' "$tmp/out")" -eq 0

claim "one count that differs is exit 1 and marked"
sed '/^op evict /s/unmaps 1/unmaps 2/' "$tmp/operations" >"$tmp/wrong"
try model_error "$tmp/wrong"
exits 1 && says '^evict .* 1/2 .*OFF$'

claim "no input, or half of it, is exit 2 and one line"
try model_error /dev/null
exits 2 && check test "$(wc -l <"$tmp/err")" -eq 1
grep -v '^op kill ' "$tmp/operations" >"$tmp/wrong"
try model_error "$tmp/wrong"
exits 2 && says_err kill
end
