// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Reading the pointers of another process, a child that shares only some pages with the test. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/shared/gp_test.h"
#include "lib/pointers.h"
#include "uapi/aql.h"

enum { QUEUES = 700, RING = 4096 };	/* more pieces than one call accepts */

/* Memory shared with the child, which only sleeps. */
struct shared {
	struct {
		u64 write;		/* ROCr: at 56 and 128 of one page */
		u64 pad[8];
		u64 read;
		u64 pad2[6];
	} near[QUEUES];
	u64 far_read[1024], far_write[1024];
	u64 pm4_read, pm4_write;
	u64 sdma_read, sdma_write;
	union gp_aql_packet ring[RING / GP_AQL_PACKET_BYTES];
};

struct world {
	struct shared *m;
	pid_t child;
	struct gp_pointers_set *set;
	const struct gp_ring_pointers *r;
};

static int up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->m = mmap(NULL, sizeof(*w->m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(w->m != MAP_FAILED);
	w->child = fork();
	if (!w->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	*state = w;
	return 0;
}

static int down(void **state)
{
	struct world *w = *state;

	gp_pointers_free(w->set);
	kill(w->child, SIGKILL);
	waitpid(w->child, NULL, 0);
	munmap(w->m, sizeof(*w->m));
	free(w);
	return 0;
}

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

static struct gp_ring_pointers ring(u32 kind, const void *read, const void *write)
{
	return (struct gp_ring_pointers){
		.read_at = address(read), .write_at = address(write), .ring_bytes = RING,
		.ring_base = 0x1000, .kind = kind,
	};
}

static void watch(struct world *w, const struct gp_ring_pointers *rings, u32 count)
{
	u32 nr;

	EXPECT_EQ(gp_pointers_alloc(NULL, w->child, rings, count, &w->set), 0);
	w->r = gp_pointers_rings(w->set, &nr);
	EXPECT_EQ(nr, count);
}

static void look(struct world *w)
{
	EXPECT_EQ(gp_pointers_look(w->set), 0);
}

static void many_queues_are_read_at_once(void **state)
{
	struct gp_ring_pointers rings[QUEUES];
	struct world *w = *state;

	for (u32 i = 0; i < QUEUES; i++)
		rings[i] = i % 2 ? ring(GP_RING_AQL, &w->m->near[i].read, &w->m->near[i].write) :
				   ring(GP_RING_AQL, &w->m->far_read[i], &w->m->far_write[i]);
	watch(w, rings, QUEUES);
	for (u32 i = 0; i < QUEUES; i++) {
		w->m->near[i].write = w->m->far_write[i] = 1000 + i;
		w->m->near[i].read = w->m->far_read[i] = i;
	}
	look(w);
	for (u32 i = 0; i < QUEUES; i++) {
		EXPECT_EQ(w->r[i].rptr, i);
		EXPECT_EQ(w->r[i].wptr, 1000 + i);
		EXPECT_EQ(w->r[i].flags, GP_RING_READ);
	}
	w->m->far_write[2]++;
	w->m->near[699].read++;
	look(w);
	for (u32 i = 0; i < QUEUES; i++)
		EXPECT_EQ(w->r[i].flags, GP_RING_READ | (i == 2 || i == 699 ? GP_RING_MOVED : 0));
}

static void an_aql_read_pointer_is_never_ahead(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write);

	watch(w, &one, 1);
	w->m->near[0].write = 5;
	w->m->near[0].read = 6;		/* it moved between the two reads */
	look(w);
	EXPECT(w->r[0].rptr == 5 && w->r[0].wptr == 5);
}

static void pm4_pointers_count_on_where_the_ring_wraps(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_PM4, &w->m->pm4_read, &w->m->pm4_write);
	u64 rptr, wptr;

	watch(w, &one, 1);
	w->m->pm4_write = 1020;		/* the ring has 1024 dwords */
	w->m->pm4_read = 0xdeadbeef000003f0;	/* 1008 in 32 bits */
	look(w);
	EXPECT_EQ(w->r[0].wptr - w->r[0].rptr, 12);
	rptr = w->r[0].rptr;
	wptr = w->r[0].wptr;
	w->m->pm4_write = 1030;		/* counts past the ring; the read pointer wraps */
	w->m->pm4_read = 6;
	look(w);
	EXPECT(w->r[0].wptr == wptr + 10 && w->r[0].rptr == rptr + 22);
	EXPECT(w->r[0].flags & GP_RING_MOVED);
	w->m->pm4_write = 4;		/* wraps, which means 1028 + 1024 */
	look(w);
	EXPECT_EQ(w->r[0].wptr, wptr + 10 + 1022);
	EXPECT_EQ(w->r[0].wptr - w->r[0].rptr, 1022);
	w->m->pm4_read = 4;
	look(w);
	EXPECT_EQ(w->r[0].wptr, w->r[0].rptr);
}

