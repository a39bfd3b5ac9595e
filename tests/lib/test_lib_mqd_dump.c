// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The reader of kfd/mqds, on dumps as the driver prints them and on broken ones. */
#include <stdio.h>
#include <string.h>

#include "tests/shared/fake_tree.h"
#include "tests/shared/gp_test.h"
#include "lib/mqd_dump.h"

struct text {
	char *at;
	size_t bytes;
	FILE *f;
};

static void begin(struct text *t)
{
	t->f = open_memstream(&t->at, &t->bytes);
	EXPECT(t->f);
}

static void put_words(struct text *t, const u32 *word, u32 nr)
{
	for (u32 i = 0; i < nr; i++) {
		if (i % 8 == 0)
			fprintf(t->f, "    %08x: ", i * 4);
		fprintf(t->f, "%08x%s", word[i], i % 8 == 7 || i == nr - 1 ? "\n" : " ");
	}
}

static void put_compute(struct text *t, u32 gpu_id, u32 xccs, bool aql)
{
	u32 word[512] = { 0xc0310800 };

	fprintf(t->f, "  Compute queue on device %x\n", gpu_id);
	word[130] = 1;
	word[133] = 2;
	word[134] = 15;
	word[136] = 0xff001234;		/* ring 0x7fff00123400 */
	word[137] = 0x7f;
	word[139] = 0x00005080;
	word[140] = 0x7f01;
	word[141] = 0x00005038;
	word[142] = 0x7f01;
	word[143] = 0x1234 << 2;
	word[145] = 0x5000000d;		/* 8 << 13 bytes */
	word[171] = 0x00010000;
	word[172] = 0x7f02;
	word[181] = aql;
	for (u32 i = 0; i < xccs; i++) {
		word[39] = i;
		put_words(t, word, 512);
		word[139] = 0xdead;	/* ignored by the parser */
	}
}

static void put_sdma(struct text *t, u32 gpu_id, u32 copies)
{
	u32 word[128] = { 18 << 1 | 1 << 12, 0xff000001, 0x7f };

	fprintf(t->f, "  SDMA queue on device %x\n", gpu_id);
	word[8] = 0x7f01;
	word[9] = 0x6000;
	word[22] = 0x77 << 2;
	for (u32 i = 0; i < copies; i++)
		put_words(t, word, 128);
}

/* Parses the text in pieces of @step bytes. */
static int parse(struct text *t, size_t step, pid_t only, struct gp_mqd_list *l, u32 *line)
{
	struct gp_mqd_parser p;
	int err = 0;

	fflush(t->f);
	gp_mqd_parser_init(&p, l, only);
	for (size_t at = 0; !err && at < t->bytes; at += step)
		err = gp_mqd_parser_feed(&p, t->at + at,
					 t->bytes - at < step ? t->bytes - at : step);
	if (!err)
		err = gp_mqd_parser_end(&p);
	*line = p.line_number;
	return err;
}

static void end(struct text *t)
{
	fclose(t->f);
	free(t->at);
}

static void put_two_processes(struct text *t)
{
	fprintf(t->f, "Process 1234 PASID 0x8001:\n");
	put_sdma(t, 0xd5ae, 4);		/* as the driver does behind a compute queue */
	put_compute(t, 0xd5ae, 4, true);
	fprintf(t->f, "  Bad user queue type 7 on device d5ae\n");
	fprintf(t->f, "  DIQ on device d5ae\n    00000000: 00000000\n");
	put_compute(t, 0x1, 1, false);
	fprintf(t->f, "Process 77 PASID 0x8002:\nProcess 78 PASID 0x8003:\n");
	put_compute(t, 0x1, 1, true);
}

static void a_dump_is_read(void **state)
{
	struct text t;
	u32 line;

	(void)state;
	begin(&t);
	put_two_processes(&t);
	for (size_t step = 1; step < 100000; step = step * 3 + 1) {
		struct gp_mqd_list l = { 0 };
		const struct gp_mqd *m;

		EXPECT_EQ(parse(&t, step, 0, &l, &line), 0);
		EXPECT_EQ(l.count, 4);
		m = &l.mqd[0];
		EXPECT(m->pid == 1234 && m->gpu_id == 0xd5ae && m->kind == GP_RING_SDMA);
		EXPECT_EQ(m->ring_bytes, 4 << 18);
		EXPECT_EQ(m->ring_base, 0x7fff00000100);
		EXPECT_EQ(m->read_at, 0x7f0100006000);
		EXPECT_EQ(m->write_at, 0);
		EXPECT_EQ(m->doorbell, 0x77);
		m = &l.mqd[1];
		EXPECT(m->pid == 1234 && m->gpu_id == 0xd5ae && m->kind == GP_RING_AQL);
		EXPECT_EQ(m->copies, 4);
		EXPECT_EQ(m->ring_bytes, 65536);
		EXPECT_EQ(m->ring_base, 0x7fff00123400);
		EXPECT_EQ(m->read_at, 0x7f0100005080);
		EXPECT_EQ(m->write_at, 0x7f0100005038);
		EXPECT_EQ(m->doorbell, 0x1234);
		EXPECT_EQ(m->save_base, 0x7f0200010000);
		EXPECT(m->active && m->pipe_priority == 2 && m->queue_priority == 15);
		EXPECT(l.mqd[2].kind == GP_RING_PM4 && l.mqd[2].gpu_id == 1);
		EXPECT(l.mqd[3].pid == 78 && l.mqd[3].copies == 1);
		gp_mqd_list_fini(&l);
	}
	end(&t);
}

