// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The dump line by line:
 *
 *	Process 1234 PASID 0x8001:
 *	  Compute queue on device d5ae
 *	    00000000: c0310800 00000000 ... (eight words)
 *	    00000020: ...
 *
 * A copy begins at offset 0; a compute queue has one per XCC. What a line of another kind
 * says (a DIQ, "Bad user queue type") ends the queue before it and is skipped.
 */
#include "mqd_dump.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys.h"
#include "sysfs.h"

enum {
	/* struct v9_mqd, in words */
	MQD_ACTIVE		= 130,
	MQD_PIPE_PRIORITY	= 133,
	MQD_QUEUE_PRIORITY	= 134,
	MQD_PQ_BASE		= 136,
	MQD_RPTR_REPORT		= 139,
	MQD_WPTR_POLL		= 141,
	MQD_DOORBELL		= 143,
	MQD_PQ_CONTROL		= 145,
	MQD_SAVE_BASE		= 171,
	MQD_AQL_CONTROL		= 181,
	MQD_NEEDED		= 184,
	/* struct v9_sdma_mqd */
	SDMA_RB_CNTL		= 0,
	SDMA_RB_BASE		= 1,
	SDMA_RPTR_ADDR_HI	= 8,
	SDMA_RPTR_ADDR_LO	= 9,
	SDMA_DOORBELL_OFFSET	= 22,
	SDMA_NEEDED		= 32,

	WORDS_PER_LINE		= 8,
	RING_SIZE_MAX_LOG	= 30,
};

enum state { OUTSIDE, SKIP, COMPUTE, SDMA };

void gp_mqd_list_fini(struct gp_mqd_list *l)
{
	free(l->mqd);
	*l = (struct gp_mqd_list){ 0 };
}

void gp_mqd_parser_init(struct gp_mqd_parser *p, struct gp_mqd_list *list, pid_t only)
{
	memset(p, 0, sizeof(*p));
	p->list = list;
	p->only = only;
	p->line_number = 1;
	p->state = OUTSIDE;
}

static u64 wide(const u32 *word, u32 low)
{
	return word[low] | (u64)word[low + 1] << 32;
}

static void decode_compute(const u32 *word, struct gp_mqd *ret)
{
	u32 log = word[MQD_PQ_CONTROL] & 0x3f;

	ret->kind = word[MQD_AQL_CONTROL] ? GP_RING_AQL : GP_RING_PM4;
	ret->ring_base = wide(word, MQD_PQ_BASE) << 8;
	ret->ring_bytes = log + 3 <= RING_SIZE_MAX_LOG ? 8u << log : 0;
	ret->read_at = wide(word, MQD_RPTR_REPORT);
	ret->write_at = wide(word, MQD_WPTR_POLL);
	ret->doorbell = word[MQD_DOORBELL] >> 2 & 0x3ffffff;
	ret->active = word[MQD_ACTIVE] & 1;
	ret->pipe_priority = word[MQD_PIPE_PRIORITY];
	ret->queue_priority = word[MQD_QUEUE_PRIORITY];
	ret->save_base = wide(word, MQD_SAVE_BASE);
}

static void decode_sdma(const u32 *word, struct gp_mqd *ret)
{
	u32 log = word[SDMA_RB_CNTL] >> 1 & 0x1f;

	ret->kind = GP_RING_SDMA;
	ret->ring_base = wide(word, SDMA_RB_BASE) << 8;
	ret->ring_bytes = log + 2 <= RING_SIZE_MAX_LOG ? 4u << log : 0;
	ret->read_at = word[SDMA_RPTR_ADDR_LO] | (u64)word[SDMA_RPTR_ADDR_HI] << 32;
	ret->doorbell = word[SDMA_DOORBELL_OFFSET] >> 2 & 0x3ffffff;
}

