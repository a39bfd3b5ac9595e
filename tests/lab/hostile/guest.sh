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

lease_ms=200
kernel_ms=10
cat >/etc/gpreempt/gpreempt.conf <<CONFIGURATION
[daemon]
policy = priority
default_class = offline
attach_after = 20ms
attach_rate = 100
heartbeat = 150ms
[policy priority]
look_min = 200us
look_max = 500us
look_relaxed = 1ms
lease = ${lease_ms}ms
min_share = 0
[rule online]
cmdline = *--class online*
class = online
CONFIGURATION
echo '1001:100000:65536' >/etc/subuid
printf 'root:x:0:0::/:/bin/sh\nmallory:x:1001:1001::/:/bin/sh\n' >/etc/passwd
# shellcheck disable=SC3045 # busybox has it
ulimit -n 1024
chmod 666 /dev/kfd /dev/dri/renderD*

# A daemon that hangs is part of the game.
call() { timeout 1 ./gpcall "$@" 2>/dev/null; }
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
	env -u GPREEMPT_GANG lab-hostile as 1002 gpload --class offline --wait event --kernel ${kernel_ms}ms --seconds 900 --print-kernels \
		>/tmp/victim 2>/tmp/kernels &
	victim=$!
}
start_bystander() {
	env -u GPREEMPT_GANG lab-hostile as 1003 gpload --json --class online --wait event --kernel 300us --waves 64 --poisson 80 --seed 7 --warm-up 10 \
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
# Its queue is known: until then it preempts no process.
watched() { call List "{\"pid\":$1}" | grep -q '"work":"[^u"]'; }
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
trouble() { sed -n 's/.*"trouble": *\[\([^]]*\)\].*/\1/p' /tmp/status; }
trouble_of() { call List "{\"pid\":$1}" | sed -n 's/.*"trouble": *"\([^"]*\)".*/\1/p'; }

nothing() { :; }
before=nothing
after=nothing
uid=2000
ends=0
# round ATTACK WHILE [OPTION]...: spring the attack while the victim is held, run the function WHILE, compare.
round() {
	name=$1
	meanwhile=$2
	shift 2
	# More than five ends of a decider within a minute end the supervisor.
	[ $ends -lt 3 ] && kill -0 "$supervisor" 2>/dev/null || { stop; start; ends=0; }
	known=$(restarts)
	sprung=
	start_victim
	uid=$((uid + 1))
	start_attacker "${attack:-$name}" --uid $uid "$@"
	usleep 150000
	start_bystander
	soon watched $bystander || fact "$name.hold" "the bystander is not watched"
	soon hold_victim || fact "$name.hold" failed
	held=$(lab-hostile now)
	$before
	kill -USR1 $attacker
	soon says sprung || fact "$name.sprung" no
	$meanwhile
	[ -z "$sprung" ] && sprung=$(said sprung)
	fact "$name.offset_us" $(((sprung - held) / 1000))
	wait $bystander
	fact "$name.bystander" $?
	fact "$name.p50_ns" "$(latency p50)"
	fact "$name.p99_ns" "$(latency p99)"
	usleep 100000
	began=$(centiseconds)
	if call Status >/tmp/status; then
		fact "$name.answer_ms" $((($(centiseconds) - began) * 10))
		fact "$name.trouble" "$(trouble)"
	fi
	$after
	kill $attacker
	wait $attacker
	fact "$name.attacker" $?
	fact "$name.held" "$(said held)"
	grep '^#' /tmp/attacker >&2
	kill $victim
	wait $victim
	fact "$name.victim" $?
	fact "$name.longest_us" "$(longest_off)"
	until_true 20 answers || fact "$name.daemon" gone
	restarted=$(($(restarts) - known))
	fact "$name.restarted" $restarted
	ends=$((ends + restarted))
}
wanted() { [ "$only" = '  ' ] || case $only in *" $1 "*) ;; *) false ;; esac; }