static void sdma_pointers_count_bytes(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers two[] = {
		ring(GP_RING_SDMA, &w->m->sdma_read, &w->m->sdma_write),
		ring(GP_RING_SDMA, &w->m->sdma_read, NULL),
	};

	watch(w, two, 2);
	w->m->sdma_write = 5 * RING + 64;
	w->m->sdma_read = 5 * RING;
	look(w);
	EXPECT_EQ(w->r[0].wptr - w->r[0].rptr, 64);
	EXPECT_EQ(w->r[1].wptr, w->r[1].rptr);
	w->m->sdma_read = 5 * RING + 64;
	look(w);
	EXPECT_EQ(w->r[0].wptr, w->r[0].rptr);
	EXPECT(w->r[1].flags & GP_RING_MOVED);
	EXPECT_EQ(w->r[1].wptr, w->r[1].rptr);
}

static void a_page_that_is_not_there_is_told_and_the_others_are_read(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers three[] = {
		ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write),
		ring(GP_RING_AQL, (void *)0x1000, (void *)0x1008),
		ring(GP_RING_AQL, &w->m->near[2].read, &w->m->near[2].write),
	};

	watch(w, three, 3);
	w->m->near[2].write = 7;
	for (u32 i = 0; i < 2; i++) {
		look(w);
		EXPECT(w->r[0].flags & GP_RING_READ);
		EXPECT(!(w->r[1].flags & GP_RING_READ) && w->r[1].by_file);
		EXPECT(w->r[2].flags & GP_RING_READ && w->r[2].wptr == 7);
		EXPECT(!w->r[0].by_file && !w->r[2].by_file);
	}
}

static void by_file_reads_the_same(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write);

	watch(w, &one, 1);
	((struct gp_ring_pointers *)w->r)->by_file = true;
	w->m->near[0].write = 9;
	w->m->near[0].read = 8;
	look(w);
	EXPECT(w->r[0].flags & GP_RING_READ && w->r[0].rptr == 8 && w->r[0].wptr == 9);
}

static void barriers_at_the_read_pointer_are_seen(void **state)
{
	static const struct {
		u32 head;
		bool barrier;
	} table[] = {
		{ GP_AQL_BARRIER_AND | GP_AQL_SYSTEM, true }, { GP_AQL_BARRIER_OR, true },
		{ GP_AQL_KERNEL | GP_AQL_BARRIER, false }, { GP_AQL_INVALID, false },
		{ GP_AQL_VENDOR | 2 << 16, true }, { GP_AQL_VENDOR | 1 << 16, false },
	};
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write);

	one.ring_base = address(w->m->ring);
	watch(w, &one, 1);
	for (u32 i = 0; i < sizeof(table) / sizeof(*table); i++) {
		memset(w->m->ring, 0, sizeof(w->m->ring));
		w->m->ring[3].word[0] = table[i].head;
		w->m->near[0].read = 64 + 3;
		w->m->near[0].write = 64 + 4;
		look(w);
		EXPECT(!(w->r[0].flags & GP_RING_AT_BARRIER));
		EXPECT_EQ(gp_pointers_barriers(w->set), 0);
		EXPECT_EQ(!!(w->r[0].flags & GP_RING_AT_BARRIER), table[i].barrier);
	}
	/* the queue is drained, so its packets are ignored */
	w->m->ring[4].word[0] = GP_AQL_BARRIER_AND;
	w->m->near[0].read = 68;
	look(w);
	EXPECT_EQ(gp_pointers_barriers(w->set), 0);
	EXPECT(!(w->r[0].flags & GP_RING_AT_BARRIER));
}

static void a_ring_that_cannot_be_read_leaves_its_pointers_known(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write);

	watch(w, &one, 1);		/* its ring is at 0x1000, which is not mapped */
	w->m->near[0].write = 1;
	for (u32 i = 0; i < 2; i++) {
		look(w);
		EXPECT_EQ(gp_pointers_barriers(w->set), 0);
		EXPECT(w->r[0].flags & GP_RING_READ && !(w->r[0].flags & GP_RING_AT_BARRIER));
		EXPECT(!w->r[0].by_file);
	}
}

