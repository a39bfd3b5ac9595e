// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A recording of the real driver (tests/data/operations.rec.xz, made by tests/lab/truth.sh)
 * replayed outside the virtual machine, and what becomes of it when it is changed.
 */
#include <stdio.h>
#include <string.h>

#include "tests/shared/gp_test.h"
#include "lab/replay/replay.h"

struct file {
	u8 *data;
	u64 size;
};

static struct file load(void)
{
	struct file f = { .data = malloc(64 << 20) };
	char command[4096];
	FILE *in;

	EXPECT(f.data);
	snprintf(command, sizeof(command), "xz -dc '%s/tests/data/operations.rec.xz'",
		 getenv("GP_TOP") ? getenv("GP_TOP") : ".");
	in = popen(command, "r");
	EXPECT(in);
	f.size = fread(f.data, 1, 64 << 20, in);
	EXPECT_EQ(pclose(in), 0);
	EXPECT(f.size > sizeof(struct recording_head));
	return f;
}

static int up(void **state)
{
	struct file *f = malloc(sizeof(*f));

	*f = load();
	*state = f;
	return 0;
}

static int down(void **state)
{
	struct file *f = *state;

	free(f->data);
	free(f);
	return 0;
}

static int replay(const struct file *f, struct lab_replay *r)
{
	int err = lab_replay_init(r, f->data, f->size);

	if (!err)
		err = lab_replay_run(r);
	return err;
}

/* The @nr-th entry of @kind, from 0; NULL: there are not so many. Its number in @ret. */
static struct recording_entry *find(const struct file *f, u32 kind, u32 nr, u64 *ret)
{
	u64 at = sizeof(struct recording_head);

	for (u64 i = 0; at < f->size; i++) {
		struct recording_entry *e = (void *)(f->data + at);

		if (e->kind == kind && !nr--) {
			if (ret)
				*ret = i;
			return e;
		}
		at += sizeof(*e) + (e->bytes + 7ull) / 8 * 8;
	}
	return NULL;
}

/* It must end at entry @nr with a sentence that has @text in it. */
static void diverges(const struct file *f, u64 nr, const char *text)
{
	struct lab_replay r;
	char begin[64];

	EXPECT_EQ(replay(f, &r), -EPROTO);
	snprintf(begin, sizeof(begin), "entry %llu, ", (unsigned long long)nr);
	if (strncmp(r.why, begin, strlen(begin)) || !strstr(r.why, text))
		fail_msg("expected '%s... %s', got '%s'", begin, text, r.why);
	lab_replay_fini(&r);
}

static void what_the_driver_did_leads_another_chip_to_the_states_the_lab_saw(void **state)
{
	struct lab_replay r;
	int err = replay(*state, &r);

	if (err)
		fail_msg("%s; if the chip was meant to change, make a new recording with "
			 "GP_KEEP=FILE tests/lab/truth.sh", r.why);
	EXPECT(r.states >= 16);
	EXPECT(vgpu_chip_counters(r.chip)->packets[VGPU_RUN_LIST] > 40);
	EXPECT(vgpu_counters(vgpu_chip_device(r.chip))->waves_saved > 20000);
	lab_replay_fini(&r);
}

static void it_has_no_report_no_bad_packet_and_no_fault(void **state)
{
	struct lab_replay r;
	const struct vgpu_chip_counters *c;

	EXPECT_EQ(replay(*state, &r), 0);
	c = vgpu_chip_counters(r.chip);
	EXPECT_EQ(c->packets[VGPU_BAD_PACKET], 0);
	EXPECT_EQ(c->reports, 0);
	EXPECT_EQ(c->faults, 0);
	lab_replay_fini(&r);
}

static void another_byte_written_is_found_where_it_was_written(void **state)
{
	struct file *f = *state;
	u64 nr = 0;
	struct recording_entry *e = find(f, RECORDING_WRITE, 500, &nr);

	EXPECT(e);
	((u8 *)(e + 1))[e->bytes - 1] ^= 0x40;
	diverges(f, nr, "a write at");
}

static void another_address_or_size_is_found(void **state)
{
	struct file *f = *state;
	u64 nr = 0;
	struct recording_entry *e = find(f, RECORDING_READ, 300, &nr);

	EXPECT(e);
	e->address += 8;
	diverges(f, nr, "expected a read");
	e->address -= 8;
	e->space ^= 1;
	diverges(f, nr, "expected a read");
}