static void one_process_can_be_asked_for(void **state)
{
	struct text t;
	struct gp_mqd_list l = { 0 };
	u32 line;

	(void)state;
	begin(&t);
	put_two_processes(&t);
	EXPECT_EQ(parse(&t, 4096, 78, &l, &line), 0);
	EXPECT_EQ(l.count, 1);
	EXPECT_EQ(l.mqd[0].pid, 78);
	gp_mqd_list_fini(&l);
	EXPECT_EQ(parse(&t, 4096, 77, &l, &line), 0);
	EXPECT_EQ(l.count, 0);
	gp_mqd_list_fini(&l);
	end(&t);
}

static void what_is_no_dump_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text;
		u32 line;
	} table[] = {
		{ "hello\n", 1 },
		{ "Process x PASID 1:\n", 1 },
		{ "Process 0 PASID 1:\n", 1 },
		{ "Process 99999999999 PASID 1:\n", 1 },
		{ "Process 1 PASID 1:\n  Compute queue on device xyz\n", 2 },
		{ "  Compute queue on device 1\n", 1 },
		{ "    00000000: 00000000\n", 1 },
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n", 3 },	/* no words */
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n    00000020: 1\n", 3 },
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n"
		  "    00000000: 1 2 3 4 5 6 7 8 9\n", 3 },
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n    00000000: 1ffffffff\n", 3 },
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n    00000000: zz\n", 3 },
		{ "Process 1 PASID 1:\n  Compute queue on device 1\n    00000000: 1\n", 4 },
		{ "Process 1 PASID 1:", 1 },		/* no end of line */
	};
	struct gp_mqd_list l = { 0 };
	u32 line;

	(void)state;
	for (u32 i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct text t;

		begin(&t);
		fprintf(t.f, "%s", table[i].text);
		EXPECT_EQ(parse(&t, 7, 0, &l, &line), -EPROTO);
		EXPECT_EQ(line, table[i].line);
		EXPECT_EQ(l.count, 0);
		end(&t);
	}
	gp_mqd_list_fini(&l);
}

static void long_lines_and_zeros_are_refused(void **state)
{
	struct gp_mqd_list l = { 0 };
	struct gp_mqd_parser p;
	char line[GP_MQD_LINE];

	(void)state;
	memset(line, ' ', sizeof(line));
	gp_mqd_parser_init(&p, &l, 0);
	EXPECT_EQ(gp_mqd_parser_feed(&p, line, sizeof(line)), -EPROTO);
	gp_mqd_parser_init(&p, &l, 0);
	EXPECT_EQ(gp_mqd_parser_feed(&p, "a\0b", 3), -EPROTO);
	gp_mqd_parser_init(&p, &l, 0);
	EXPECT_EQ(gp_mqd_parser_feed(&p, "\n\n", 2), 0);
	EXPECT_EQ(gp_mqd_parser_end(&p), 0);
}

/*
 * Changes each byte. The parser must answer or refuse without a crash and return at most one
 * queue per line.
 */
static void one_wrong_byte_does_no_harm(void **state)
{
	u64 seed = gp_test_seed(1), random = seed;
	struct text t;
	u32 line, rounds = gp_test_full() ? 20000 : 1000;

	(void)state;
	begin(&t);
	put_two_processes(&t);
	fflush(t.f);
	for (u32 i = 0; i < rounds; i++) {
		struct gp_mqd_list l = { 0 };
		size_t at = gp_test_random(&random) % t.bytes;
		char was = t.at[at];
		int err;

		t.at[at] = (char)gp_test_random(&random);
		err = parse(&t, 1000, 0, &l, &line);
		EXPECT(!err || err == -EPROTO);
		EXPECT(l.count <= 5);
		for (u32 j = 0; j < l.count; j++)
			EXPECT(!(l.mqd[j].ring_bytes & (l.mqd[j].ring_bytes - 1)));
		gp_mqd_list_fini(&l);
		t.at[at] = was;
	}
	end(&t);
}

static void a_file_is_read(void **state)
{
	struct fake_tree *tree = fake_tree_make();
	struct text t;
	struct gp_mqd_list l = { 0 };
	char path[128];
	u32 line = 0;

	(void)state;
	begin(&t);
	put_two_processes(&t);
	fflush(t.f);
	fake_tree_put(tree, t.at, "mqds");
	snprintf(path, sizeof(path), "%s/mqds", tree->path);
	EXPECT_EQ(gp_mqd_dump_read(path, 0, &l, &line), 0);
	EXPECT_EQ(l.count, 4);
	gp_mqd_list_fini(&l);
	fake_tree_put(tree, "Process 1 PASID 1:\nwhat?\n", "mqds");
	EXPECT_EQ(gp_mqd_dump_read(path, 0, &l, &line), -EPROTO);
	EXPECT_EQ(line, 2);
	EXPECT(!l.mqd && !l.count);
	fake_tree_remove(tree, "mqds");
	EXPECT_EQ(gp_mqd_dump_read(path, 0, &l, &line), -ENOENT);
	end(&t);
	fake_tree_free(tree);
}

PROVE(
	CLAIM(a_dump_is_read),
	CLAIM(one_process_can_be_asked_for),
	CLAIM(what_is_no_dump_is_refused_with_its_line),
	CLAIM(long_lines_and_zeros_are_refused),
	CLAIM(one_wrong_byte_does_no_harm),
	CLAIM(a_file_is_read),
)