static int append(struct gp_mqd_list *l, const struct gp_mqd *m)
{
	if (l->count == GP_MQDS_MAX)
		return -E2BIG;
	if (l->count == l->room) {
		u32 room = l->room ? 2 * l->room : 16;
		struct gp_mqd *more = realloc(l->mqd, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->mqd = more;
		l->room = room;
	}
	l->mqd[l->count++] = *m;
	return 0;
}

/* Ends the present queue, because something else begins. */
static int end_queue(struct gp_mqd_parser *p)
{
	struct gp_mqd m = { .pid = p->pid, .gpu_id = p->gpu_id, .copies = p->copies };
	u32 state = p->state;

	p->state = p->pid ? SKIP : OUTSIDE;
	if (state != COMPUTE && state != SDMA)
		return 0;
	if (p->words < (state == COMPUTE ? MQD_NEEDED : SDMA_NEEDED))
		return -EPROTO;
	if (p->only && p->pid != p->only)
		return 0;
	if (state == COMPUTE)
		decode_compute(p->word, &m);
	else
		decode_sdma(p->word, &m);
	return append(p->list, &m);
}

static int begin_process(struct gp_mqd_parser *p, const char *line)
{
	const char *end;
	u64 pid;
	int err = end_queue(p);

	if (err)
		return err;
	if (!gp_sysfs_parse(line, 10, &pid, &end) || strncmp(end, " PASID ", 7) ||
	    !pid || pid > INT32_MAX)
		return -EPROTO;
	p->pid = (pid_t)pid;
	p->state = SKIP;
	return 0;
}

static int begin_queue(struct gp_mqd_parser *p, const char *gpu, enum state state)
{
	const char *end;
	u64 gpu_id;
	int err = end_queue(p);

	if (err)
		return err;
	if (!p->pid || !gp_sysfs_parse(gpu, 16, &gpu_id, &end) || *end || gpu_id > UINT32_MAX)
		return -EPROTO;
	p->gpu_id = (u32)gpu_id;
	p->state = state;
	p->copies = 0;
	p->words = 0;
	return 0;
}

/* "00000020: " and eight words; the last line of a dump may have fewer. */
static int words(struct gp_mqd_parser *p, const char *line)
{
	const char *end;
	u64 offset, word;
	u32 at;

	if (p->state != COMPUTE && p->state != SDMA)
		return p->state == SKIP ? 0 : -EPROTO;
	if (!gp_sysfs_parse(line, 16, &offset, &end) || strncmp(end, ": ", 2))
		return -EPROTO;
	if (!offset) {
		/* the copies of the other XCCs have the same addresses */
		if (++p->copies == 1)
			p->words = 0;
	} else if (!p->copies || (p->copies == 1 && offset != p->words * 4)) {
		return -EPROTO;
	}
	end++;
	for (at = 0; *end == ' ' && end[1]; at++) {
		if (at == WORDS_PER_LINE || !gp_sysfs_parse(end + 1, 16, &word, &end) ||
		    word > UINT32_MAX)
			return -EPROTO;
		if (p->copies > 1)
			continue;
		if (p->words < sizeof(p->word) / sizeof(*p->word))
			p->word[p->words] = (u32)word;
		p->words++;
	}
	return at && (!*end || *end == ' ') ? 0 : -EPROTO;
}

static int take_line(struct gp_mqd_parser *p)
{
	static const char process[] = "Process ", compute[] = "  Compute queue on device ",
			  sdma[] = "  SDMA queue on device ";
	const char *line = p->line;

	if (!*line)
		return 0;
	if (!strncmp(line, process, sizeof(process) - 1))
		return begin_process(p, line + sizeof(process) - 1);
	if (!strncmp(line, compute, sizeof(compute) - 1))
		return begin_queue(p, line + sizeof(compute) - 1, COMPUTE);
	if (!strncmp(line, sdma, sizeof(sdma) - 1))
		return begin_queue(p, line + sizeof(sdma) - 1, SDMA);
	if (!strncmp(line, "    ", 4))
		return words(p, line + 4);
	/* another kind of queue, whose words are skipped */
	if (!strncmp(line, "  ", 2) && p->pid)
		return end_queue(p);
	return -EPROTO;
}

int gp_mqd_parser_feed(struct gp_mqd_parser *p, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		int err;

		if (text[i] != '\n') {
			if (!text[i] || p->line_bytes == GP_MQD_LINE - 1)
				return -EPROTO;
			p->line[p->line_bytes++] = text[i];
			continue;
		}
		p->line[p->line_bytes] = '\0';
		p->line_bytes = 0;
		err = take_line(p);
		if (err)
			return err;
		p->line_number++;
	}
	return 0;
}

int gp_mqd_parser_end(struct gp_mqd_parser *p)
{
	return p->line_bytes ? -EPROTO : end_queue(p);
}

static int read_all(int fd, struct gp_mqd_parser *p)
{
	char text[65536];
	ssize_t n;
	int err;

	for (;;) {
		n = gp_sys->read(fd, text, sizeof(text));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return gp_mqd_parser_end(p);
		err = gp_mqd_parser_feed(p, text, (size_t)n);
		if (err)
			return err;
	}
}

int gp_mqd_dump_read(const char *path, pid_t only, struct gp_mqd_list *ret, u32 *ret_line)
{
	struct gp_mqd_parser p;
	int fd = gp_sys->openat(AT_FDCWD, path ? path : GP_MQD_DUMP, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	gp_mqd_parser_init(&p, ret, only);
	err = read_all(fd, &p);
	close(fd);
	if (err)
		gp_mqd_list_fini(ret);
	if (err == -EPROTO && ret_line)
		*ret_line = p.line_number;
	return err;
}