# ---- what happens while the attack lasts ----
the_attacker() { said ready; }
# The text of a process whose memory is locked; of one with a GPU and of one without.
ask_for_class() {
	call --uid $uid SetClass "{\"pid\":$(the_attacker),\"class\":\"idle\"}" >/dev/null
	fact "$name.setclass" $?
}
# Then it is attached to.
attach_now() {
	call SetClass "{\"pid\":$(the_attacker),\"class\":\"offline\"}" >/dev/null
	list_reason
}
list_reason() {
	list_reason_once || list_reason_once || list_reason_once
	fact "$name.reason" "$(trouble_of "$(the_attacker)")"
}
list_reason_once() { [ -n "$(trouble_of "$(the_attacker)")" ]; }
# Another process of the same gang, which could be preempted.
list_gang() {
	list_reason
	fact "$name.traced_reason" "$(trouble_of "$(sed -n 's/^ready //p' /tmp/traced)")"
	fact "$name.member" "$(trouble_of "$member")"
	kill "$member"
	wait "$member"
	fact "$name.member_sums" $?
}
stop_decider() {
	kill -STOP "$(daemon_of $supervisor)"
	sprung=$(lab-hostile now)
}
# The decider reads its configuration from a page that does not come: it is in D state.
block_decider() {
	decider=$(daemon_of $supervisor)
	mount --bind /tmp/fuse/file /etc/gpreempt/gpreempt.conf
	kill -HUP "$decider"
	sprung=$(lab-hostile now)
	soon is_blocked "$decider" && fact "$name.state" D
	umount -l /etc/gpreempt/gpreempt.conf
}
is_blocked() { [ "$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status")" = D ]; }
switch_off() {
	began=$(centiseconds)
	call Disable >/dev/null && fact "$name.off_ms" $((($(centiseconds) - began) * 10))
	call Enable >/dev/null
}
# What was said of a process must not hold for the next one with its number.
class_by_hand() {
	call SetClass "{\"pid\":$(the_attacker),\"class\":\"idle\"}" >/dev/null
	call Hold "{\"pid\":$(the_attacker),\"lease_ns\":${lease_ms}000000}" >/dev/null
}
reused() {
	until_true 2 on_as_offline && fact "$name.on" yes
	fact "$name.class" "$(call List "{\"pid\":$(the_attacker)}" | sed -n 's/.*"class": *"\([^"]*\)".*/\1/p')"
}
on_as_offline() { state_is on "$(the_attacker)"; }

# ---- the attacks ----
start
round idle nothing --class offline
round busy nothing --class offline
i=0
while [ $i -lt "$repeats" ]; do
	wanted pointers && round pointers nothing --class online
	wanted pointers-gtt && round pointers-gtt nothing --class online
	wanted save-area && round save-area list_reason --class offline
	wanted kfd-mutex && round kfd-mutex list_reason --class offline
	wanted exec && round exec attach_now --class online
	wanted memory-lock && round memory-lock ask_for_class --class online
	if wanted decider-stopped; then
		attack=idle
		round decider-stopped stop_decider --class offline
		attack=
	fi
	if wanted decider-blocked; then
		attack=config
		round decider-blocked block_decider
		attack=
	fi
	i=$((i + 1))
done
wanted cmdline && round cmdline nothing --class offline
if wanted gang; then
	# A process traced by its parent, and a gang of two of which one never enables the debug runtime.
	lab-hostile traced --uid 2098 --class offline >/tmp/traced 2>&1 &
	traced=$!
	GPREEMPT_GANG=evasion lab-hostile as $((uid + 1)) gpload --class offline --wait event --kernel 20ms --seconds 900 \
		>/tmp/member 2>&1 &
	member=$!
	attack=no-runtime
	export GPREEMPT_GANG=evasion
	round gang list_gang --class offline
	attack=
	unset GPREEMPT_GANG
	kill $traced
	ended gang.traced $traced
fi
before=class_by_hand
wanted pid-reuse && round pid-reuse reused --class offline
before=nothing
after=switch_off
wanted openers && round openers nothing --count "$openers"
lines=$(grep -c . /tmp/daemon)
if wanted flood; then
	round flood nothing --count "$connects"
	for count in connects refused calls; do fact "flood.$count" "$(said $count)"; done
	fact flood.log_lines $(($(grep -c . /tmp/daemon) - lines))
fi
after=nothing

# ---- processes of the daemon are killed, at any instant ----
random() { echo $(($(od -An -N2 -tu2 /dev/urandom) % $1)); }
kill_one() {
	pids=$(cat "/proc/$supervisor/task/$supervisor/children")
	# shellcheck disable=SC2086 # words
	set -- $pids
	[ $# -gt 0 ] || return 1
	shift "$(random $#)"
	killed="$killed $(cat "/proc/$1/comm")"
	kill -KILL "$1"
}
if wanted kills; then
	name=kills
	start_victim
	lab-hostile as 1003 gpload --class online --wait event --kernel 300us --waves 64 --poisson 40 --seconds 900 >/tmp/bystander 2>&1 &
	bystander=$!
	killed=
	i=0
	while [ $i -lt "$kills" ]; do
		until_true 20 hold_victim || fact kills.hold $i
		usleep $(($(random 100) * 3000))
		# A supervisor whose decider ends too often ends, and the unit starts it again.
		kill_one && i=$((i + 1))
		usleep $(($(random 100) * 1000))
		kill -0 "$supervisor" 2>/dev/null || start
		until_true 20 state_is on "$victim" || fact kills.off $i
		usleep $((4000 * kernel_ms))
	done
	for kind in gpreemptd gp-holder gp-reader; do
		fact "kills.$kind" "$(echo "$killed" | tr ' ' '\n' | grep -c "^$kind")"
	done
	until_true 20 answers && fact kills.daemon answers
	kill $bystander $victim
	ended kills.bystander $bystander
	ended kills.victim $victim
	fact kills.longest_us "$(longest_off)"
fi

# ---- another program takes the daemon's place, and the first one comes back ----
if wanted upgrade; then
	cp gpreemptd first
	cp gpreemptd second
	start_victim
	for step in second first; do
		until_true 20 hold_victim || fact upgrade.hold $step
		mv $step gpreemptd
		if [ $step = second ]; then
			stop
		else
			kill -KILL $supervisor
			wait $supervisor
		fi
		fact upgrade.$step $?
		# As another version would have written it.
		sed -i 's/^gpreempt-state .*/gpreempt-state 999/' /run/gpreempt/state
		start
		fact upgrade.${step}_state "$(grep -c 'state.*ignored' /tmp/daemon)"
		until_true 20 hold_victim || fact upgrade.again $step
	done
	usleep 400000
	kill $victim
	ended upgrade.victim $victim
	fact upgrade.longest_us "$(longest_off)"
fi
stop
sed 's/^/daemon /' /tmp/daemon >&2
