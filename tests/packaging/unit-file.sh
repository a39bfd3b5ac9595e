#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# The systemd units: understood, tight, and not so tight that the daemon cannot work.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

# The programs need not be installed here, nor the manual pages.
for path in "$top"/packaging/*.service; do
	sed -e 's,@sbindir@/gpreemptd,/bin/true,' -e '/^Documentation=/d' "$path" >"$tmp/${path##*/}"
done
unit=$tmp/gpreemptd.service
rules=$top/packaging/debian/gpreempt.udev

claim "systemd understands every line of each unit"
for path in "$tmp"/*.service; do
	try systemd-analyze verify "$path"
	exits 0 && check test ! -s "$tmp/err"
done

claim "the exposure of each unit is at most 1.9"
for path in "$tmp"/*.service; do
	try systemd-analyze security --offline=true --threshold=19 --no-pager "$path"
	says "Overall exposure level"
	exits 0 || grep -a '✗' "$tmp/out" | sed 's/^/# /'
done

claim "it starts at boot and when the driver's device appears, and only while it is enabled"
check grep -q '^WantedBy=multi-user.target dev-kfd.device$' "$unit"
check grep -q '^After=.*dev-kfd.device' "$unit"
check grep -q '^ConditionPathExists=/dev/kfd$' "$unit"
check grep -q 'KERNEL=="kfd", TAG+="systemd"' "$rules"
check test -z "$(grep -v '^#' "$rules" | grep SYSTEMD_WANTS)"

claim "it has descriptors and threads for thousands of processes, and is killed last when memory is short"
check grep -q '^LimitNOFILE=65536$' "$unit"
check grep -q '^TasksMax=32768$' "$unit"
check grep -q '^OOMScoreAdjust=-900$' "$unit"

claim "systemd kills a daemon that hangs, and starts it again"
for line in Type=notify NotifyAccess=all WatchdogSec=10 WatchdogSignal=SIGKILL Restart=on-failure; do
	check grep -qx "$line" "$unit"
done

claim "holders have time to resume what they hold when the unit ends, and a hostile process delays the end by seconds only"
check grep -qx KillMode=control-group "$unit"
check grep -qx TimeoutStopSec=5 "$unit"

claim "it may trace, read pointers and texts, and open the driver, and has no other right"
check grep -qx 'CapabilityBoundingSet=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH' "$unit"
for device in /dev/kfd char-drm /dev/gpreempt; do
	check grep -qx "DeviceAllow=$device rw" "$unit"
done
check grep -q '^SystemCallFilter=@system-service .*ptrace' "$unit"

claim "it does not take away what is needed: users, devices, process tree, debugfs"
for key in User Group PrivateUsers PrivateDevices InaccessiblePaths RootDirectory; do
	check test -z "$(grep "^$key=" "$unit")"
done

# allowed CALL: whether the last line of the filter that names the call, or a set with it, allows it.
members() {
	systemd-analyze syscall-filter "$1" | sed -n 's/^ *\([a-z@][a-z0-9_-]*\)$/\1/p' | while read -r name; do
		[ "$name" = "$1" ] || case $name in @*) members "$name" ;; *) echo "$name" ;; esac
	done
}
sed -n 's/^SystemCallFilter=//p' "$unit" | while read -r line; do
	sign=+
	case $line in '~'*) sign=- ;; esac
	for name in ${line#"~"}; do
		case $name in @*) members "$name" ;; *) echo "$name" ;; esac | sed "s/^/$sign/"
	done
done >"$tmp/calls"
allowed() { [ "$(grep -x "[+-]$1" "$tmp/calls" | tail -n 1)" = "+$1" ]; }

claim "the filter has every system call of the debug mechanism, and the one that drops capabilities"
for call in process_vm_readv ptrace pidfd_open pidfd_getfd epoll_wait epoll_pwait2 eventfd2 signalfd4 inotify_init1 statx \
	close_range ioctl socketpair clone memfd_create prctl capget capset kill wait4; do
	check allowed "$call"
done

claim "the filter has no call that writes another process, changes users, loads modules, locks memory, uses keys or io_uring"
for call in process_vm_writev setresuid setuid chroot mount init_module bpf perf_event_open mlockall io_uring_setup add_key keyctl; do
	check test -z "$(allowed "$call" && echo "$call")"
done

claim "the sysusers file makes the group of the configuration"
check grep -q "^g	$(sed -n 's/^#group = //p' "$top/packaging/gpreempt.conf")	" \
	"$top/packaging/debian/gpreempt.sysusers"

end
