#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# What a user types on a machine with a GPU, in the guest: files in /tmp are printed at the
# end, each behind a line "== NAME", for tests/lab/commands.sh to judge.
mkdir -p /etc/gpreempt /run/gpreempt /var/lib/gpreempt
PATH=/lab:$PATH
export PATH
cat >/etc/gpreempt/gpreempt.conf <<'END'
[daemon]
policy = priority
heartbeat = 10s
[policy]
stop_deadline = 20s
lease = 30s
[rule online]
cmdline = *--class online*
class = online
END

# keep NAME COMMAND...: its output and its exit code.
keep() {
	name=$1
	shift
	"$@" >"/tmp/keep.$name" 2>"/tmp/said.$name"
	code=$?
	case " $* " in *' --json '*) ;; *) cat "/tmp/said.$name" >>"/tmp/keep.$name" ;; esac
	echo "exit $code" >>"/tmp/keep.$name"
}
# Waits until the daemon has a process that $1 finds in its list, at most a minute.
await() {
	for _ in $(seq 60); do
		gpreempt list --json 2>/dev/null | grep -q -e "$1" && return
		sleep 1
	done
	echo "never listed: $1"
}

# Until the daemon, whose output goes to $1, can be called.
await_daemon() {
	until gpreempt status >/dev/null 2>&1; do
		kill -0 "$daemon" || { cat "$1" >&2; exit 1; }
		sleep 1
	done
}

gpreemptd >/tmp/keep.daemon 2>&1 &
daemon=$!
await_daemon /tmp/keep.daemon

gpreempt run --class offline -- gpload --kernel 5ms --requests 100000 >/tmp/keep.offline 2>&1 &
offline=$!
await '"type": "aql"'		# it is listed before it has made its queue
keep alone gpreempt list --json
keep doctor gpreempt doctor --json
keep bundle-made gpreempt doctor --bundle /tmp/bundle.tar
keep bundle tar -tf /tmp/bundle.tar
keep bundle-log tar -xOf /tmp/bundle.tar kernel.log
keep bundle-mqds tar -xOf /tmp/bundle.tar debugfs/mqds
keep bundle-list tar -xOf /tmp/bundle.tar list.json
gpload --class online --kernel 300us --waves 64 --poisson 20 --requests 100000 >/tmp/keep.online 2>&1 &
online=$!
await '"name": "gpload-online"'
keep record gpreempt record /tmp/timeline.pftrace --for 3s --json
base64 /tmp/timeline.pftrace >/tmp/keep.timeline
keep list gpreempt list
keep list-json gpreempt list --json
keep list-none gpreempt list 999999
keep stats-none gpreempt stats 999999
keep dry gpreempt policy fair slice=7ms --dry-run
keep policy-after gpreempt policy --json
keep stats gpreempt stats
keep prometheus gpreempt stats --prometheus
gpreempt off >/dev/null
keep node gpreempt record /tmp/node.gptrace --for 3s --json
gpreempt on >/dev/null
keep what-if gpreempt what-if /tmp/node.gptrace --json
kill $online
wait $online
echo "exit $?" >>/tmp/keep.online

gpreempt suspend $offline --for 5s >/tmp/keep.suspend 2>&1 &
await '"state": "off"'
keep held gpreempt list $offline --json
wait $!
echo "exit $?" >>/tmp/keep.suspend
keep released gpreempt list $offline --json
keep bench-taken gpreempt bench $offline --rounds 1
printf 'root:x:0:0::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n' >/etc/passwd
chmod 666 /dev/kfd
keep bench-denied su bob -c "PATH=$PATH gpreempt bench $offline --rounds 1"
keep record-denied su bob -c "PATH=$PATH gpreempt record /tmp/bob.pftrace --for 1s"
keep list-bob su bob -c "PATH=$PATH gpreempt list"
keep raise gpreempt class $offline online
keep off gpreempt off
keep status gpreempt status --json
keep bench gpreempt bench $offline --rounds 5 --grace 1,64 --json
kill $offline
wait $offline
echo "exit $?" >>/tmp/keep.offline
kill $daemon
wait $daemon
echo "exit $?" >>/tmp/keep.daemon
# ---- a daemon without a policy only looks, and what it sees can be recorded ----
sed -i '/^policy/d; /^heartbeat/d' /etc/gpreempt/gpreempt.conf
gpreemptd >/tmp/observer 2>&1 &
daemon=$!
await_daemon /tmp/observer
gpreempt on >/dev/null
gpload --class offline --kernel 5ms --requests 100000 >/dev/null 2>&1 &
offline=$!
gpload --class online --kernel 300us --waves 64 --poisson 20 --requests 100000 >/dev/null 2>&1 &
online=$!
await '"name": "gpload-offline"'
await '"name": "gpload-online"'
keep observed gpreempt record /tmp/seen.pftrace --for 3s --json
base64 /tmp/seen.pftrace >/tmp/keep.seen
keep observer gpreempt status --json
keep observer-counts gpreempt stats --json
kill $online $offline
wait $online
keep observed-online echo $?
wait $offline
keep observed-offline echo $?
kill $daemon
wait $daemon
# ---- and with the module ----
modprobe gpreempt
keep bench-module gpreempt bench --rounds 3 --grace 1,64 --json -- gpload --kernel 5ms --requests 100000
keep bench-halt gpreempt bench --rounds 2 --grace 1 --json -m halt -- gpload --kernel 5ms --requests 100000
for f in /tmp/keep.*; do
	echo "== ${f#/tmp/keep.}"
	cat "$f"
done
