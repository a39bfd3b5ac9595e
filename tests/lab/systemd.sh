#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The package on Debian 12 with its own systemd as first process, beside the real driver. Two boots: one of a machine on
# which the package is installed, one of a machine on which it is installed then, before its driver is loaded.
# shellcheck source=tests/shared/claims.sh
. "$(dirname "$0")/../shared/claims.sh"

build=${GP_BUILD:-$top/build}
value() { sed -n "s/^$1 //p" "$tmp/facts"; }
# shows NAME TEXT: the fact has TEXT in it.
shows() { case $(value "$1") in *"$2"*) ;; *) no "$1 is '$(value "$1")' without '$2'" ;; esac }

# boot STORY OPTION...: what the guest printed is in $tmp/facts.
boot() {
	story=$1
	shift
	try "$top/lab/run" --root systemd --systemd --timeout 900 --copy "$tmp/deb/$package" --copy "$top/tests/lab/systemd/common.sh" \
		--copy "$top/tests/lab/systemd/$story.sh" "$@" -- sh "./$story.sh"
	cp "$tmp/out" "$tmp/facts"
	[ -z "${GP_VERBOSE:-}" ] || sed 's/^/# /' "$tmp/out" "$tmp/err"
	exits 0 || sed 's/^/# /' "$tmp/err"
}

"$top/packaging/deb" "$tmp/deb" >/dev/null && "$top/lab/roots/systemd" "$build/lab/roots/systemd.img" || exit 1
package=$(cd "$tmp/deb" && echo gpreempt_*.deb)
echo 'dpkg -i ./gpreempt_*.deb >&2' >"$tmp/before-boot"

claim "Debian's systemd boots as first process beside the driver, without a complaint of the kernel"
boot boot --copy "$tmp/before-boot"

claim "an installed gpreemptd is enabled, runs after a boot and observes"
is boot_enabled enabled && is boot_state active && is boot_failed 0 && shows boot_status '"policy": "none"' &&
	shows boot_status '"observe_only": true' && shows boot_status '"gpus": 1'

claim "its processes have the limits and rights of the unit"
is unit_files 65536 && is unit_tasks 32768 && is unit_oom -900 && is unit_capabilities 0000000000080004

claim "it sees the processes of other users on the GPU"
is other_user 0

claim "with a policy the unit's rights suffice to preempt, by the debug interface and by a module that is loaded later"
is reload 0 && is debug_preempts 0 && is debug_mechanism kfd-debug && is module 0 && is module_mechanism kmod && is module_preempts 0

claim "systemctl restart works, and the kill switch stays off across it"
is off 0 && is restart 0 && is restart_new yes && is restart_state active && shows restart_status '"enabled": false' && is on 0

claim "gpreemptd comes back after SIGKILL of all its processes"
is killed_back 0 && is killed_restarts 1 && is killed_state active && is killed_list 0

claim "systemctl stop ends it without a failure"
is stopped inactive && is stopped_result success

claim "another boot, without driver and package, runs to its end"
boot install --no-module

claim "an installation without a driver enables gpreemptd and waits for the driver"
is install 0 && is install_enabled enabled && is install_state inactive && is install_condition no && is install_group gpreempt

claim "gpreemptd starts when the driver is loaded later"
is driver 0 && is driver_state active && shows driver_status '"policy": "none"' && shows driver_status '"gpus": 1'

claim "a disabled gpreemptd does not start when the driver is loaded, and starts when it is enabled"
is disable_state inactive && is unload 0 && is again 0 && is again_state inactive && is enable_state active

claim "an upgrade restarts it"
is upgrade_state active && is upgrade_new yes

claim "removal stops it and leaves no unit; a new installation starts and enables it"
is remove 0 && is remove_processes 0 && is remove_unit not-found && is return_state active && is return_enabled enabled

claim "purge leaves neither processes nor state, configuration or links"
is purge_before yes && is purge 0 && is purge_left '' && is purge_processes 0
end
