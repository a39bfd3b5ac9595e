/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Reads the driver's dump of queue descriptors, debugfs kfd/mqds (root only).
 *
 * Only the dump has the addresses of the pointers of a process's queues without debugging the
 * process. It has no queue ids and does not say which queues are off. Of the copies of a queue (one
 * per XCC) only the first is used. Layout: gfx9.
 */
#ifndef GP_LIB_MQD_DUMP_H
#define GP_LIB_MQD_DUMP_H

#include <sys/types.h>

#include "core/ring.h"

#define GP_MQD_DUMP	"/sys/kernel/debug/kfd/mqds"

/* One queue, as in its descriptor. */
struct gp_mqd {
	pid_t pid;
	u32 gpu_id;
	u32 kind;		/* enum gp_ring_kind */
	u32 copies;		/* one per XCC */
	u64 ring_base;
	u32 ring_bytes;
	u64 read_at;		/* address of the read pointer, in the process */
	u64 write_at;		/* of the write pointer; 0: not in the dump (SDMA) */
	u32 doorbell;		/* dword index in the doorbell BAR */
	bool active;		/* in a hardware slot when last written back */
	u32 pipe_priority;
	u32 queue_priority;
	u64 save_base;		/* of the save area; 0: none */
};

enum { GP_MQDS_MAX = 65536, GP_MQD_LINE = 256 };

/* A list of queues. All zero is an empty list. */
struct gp_mqd_list {
	struct gp_mqd *mqd;
	u32 count, room;
};

void gp_mqd_list_fini(struct gp_mqd_list *l);

/*
 * Parses a dump piece by piece, so that it need not be in memory. All members but @list are
 * private.
 */
struct gp_mqd_parser {
	struct gp_mqd_list *list;
	pid_t only;		/* 0: all processes */
	u32 line_number;
	u32 line_bytes;
	char line[GP_MQD_LINE];
	pid_t pid;
	u32 gpu_id;
	u32 state;
	u32 copies;
	u32 words;		/* of the copy at hand */
	u32 word[256];		/* the first ones; later ones are not used */
};

/* Begins to append to @list; @only: only the queues of that process. */
void gp_mqd_parser_init(struct gp_mqd_parser *p, struct gp_mqd_list *list, pid_t only);
/*
 * -EPROTO: not a dump of this layout; the parser's line_number says where. -ENOMEM.
 * -E2BIG: more than GP_MQDS_MAX queues. After an error nothing more may be fed.
 */
int gp_mqd_parser_feed(struct gp_mqd_parser *p, const char *text, size_t bytes);
/* Ends the dump. -EPROTO: it ends in the middle of a queue. */
int gp_mqd_parser_end(struct gp_mqd_parser *p);

/*
 * Reads @path (NULL: GP_MQD_DUMP) into @ret, which must be empty; on failure it stays so. -ENOENT,
 * -EACCES: no access to debugfs. @ret_line, if not NULL: the line of an -EPROTO.
 */
int gp_mqd_dump_read(const char *path, pid_t only, struct gp_mqd_list *ret, u32 *ret_line);

#endif /* GP_LIB_MQD_DUMP_H */