static void another_sum_and_another_interrupt_are_found(void **state)
{
	struct file *f = *state;
	u64 nr = 0;
	struct recording_entry *e = find(f, RECORDING_ADD, 3, &nr);

	EXPECT(e);
	((u8 *)(e + 1))[0] ^= 1;
	diverges(f, nr, "an add");
	((u8 *)(e + 1))[0] ^= 1;
	e = find(f, RECORDING_INTERRUPT, 0, &nr);
	EXPECT(e);
	((struct recording_interrupt *)(e + 1))->context ^= 1;
	diverges(f, nr, "an interrupt");
}

static void another_value_of_a_register_is_found(void **state)
{
	struct file *f = *state;
	u64 nr = 0;
	struct recording_entry *e = find(f, RECORDING_ANSWER, 40, &nr);

	EXPECT(e);
	((u8 *)(e + 1))[0] ^= 1;
	diverges(f, nr, "a register's value");
}

/* The driver's bytes matter: an unmap that became a NOP leaves another state. */
static void another_packet_on_the_hiq_is_found(void **state)
{
	struct file *f = *state;
	struct lab_replay r;
	struct recording_entry *e;
	u32 nr = 0, *dw = NULL;

	while ((e = find(f, RECORDING_READ, nr++, NULL)) != NULL) {
		dw = (u32 *)(e + 1);
		if (e->bytes == 4 && *dw == 0xc004a300)
			break;
	}
	EXPECT(e);
	*dw = 0xc0041000;
	EXPECT_EQ(replay(f, &r), -EPROTO);
	lab_replay_fini(&r);
}

static void another_state_is_found_and_named(void **state)
{
	struct file *f = *state;
	u64 nr = 0;
	struct recording_entry *e = find(f, RECORDING_STATE, 4, &nr);
	char *digit;

	EXPECT(e);
	digit = strstr((char *)(e + 1), "\nbytes_saved ");
	EXPECT(digit);
	digit[13] ^= 1;
	diverges(f, nr, "expected 'bytes_saved ");
}

static void a_file_cut_short_anywhere_is_malformed(void **state)
{
	struct file *f = *state;
	u64 whole = f->size, seed = gp_test_seed(7);
	struct lab_replay r;

	for (u32 i = 0; i < 40; i++) {
		f->size = i < 20 ? i * 5 : gp_test_random(&seed) % whole;
		EXPECT_EQ(lab_replay_init(&r, f->data, f->size), -EINVAL);
		EXPECT(strstr(r.why, "malformed"));
		lab_replay_fini(&r);
	}
}

static void a_head_that_cannot_be_is_malformed(void **state)
{
	struct file *f = *state;
	struct recording_head *head = (void *)f->data, good = *head;
	struct lab_replay r;

	for (u32 i = 0; i < 6; i++) {
		*head = good;
		switch (i) {
		case 0: head->magic++; break;
		case 1: memset(head->profile, 'x', sizeof(head->profile)); break;
		case 2: head->unknown_ns = 0; break;
		case 3: head->sdma_engines = 1000; break;
		case 4: head->rptr_at = 2; break;
		default: head->lost = 1; break;
		}
		EXPECT_EQ(lab_replay_init(&r, f->data, f->size), -EINVAL);
		EXPECT(r.why[0]);
		lab_replay_fini(&r);
	}
	*head = good;
}

static void an_entry_that_cannot_be_is_malformed(void **state)
{
	struct file *f = *state;
	struct recording_entry *e = find(f, RECORDING_ADVANCE, 100, NULL), good = *e;
	struct lab_replay r;

	for (u32 i = 0; i < 4; i++) {
		*e = good;
		switch (i) {
		case 0: e->kind = RECORDING_NR_KINDS; break;
		case 1: e->bytes = ~0u; break;
		case 2: e->at = 1; break;
		default: e->at += BIT_ULL(50); break;
		}
		EXPECT_EQ(replay(f, &r), -EINVAL);
		EXPECT(strstr(r.why, "malformed"));
		lab_replay_fini(&r);
	}
}

#define ON_IT(fn)	CLAIM_WITH(fn, up, down)

PROVE(
	ON_IT(what_the_driver_did_leads_another_chip_to_the_states_the_lab_saw),
	ON_IT(it_has_no_report_no_bad_packet_and_no_fault),
	ON_IT(another_byte_written_is_found_where_it_was_written),
	ON_IT(another_address_or_size_is_found),
	ON_IT(another_sum_and_another_interrupt_are_found),
	ON_IT(another_value_of_a_register_is_found),
	ON_IT(another_packet_on_the_hiq_is_found),
	ON_IT(another_state_is_found_and_named),
	ON_IT(a_file_cut_short_anywhere_is_malformed),
	ON_IT(a_head_that_cannot_be_is_malformed),
	ON_IT(an_entry_that_cannot_be_is_malformed),
)
