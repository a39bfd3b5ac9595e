#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/hostile.sh runs in the guest: one user attacks, and a second user's offline process (the victim) and a
# third user's online process (the bystander) show what it costs them. Prints facts, "ATTACK.NAME VALUE".
# usage: guest.sh REQUESTS REPEATS KILLS OPENERS CONNECTS [ATTACK]...

# It changes /etc and /dev.
[ -e /etc/lab/command ] || { echo "guest.sh: this is not the lab's guest" >&2; exit 2; }

requests=$1
repeats=$2
kills=$3
openers=$4
connects=$5
shift 5
only=" $* "

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh

lease_ms=300
kernel_ms=5
cat >/etc/gpreempt/gpreempt.conf <<CONFIGURATION
[daemon]
policy = priority
default_class = offline
attach_after = 100ms
attach_rate = 100
heartbeat = 250ms
[policy priority]
look_min = 200us
look_max = 500us
look_relaxed = 1ms
lease = ${lease_ms}ms
[rule online]
cmdline = *--class online*
class = online
CONFIGURATION
echo '1001:100000:65536' >/etc/subuid
printf 'root:x:0:0::/:/bin/sh\nmallory:x:1001:1001::/:/bin/sh\n' >/etc/passwd
chmod 666 /dev/kfd /dev/dri/renderD*

# Looks every 10 ms.
soon() { # COMMAND...
	naps=500
	until "$@"; do
		naps=$((naps - 1))
		[ $naps -gt 0 ] || return 1
		usleep 10000
	done
}
start_victim() {
	lab-hostile as 1002 gpload --class offline --kernel ${kernel_ms}ms --seconds 900 --print-kernels \
		>/tmp/victim 2>/tmp/kernels &
	victim=$!
}
start_bystander() {
	lab-hostile as 1003 gpload --json --class online --kernel 300us --waves 64 --poisson 40 --seed 7 --warm-up 5 \
		--requests "$requests" >/tmp/bystander 2>&1 &
	bystander=$!
}
says() { grep -q "^$1" /tmp/attacker; }
said() { sed -n "s/^$1 //p" /tmp/attacker | tail -n 1; }
start_attacker() { # ATTACK [OPTION]...
	lab-hostile "$@" >/tmp/attacker 2>&1 &
	attacker=$!
	soon says ready
}
hold_victim() { call Hold "{\"pid\":$victim,\"lease_ns\":${lease_ms}000000,\"wait\":true}" >/dev/null; }
# The victim's longest time without progress, by the clock of the device, in us.
longest_off() {
	sed -n 's/^kernel [0-9]* //p' /tmp/kernels | sort -n | awk -v own=$((kernel_ms * 1000000)) '
		last && $1 - last > most { most = $1 - last }
		{ last = $1 }
		END { printf "%d\n", (most - own) / 1000 }'
}
latency() { tr -d '\n' </tmp/bystander | sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p"; }
centiseconds() { sed 's/ .*//; s/\.//; s/^0*//' /proc/uptime; }
restarts() { call Status | sed -n 's/.*"restarts": *\([0-9]*\).*/\1/p'; }
trouble() { call Status | sed -n 's/.*"trouble": *\[\([^]]*\)\].*/\1/p'; }
trouble_of() { call List "{\"pid\":$1}" | sed -n 's/.*"trouble": *"\([^"]*\)".*/\1/p'; }

nothing() { :; }
# round ATTACK WHILE [OPTION]...: spring the attack while the victim is held, run the function WHILE, compare.
round() {
	name=$1
	meanwhile=$2
	shift 2
	start_victim
	[ "$name" = none ] || start_attacker "${attack:-$name}" "$@"
	sleep 0.3
	start_bystander
	sleep 0.2
	soon hold_victim || fact "$name.hold" failed
	held=$(lab-hostile now)
	if [ "$name" != none ]; then
		kill -USR1 $attacker
		soon says sprung || fact "$name.sprung" no
		fact "$name.offset_us" $((($(said sprung) - held) / 1000))
	fi
	$meanwhile
	wait $bystander
	fact "$name.bystander" $?
	fact "$name.p50_ns" "$(latency p50)"
	fact "$name.p99_ns" "$(latency p99)"
	usleep 100000
	began=$(centiseconds)
	answers && fact "$name.answer_ms" $((($(centiseconds) - began) * 10))
	fact "$name.trouble" "$(trouble)"
	if [ "$name" != none ]; then
		kill $attacker
		wait $attacker
		fact "$name.attacker" $?
		fact "$name.held" "$(said held)"
		grep '^#' /tmp/attacker >&2
	fi
	kill $victim
	wait $victim
	fact "$name.victim" $?
	fact "$name.longest_us" "$(longest_off)"
	until_true 20 answers || fact "$name.daemon" gone
	fact "$name.restarts" "$(restarts)"
}
wanted() { [ "$only" = '  ' ] || case $only in *" $1 "*) ;; *) false ;; esac; }

start
round none nothing
for name in pointers pointers-gtt save-area kfd-mutex; do
	wanted $name || continue
	class=offline
	case $name in pointers*) class=online ;; esac
	round $name nothing --class $class
done
stop
cat /tmp/daemon >&2
