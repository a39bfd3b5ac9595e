/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /sys/kernel/debug/vgpu/N/ledger: the guest time of each of its users, and the device's
 * counters, all from one moment. On a guest with one CPU the difference of two readings gives
 * the instructions that everything except the model's thread and idling executed between them:
 *
 *	cost = guest - thread - idle
 *
 * Reading it must be cheap, so it is binary: one struct. The file "rings" beside it has, as
 * text, device_ns and cost since the guest started for each of the last doorbells of the HIQ.
 */
#ifndef LAB_LEDGER_H
#define LAB_LEDGER_H

#include "gp_env.h"

struct lab_ledger {
	u64 guest_ns;
	u64 thread_ns;		/* time of the model: its thread, and traps for doorbells */
	u64 idle_ns;		/* idle time, to the microsecond */
	u64 device_ns;		/* the device's clock */
	u64 modelled_ns;	/* time that the clock has jumped */
	u64 unmap_packets, query_packets, runlist_packets, write_packets;
	u64 queues_mapped, queues_unmapped;
	u64 waves_saved, bytes_saved, bytes_restored;
};

static_assert(sizeof(struct lab_ledger) == 14 * 8, "one size in the guest's kernel and outside");

#endif /* LAB_LEDGER_H */
