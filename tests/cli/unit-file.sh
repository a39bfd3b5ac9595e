#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
#
# The systemd unit: understood, tight, and not so tight that the daemon cannot work.
. "$(dirname "$0")/claims.sh"

unit=$tmp/gpreemptd.service
# The program need not be installed here, nor the manual pages.
sed -e 's,@sbindir@/gpreemptd,/bin/true,' -e '/^Documentation=/d' \
	"$top/packaging/gpreemptd.service" >"$unit"

claim "systemd understands every line of the unit"
try systemd-analyze verify "$unit"
exits 0 && check test ! -s "$tmp/err"

claim "its exposure is at most 2.5"
try systemd-analyze security --offline=true --threshold=25 --no-pager "$unit"
exits 0 && says "Overall exposure level"

claim "it is started by the driver's device, which a udev rule makes known"
check grep -q '^WantedBy=dev-kfd.device' "$unit"
check grep -q '^After=.*dev-kfd.device' "$unit"
check grep -q 'KERNEL=="kfd", TAG+="systemd"' "$top/packaging/60-gpreempt.rules"

claim "it may trace, read pointers and wake, and open the driver"
for cap in CAP_SYS_PTRACE CAP_KILL CAP_DAC_READ_SEARCH; do
	check grep -q "^CapabilityBoundingSet=.*$cap" "$unit"
done
check grep -q '^DeviceAllow=/dev/kfd rw' "$unit"
check grep -q '^SystemCallFilter=@system-service .*ptrace' "$unit"

claim "it does not take away what is needed: users, devices, process tree, debugfs"
for key in User PrivateUsers PrivateDevices ProtectProc InaccessiblePaths RootDirectory; do
	check test -z "$(grep "^$key=" "$unit")"
done

claim "every system call of the debug mechanism is in the filter"
systemd-analyze syscall-filter @system-service >"$tmp/sets"
grep -o '@[a-z-]*' "$tmp/sets" | while read -r set; do
	systemd-analyze syscall-filter "$set"
done >"$tmp/calls"
for call in process_vm_readv pidfd_open epoll_wait timerfd_create signalfd4 inotify_init1 ioctl; do
	check grep -qw "$call" "$tmp/calls" "$tmp/sets"
done

claim "the sysusers file makes the group of the configuration"
check grep -q "^g	$(sed -n 's/^#group = //p' "$top/packaging/gpreempt.conf")	" \
	"$top/packaging/gpreempt.sysusers"

end
