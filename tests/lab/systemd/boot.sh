# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=sh
# In the guest: the package was installed before this boot, and the driver is there.
# shellcheck source=tests/lab/systemd/common.sh
. ./common.sh

fact boot_enabled "$(systemctl is-enabled gpreemptd)"
until_true 60 runs
fact boot_state "$(state)"
fact boot_status "$(tr -d '\n' </tmp/status)"
fact boot_failed "$(systemctl list-units --failed --plain --no-legend gpreemptd\* | wc -l)"

# What the unit gives its processes.
main=$(property MainPID)
fact unit_files "$(awk '/^Max open files/ { print $4 }' "/proc/$main/limits")"
fact unit_tasks "$(property TasksMax)"
fact unit_oom "$(cat "/proc/$main/oom_score_adj")"
# CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE
fact unit_capabilities "$(sed -n 's/^CapBnd:\t//p' "/proc/$main/status")"

# A process of another user is seen through the unit's restrictions.
chmod 666 /dev/kfd /dev/dri/renderD*
runuser -u nobody -- gpload --queues 1 --kernel 5ms --seconds 3000 >/tmp/load 2>&1 &
listed() { gpreempt list --json | grep -q gpload; }
until_true 60 listed
fact other_user $?
gpreempt list >&2

# With a policy it preempts, by the debug interface and by the module, which is loaded later.
cat >/etc/gpreempt/conf.d/test.conf <<'END'
[daemon]
policy = priority
attach_after = 200ms
[rule online]
cmdline = *--class online*
class = online
[rule offline]
cmdline = *--class offline*
class = offline
END
systemctl reload gpreemptd
fact reload $?
mechanism() { sed -n 's/^  "mechanism": "\(.*\)",$/\1/p' /tmp/status; }
has_stopped() { [ "$(gpreempt stats --json | sed -n 's/^    "stopped": \([0-9]*\),$/\1/p' | head -n 1)" -ge 5 ]; }
runuser -u nobody -- gpload --class offline --queues 2 --kernel 20ms --seconds 3000 >/tmp/offline 2>&1 &
gpload --class online --kernel 1ms --waves 64 --poisson 20 --seconds 3000 >/tmp/online 2>&1 &
until_true 60 has_stopped
fact debug_preempts $?
answers
fact debug_mechanism "$(mechanism)"
chroot /mnt/lab modprobe gpreempt
fact module $?
has_module() { answers && [ "$(mechanism)" != kfd-debug ]; }
until_true 60 has_module
fact module_mechanism "$(mechanism)"
until_true 60 has_stopped
fact module_preempts $?
main=$(property MainPID)

# State is kept across a restart.
gpreempt off >/dev/null
fact off $?
systemctl restart gpreemptd
fact restart $?
until_true 60 runs
fact restart_state "$(state)"
fact restart_status "$(tr -d '\n' </tmp/status)"
[ "$(property MainPID)" != "$main" ] && fact restart_new yes
gpreempt on >/dev/null
fact on $?

# All processes of the unit are killed.
main=$(property MainPID)
systemctl kill -s KILL gpreemptd
back() { [ "$(property MainPID)" != "$main" ] && runs; }
until_true 60 back
fact killed_back $?
fact killed_restarts "$(property NRestarts)"
fact killed_state "$(state)"
until_true 60 listed
fact killed_list $?

systemctl stop gpreemptd
fact stopped "$(state)"
fact stopped_result "$(property Result)"
journalctl -b -u gpreemptd -o cat --no-pager >&2
