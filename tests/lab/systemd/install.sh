# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
# In the guest: the packages come after the boot, and the driver after the packages.
# shellcheck source=tests/lab/systemd/common.sh
. ./common.sh

# The lab's modules are in its initramfs.
driver() { chroot /mnt/lab "$@"; }
has_device() { systemctl is-active dev-kfd.device; }
no_device() { ! has_device; }
install() { dpkg -i ./gpreempt_*.deb >&2; }

install
fact install $?
fact install_enabled "$(systemctl is-enabled gpreemptd)"
fact install_state "$(state)"
fact install_condition "$(property ConditionResult)"
fact install_group "$(getent group gpreempt | cut -d : -f 1)"

driver modprobe amdgpu
fact driver $?
until_true 60 runs
fact driver_state "$(state)"
fact driver_status "$(tr -d '\n' </tmp/status)"

# A disabled unit stays off when the driver comes.
systemctl disable --now gpreemptd 2>/dev/null
fact disable_state "$(state)"
driver modprobe -r amdgpu
fact unload $?
until_true 60 no_device
driver modprobe amdgpu
until_true 60 has_device
fact again $?
udevadm settle
sleep 5
fact again_state "$(state)"
systemctl enable --now gpreemptd 2>/dev/null
until_true 60 runs
fact enable_state "$(state)"

# The same package once more, as in an upgrade.
main=$(property MainPID)
install
until_true 60 runs
fact upgrade_state "$(state)"
[ "$(property MainPID)" != "$main" ] && fact upgrade_new yes

dpkg -r gpreempt >&2
fact remove $?
fact remove_processes "$(pgrep -c gpreemptd)"
fact remove_unit "$(systemctl show -P LoadState gpreemptd)"
install
until_true 60 runs
fact return_state "$(state)"
fact return_enabled "$(systemctl is-enabled gpreemptd)"
gpreempt off >/dev/null
[ -e /var/lib/gpreempt/off ] && fact purge_before yes
dpkg -P gpreempt >&2
fact purge $?
fact purge_left "$(find /etc /var/lib /run/gpreempt -name gpreempt -o -name gpreemptd.service 2>/dev/null | tr '\n' ' ')"
fact purge_processes "$(pgrep -c gpreemptd)"