static void a_queue_with_nothing_pending_needs_no_read_pointer(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers one = ring(GP_RING_AQL, &w->m->far_read[0], &w->m->far_write[0]);

	watch(w, &one, 1);
	look(w);
	look(w);
	EXPECT(w->r[0].half);
	/* work arrives and is partly done; one look shows both pointers correctly */
	w->m->far_write[0] = 5;
	w->m->far_read[0] = 4;
	look(w);
	EXPECT(!w->r[0].half && w->r[0].rptr == 4 && w->r[0].wptr == 5);
	EXPECT_EQ(w->r[0].flags, GP_RING_READ | GP_RING_MOVED);
	w->m->far_read[0] = 5;
	look(w);
	EXPECT(w->r[0].rptr == 5 && w->r[0].flags & GP_RING_MOVED);
	look(w);
	EXPECT(w->r[0].half && w->r[0].flags == GP_RING_READ);
}

static void queues_that_stay_continue_in_a_new_set(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers two[] = {
		ring(GP_RING_PM4, &w->m->pm4_read, &w->m->pm4_write),
		ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write),
	};
	struct gp_pointers_set *old;
	u64 wptr;

	w->m->pm4_write = w->m->pm4_read = 1020;
	watch(w, two, 1);
	look(w);
	w->m->pm4_write = w->m->pm4_read = 4;	/* one full round of the ring of 1024 dwords */
	look(w);
	wptr = w->r[0].wptr;
	old = w->set;
	watch(w, two, 2);
	gp_pointers_carry(w->set, old);
	gp_pointers_free(old);
	look(w);
	EXPECT_EQ(w->r[0].wptr, wptr);
	EXPECT_EQ(w->r[0].flags, GP_RING_READ);
}

static void a_process_that_is_gone_is_told(void **state)
{
	struct world *w = *state;
	struct gp_ring_pointers two[] = {
		ring(GP_RING_AQL, &w->m->near[0].read, &w->m->near[0].write),
		ring(GP_RING_AQL, (void *)0x1000, (void *)0x1008),
	};

	watch(w, two, 2);
	look(w);
	kill(w->child, SIGKILL);
	waitpid(w->child, NULL, 0);
	EXPECT_EQ(gp_pointers_look(w->set), -ESRCH);
	EXPECT_EQ(w->r[0].flags, 0);
}

static void nonsense_is_refused(void **state)
{
	struct gp_ring_pointers good = ring(GP_RING_AQL, (void *)0x1000, (void *)0x1008), bad;
	struct gp_pointers_set *s = NULL;

	(void)state;
	bad = good, bad.ring_bytes = 1000;
	EXPECT_EQ(gp_pointers_alloc(NULL, 1, &bad, 1, &s), -EINVAL);
	bad = good, bad.read_at = 0;
	EXPECT_EQ(gp_pointers_alloc(NULL, 1, &bad, 1, &s), -EINVAL);
	bad = good, bad.write_at = 0;
	EXPECT_EQ(gp_pointers_alloc(NULL, 1, &bad, 1, &s), -EINVAL);
	bad = good, bad.write_at = 4;
	EXPECT_EQ(gp_pointers_alloc(NULL, 1, &bad, 1, &s), -EINVAL);
	bad = good, bad.kind = 3;
	EXPECT_EQ(gp_pointers_alloc(NULL, 1, &bad, 1, &s), -EINVAL);
	EXPECT_EQ(gp_pointers_alloc(NULL, 0, &good, 1, &s), -EINVAL);
	EXPECT(!s);
}

PROVE(
	CLAIM_WITH(many_queues_are_read_at_once, up, down),
	CLAIM_WITH(an_aql_read_pointer_is_never_ahead, up, down),
	CLAIM_WITH(pm4_pointers_count_on_where_the_ring_wraps, up, down),
	CLAIM_WITH(sdma_pointers_count_bytes, up, down),
	CLAIM_WITH(a_page_that_is_not_there_is_told_and_the_others_are_read, up, down),
	CLAIM_WITH(by_file_reads_the_same, up, down),
	CLAIM_WITH(barriers_at_the_read_pointer_are_seen, up, down),
	CLAIM_WITH(a_ring_that_cannot_be_read_leaves_its_pointers_known, up, down),
	CLAIM_WITH(a_queue_with_nothing_pending_needs_no_read_pointer, up, down),
	CLAIM_WITH(queues_that_stay_continue_in_a_new_set, up, down),
	CLAIM_WITH(a_process_that_is_gone_is_told, up, down),
	CLAIM(nonsense_is_refused),
)
