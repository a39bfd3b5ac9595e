#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# A wrapper for batch jobs that may be preempted at any time.
#
# usage: batch.sh COMMAND [ARGUMENT]...
#
# The job gets its class before its first queue, so it never delays online work. Its children inherit
# the class. Without a daemon the job runs without gpreempt, because a batch job must not fail for that.
# At the end the wrapper prints how often the job was preempted.
#
# GPREEMPT_CLASS sets another class than offline; GPREEMPT sets the path of the command gpreempt.
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
# Passes the job scheduler's signal on to the job, which may want to save its state.
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
