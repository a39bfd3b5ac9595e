#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# What tests/lab/no-saves.sh runs in the guest, whose driver has cwsr_enable=0.

# shellcheck source=tests/lab/daemon/common.sh
. ./common.sh
modprobe gpreempt 2>/dev/null
fact module $?
dmesg | grep 'gpreempt: ' | tail -n 1
start
offline --requests 5000
online --requests 5000
tried() { ./gpreempt list $offline --json | grep -q cwsr_enable; }
until_true 20 tried
fact list $?
fact attaches "$(count attaches)" stopped "$(count stopped)"
./gpreempt bench $offline 2>&1
fact bench $?
kill -9 $online $offline
wait $online $offline
stop
