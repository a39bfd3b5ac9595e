// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Work for the GPU that verifies that it was done exactly once. */
#include "work.h"

#include "vgpu/pm4.h"

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

int gp_work_init(struct gp_work *w, struct gp_lab_client *c, const struct gp_work_args *args)
{
	u64 bytes = sizeof(struct vgpu_kernel) * 2 + args->slots * sizeof(struct gp_work_slot);
	int err;

	*w = (struct gp_work){ .c = c, .slots = args->slots, .key = args->seed };
	err = gp_buffer_alloc(c, &w->memory, args->memory, bytes);
	if (err)
		return err;
	w->kernel = w->memory.at;
	/* Leave room for two descriptors, so that each slot keeps its own 128 bytes. */
	w->slot = (struct gp_work_slot *)(w->kernel + 2);
	*w->kernel = (struct vgpu_kernel){
		.magic = VGPU_KERNEL_MAGIC,
		.workgroup_ns = args->workgroup_ns,
		.gap_ns = args->gap_ns,
	};
	return 0;
}

void gp_work_fini(struct gp_work *w)
{
	gp_buffer_free(w->c, &w->memory);
}

/* splitmix64. No two packets share a key, so a sum of another packet is never right. */
static u64 next_key(u64 *state)
{
	u64 z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (z ^ (z >> 31)) | 1;
}

static int put_aql(struct gp_lab_queue *q, const struct gp_launch *l)
{
	union gp_aql_packet packet = gp_aql_kernel_packet(l);

	return gp_aql_put(q, &packet);
}

#define LO(a)	((u32)(a))
#define HI(a)	((u32)((a) >> 32))

/* Puts the dispatch, and a RELEASE_MEM that clears the value of the signal. */
static int put_pm4(struct gp_lab_queue *q, const struct gp_launch *l)
{
	enum { DISPATCH_DIRECT = 0x15, RELEASE_MEM = 0x49, SET_SH_REG = 0x76, WAVE_SIZE = 64 };
	enum { NUM_THREAD_X = 0x207, PGM_LO = 0x20c, USER_DATA_0 = 0x240 };
	u64 value = address(&l->done->value);
	const u32 dw[] = {
		VGPU_PM4_HEADER(SET_SH_REG, 5), NUM_THREAD_X, l->waves * WAVE_SIZE, 1, 1,
		VGPU_PM4_HEADER(SET_SH_REG, 4), PGM_LO, LO(l->kernel >> 8), HI(l->kernel >> 8),
		VGPU_PM4_HEADER(SET_SH_REG, 4), USER_DATA_0, LO(l->kernarg), HI(l->kernarg),
		VGPU_PM4_HEADER(DISPATCH_DIRECT, 5), l->workgroups, 1, 1, 1,
		/* 64 bits of data, no interrupt */
		VGPU_PM4_HEADER(RELEASE_MEM, 8), 0x514, 2u << 29, LO(value), HI(value), 0, 0, 0,
	};

	return gp_queue_put(q, dw, sizeof(dw) / sizeof(dw[0]));
}

int gp_work_submit(struct gp_work *w, u32 i, struct gp_lab_queue *q, u32 workgroups, u32 waves,
		   const struct gp_lab_event *e)
{
	struct gp_work_slot *s = &w->slot[i];
	struct gp_launch l = {
		.kernel = address(w->kernel),
		.kernarg = address(&s->arg),
		.workgroups = workgroups,
		.waves = waves,
		.done = &s->done,
	};
	int err;

	s->arg = (struct vgpu_kernarg){ .result = address(&s->count), .key = next_key(&w->key) };
	s->count = 0;
	s->sum = 0;
	s->expect_count = workgroups;
	s->expect_sum = s->arg.key * ((u64)workgroups * (workgroups + 1ull) / 2);
	gp_signal_init(&s->done, 1, e);
	err = q->type == KFD_IOC_QUEUE_TYPE_COMPUTE ? put_pm4(q, &l) : put_aql(q, &l);
	if (!err)
		gp_queue_ring(q);
	return err;
}

bool gp_work_done(const struct gp_work *w, u32 i)
{
	return gp_signal_value(&w->slot[i].done) < 1;
}

void gp_work_spoil(struct gp_work *w, u32 i)
{
	struct gp_work_slot *s = &w->slot[i];

	s->count++;
	s->sum += s->arg.key;
}

int gp_work_check(const struct gp_work *w, u32 i)
{
	const struct gp_work_slot *s = &w->slot[i];
	u64 count = __atomic_load_n(&s->count, __ATOMIC_ACQUIRE);
	u64 sum = __atomic_load_n(&s->sum, __ATOMIC_ACQUIRE);

	if (count == s->expect_count && sum == s->expect_sum)
		return 0;
	return gp_client_say(EBADMSG, "slot %u: %llu of %llu workgroups ran, sum 0x%llx instead of "
			     "0x%llx: %s", i, (unsigned long long)count,
			     (unsigned long long)s->expect_count, (unsigned long long)sum,
			     (unsigned long long)s->expect_sum,
			     count < s->expect_count ? "work was lost" :
			     count > s->expect_count ? "work was done twice" :
			     "some was lost and some done twice");
}

enum { TICK_NS = 10 };

u64 gp_work_start_ns(const struct gp_work *w, u32 i)
{
	return w->slot[i].done.start_ts * TICK_NS;
}

u64 gp_work_end_ns(const struct gp_work *w, u32 i)
{
	return w->slot[i].done.end_ts * TICK_NS;
}
