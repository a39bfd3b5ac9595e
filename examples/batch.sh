#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# A wrapper for batch jobs: whatever is run by it may be taken off the GPU at any time.
#
# usage: batch.sh COMMAND [ARGUMENT]...
#
# The job has its class before its first queue, so nothing of it ever stands in the way of online work,
# and its children have it too. It runs without gpreempt where there is no daemon: a batch job must not
# fail because of who else uses the GPU. How often it was preempted is told at the end.
#
# GPREEMPT_CLASS chooses another class than offline; GPREEMPT names the command.
set -u

gpreempt=${GPREEMPT:-gpreempt}
class=${GPREEMPT_CLASS:-offline}

[ $# -gt 0 ] || { echo "usage: batch.sh COMMAND [ARGUMENT]..." >&2; exit 2; }

if ! "$gpreempt" status >/dev/null 2>&1; then
	echo "batch.sh: no gpreemptd: running $1 without it" >&2
	exec "$@"
fi

"$gpreempt" run --class "$class" -- "$@" &
job=$!
# The scheduler's signal is for the job, which may want to save its state.
trap 'kill -TERM $job 2>/dev/null' TERM INT
preempted=
while kill -0 $job 2>/dev/null; do
	sleep "${BATCH_EVERY:-1}" &
	wait $!
	seen=$("$gpreempt" list $job --json 2>/dev/null | sed -n 's/^ *"preempted": \([0-9]*\).*/\1/p')
	preempted=${seen:-$preempted}
done
wait $job
code=$?
echo "batch.sh: $1 ended with $code${preempted:+, preempted $preempted times}" >&2
exit $code
