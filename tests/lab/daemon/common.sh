# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh disable=SC2034 # used by the scripts that read it in
# The daemon's configuration in the guest, and how to talk about what happens.

mkdir -p /etc/gpreempt /run/gpreempt /var/lib/gpreempt
mount -t debugfs none /sys/kernel/debug 2>/dev/null
# Times are of an emulated machine on a loaded one: only leases and deadlines that are long.
cat >/etc/gpreempt/gpreempt.conf <<'X'
[daemon]
policy = priority
default_class = offline
attach_after = 200ms
attach_rate = 100
heartbeat = 4s
[policy priority]
look_min = 1ms
look_max = 2ms
look_relaxed = 5ms
stop_deadline = 20s
lease = 60s
max_hold = 5s
linger = 0
[rule online]
cmdline = *--class online*
class = online
X

# Everything as it is without settings, but for the wait before a process is attached: for measurements.
as_by_default() {
	cat >/etc/gpreempt/gpreempt.conf <<'X'
[daemon]
policy = priority
attach_after = 200ms
[rule online]
cmdline = *--class online*
class = online
[rule offline]
cmdline = *--class offline*
class = offline
X
}

fact() { echo "$*"; }
# until SECONDS COMMAND...: true as soon as COMMAND is.
until_true() {
	left=$(($1 * 10))
	shift
	while ! "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 100000
	done
}
call() { ./gpcall "$@" 2>/dev/null; }
answers() { call Status >/dev/null; }
count() { call Stats | sed 's/"processes":.*//' | sed -n "s/.*\"counters\":{[^}]*\"$1\":\([0-9]*\).*/\1/p" | head -n 1; }
device() { sed -n "s/^$1 //p" "/sys/kernel/debug/vgpu/${gpu:-0}/counters"; }
attached() { [ "$(count attaches)" -gt 0 ] 2>/dev/null; }
state_is() { call List "{\"pid\":$2}" | grep -q "\"state\":\"$1\""; }
can_be_held() { call Hold "{\"pid\":$1,\"lease_ns\":25000000000,\"wait\":true}" >/dev/null; }
# Of the children of the supervisor: the decider, and the holders.
children_of() { for pid in $(cat "/proc/$1/task/$1/children"); do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$2" ] || echo "$pid"; done; }
daemon_of() { children_of "$1" gpreemptd; }
holders_of() { children_of "$1" gp-holder; }
start() {
	./gpreemptd 2>/tmp/daemon &
	supervisor=$!
	until_true 20 answers
}
stop() { kill "$supervisor"; wait "$supervisor"; }
offline() { gpload --class offline --queues 2 --kernel 20ms "$@" >/tmp/offline 2>&1 & offline=$!; }
online() { gpload --class online --kernel 1ms --waves 64 --poisson 20 "$@" >/tmp/online 2>&1 & online=$!; }
ended() { wait "$2"; fact "$1" $?; }
# preempt_often N: three online processes preempt two offline ones, N times; what both sides counted meanwhile.
# Figures are read while the online ones are stopped, so that nothing moves in between.
stopped_since() { [ $(($(count stopped) - $1)) -ge "$2" ]; }
all_on() { for pid; do state_is on "$pid" || return; done; }
calls() { echo $(($(count suspends) + $(count resumes))); }
quiet() {
	# shellcheck disable=SC2086 # lists of pids
	{ kill -STOP $onlines; until_true 60 all_on $offlines || fact never_quiet yes; }
	sleep 1
}
right() { # NAME PID...: they end when told to, and their sums are right
	name=$1
	shift
	for pid; do
		kill "$pid"
		wait "$pid" || name="$name not"
	done
	fact "$name" right
}
preempt_often() {
	offlines=
	for i in 1 2; do
		gpload --gpu "${gpu:-0}" --class offline --queues $((2 * i)) --kernel 10ms --seconds 9000 >/tmp/off$i 2>&1 &
		offlines="$offlines $!"
	done
	onlines=
	for i in 1 2 3; do
		gpload --gpu "${gpu:-0}" --class online --kernel 500us --waves 64 --poisson 25 --seed $i --seconds 9000 \
			>/tmp/on$i 2>&1 &
		onlines="$onlines $!"
	done
	until_true 60 stopped_since 0 2
	quiet
	calls=$(calls)
	unmaps=$(device UNMAP_QUEUES)
	stopped=$(count stopped)
	# shellcheck disable=SC2086
	kill -CONT $onlines
	until_true $((60 + $1)) stopped_since "$stopped" "$1" && fact often yes
	quiet
	fact often_calls $(($(calls) - calls))
	fact often_unmaps $(($(device UNMAP_QUEUES) - unmaps))
	fact often_stopped $(($(count stopped) - stopped))
	fact often_suspends "$(count suspends) $(count resumes)"
	fact often_moves "$(count stopped) $(count started)"
	fact often_lost "$(count stops_lost) $(count starts_lost)"
	fact often_saved "$(device waves_saved)"
	fact often_restored "$(device waves_restored)"
	fact often_traced "$(for pid in $offlines $onlines; do sed -n 's/TracerPid:\t//p' "/proc/$pid/status"; done | tr '\n' ' ')"
	# shellcheck disable=SC2086
	{ kill -CONT $onlines; right often_online $onlines; right often_offline $offlines; }
}
# kill_daemons N: a process of the daemon is killed at any instant, N times: in turn the supervisor, the decider and a
# holder; of five, one while a process is in hsa_init and one while a process is in hsa_shut_down. Says how often, how
# often it hit one there, and what they saved.
is_at() { [ "$(cat /proc/"$passer"/comm)" = "gpload-$1" ]; }
none_runs() { ! pidof gpreemptd >/dev/null; }
# The process to be killed in round $1. A holder is there only while processes are attached.
victim() {
	case $(($1 % 3)) in
	1) daemon_of $supervisor ;;
	2) holders_of $supervisor | head -n 1 ;;
	esac
}
kill_daemons() {
	i=0
	killed=0
	aimed=0
	kinds=
	saved=$(device waves_saved)
	while [ $i -lt "$1" ]; do
		./gpreemptd 2>/tmp/daemon &
		supervisor=$!
		aim=
		[ $((i % 5)) -ne 2 ] || aim=init
		[ $((i % 5)) -ne 4 ] || aim='exit'
		# In turn: somewhere in its start, and somewhere in its work.
		[ $((i % 2))"$aim" = 0 ] || until_true 30 attached
		if [ -n "$aim" ]; then
			gpload --class offline --kernel 10ms --requests 60 --linger 1s >/tmp/passer 2>&1 &
			passer=$!
			until_true 60 is_at $aim
		fi
		usleep $(($(od -An -N2 -tu2 /dev/urandom) % 100 * 10000))
		[ -z "$aim" ] || ! is_at $aim || aimed=$((aimed + 1))
		victim=$(victim $i)
		kill -KILL "${victim:-$supervisor}" && killed=$((killed + 1))
		if [ -n "$victim" ]; then
			kinds="$kinds$((i % 3))"
			until_true 30 answers || fact not_back $i
			kill $supervisor
		else
			kinds="${kinds}0"
		fi
		wait $supervisor
		until_true 10 none_runs || fact still_runs $i
		[ -z "$aim" ] || wait "$passer" || fact passer "$aim $?"
		i=$((i + 1))
	done
	fact killed_daemons $killed
	fact killed_kinds $kinds
	fact aimed_kills $aimed
	fact saved_by_killed $(($(device waves_saved) - saved))
}
# Who may do what, one letter for each user: a stranger, the owner of a process, root. Sets @offline, @online.
may() { # METHOD PARAMETERS NAME
	row=
	for uid in 1001 1000 0; do
		./gpcall --uid $uid "$1" "$2" >/dev/null 2>&1
		case $? in
		0) row=${row}Y ;;
		4) row=${row}n ;;
		*) row="$row?" ;;
		esac
	done
	fact "may_$3" "$row"
}
# How many processes the method $1 tells all of, to a stranger, the owner of one of them, and root.
shown() { # METHOD FIELD
	row=
	for uid in 1001 1000 0; do
		row="$row $(./gpcall --uid $uid "$1" | grep -o "\"$2\":" | wc -l)"
	done
	echo "${row# }"
}
call_as_users() {
	printf 'root:x:0:0::/:/bin/sh\nalice:x:1000:1000::/:/bin/sh\n' >/etc/passwd
	chmod 666 /dev/kfd /dev/dri/renderD*
	su alice -c 'exec gpload --class offline --queues 2 --kernel 20ms --seconds 600' >/tmp/offline 2>&1 &
	offline=$!
	online --seconds 600
	until_true 20 state_is on $offline
	until_true 20 attached
	may Status '{}' status
	may List '{}' list
	may Stats '{}' stats
	may GetPolicy '{}' getpolicy
	may SetClass "{\"pid\":$offline,\"class\":\"idle\"}" lower
	may SetClass "{\"pid\":$offline,\"class\":\"offline\"}" back
	may SetClass "{\"pid\":$offline,\"class\":\"online\"}" raise
	call SetClass "{\"pid\":$offline,\"class\":\"offline\"}" >/dev/null
	may SetClass "{\"pid\":$online,\"class\":\"idle\"}" others
	call SetClass "{\"pid\":$online,\"class\":\"online\"}" >/dev/null
	until_true 20 can_be_held $offline
	may Hold "{\"pid\":$offline,\"lease_ns\":1000000}" hold
	may Release "{\"pid\":$offline}" release
	may Hint "{\"pid\":$offline,\"in_ns\":0,\"for_ns\":1000}" hint
	may SetPolicy '{"parameters":{"min_share":"0"}}' setpolicy
	may Reload '{}' reload
	may Enable '{}' enable
	fact listed "$(shown List class)"
	fact listed_fully "$(shown List uid)"
	fact counted "$(shown Stats parts)"
}
