#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/python.sh runs in the guest: gpreemptd, and pytest beside it.
# usage: guest.sh RUN...
#
# A RUN is NAME[:VARIABLE=VALUE...][/PYTEST OPTIONS]; it prints "== NAME", TAP and "exit CODE". The
# daemon runs in all of them but those whose name begins with "no-daemon".
mkdir -p /etc/gpreempt /run/gpreempt /var/lib/gpreempt
tar -xf /lab/python.tar -C / || exit 1

# Times are of an emulated machine on a loaded one: only leases and deadlines that are long.
cat >/etc/gpreempt/gpreempt.conf <<'X'
[daemon]
policy = priority
attach_after = 200ms
attach_rate = 100
heartbeat = 10s
[policy priority]
stop_deadline = 20s
lease = 30s
max_hold = 5s
linger = 0
X
[ -z "${MEASURE:-}" ] || cat >/etc/gpreempt/gpreempt.conf <<'X'
[daemon]
policy = priority
attach_after = 200ms
attach_rate = 100
X

daemon() {
	gpreemptd &
	daemon=$!
	until gpreempt status >/dev/null 2>&1; do usleep 100000; done
}

for run; do
	name=${run%%[:/]*}
	options=${run#*/}
	[ "$options" != "$run" ] || options=
	settings=${run%%/*}
	settings=${settings#"$name"}
	daemon=
	case $name in no-daemon*) ;; *) daemon ;; esac
	echo "== $name"
	(
		IFS=:
		for setting in $settings; do
			[ -z "$setting" ] || export "${setting?}"
		done
		IFS=' '
		export PYTHONDONTWRITEBYTECODE=1
		# shellcheck disable=SC2086 # words
		python3 -m pytest /lab/python/tests -p no:cacheprovider -p no:doctest -q -rs --tb=short \
			--tap=/tmp/tap $options >/tmp/pytest 2>&1
		echo "exit $?"
	)
	cat /tmp/tap
	sed 's/^/# /' /tmp/pytest
	rm -f /tmp/tap /tmp/pytest
	[ -z "$daemon" ] || { kill "$daemon"; wait "$daemon"; }
done
