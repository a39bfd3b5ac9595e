/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * /sys/kernel/debug/vgpu/N/ledger: who used the guest's time, and what the device did,
 * all of one moment. On a guest with one CPU the difference of two readings says what
 * everything but the model's thread and idling executed between them:
 *
 *	cost = guest - thread - idle
 *
 * Reading it must cost little, so it is binary: one struct. The file "rings" beside it has the same
 * difference, since the guest started, at each of the last doorbells of the HIQ, as text:
 * device_ns, cost.
 */
#ifndef LAB_LEDGER_H
#define LAB_LEDGER_H

#include "gp_env.h"

struct lab_ledger {
	u64 guest_ns;
	u64 thread_ns;		/* the model ran: its thread, and traps for doorbells */
	u64 idle_ns;		/* nothing ran, to the microsecond */
	u64 device_ns;		/* the device's clock */
	u64 modelled_ns;	/* that it jumped */
	u64 unmap_packets, query_packets, runlist_packets, write_packets;
	u64 queues_mapped, queues_unmapped;
	u64 waves_saved, bytes_saved, bytes_restored;
};

static_assert(sizeof(struct lab_ledger) == 14 * 8, "one size in the guest's kernel and outside");

#endif /* LAB_LEDGER_H */
