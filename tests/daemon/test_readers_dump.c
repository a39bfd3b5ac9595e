/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The reader of the dump, the rights of a reader, and how its texts are cleaned. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "daemon/confine.h"
#include "daemon/reader.h"
#include "readers_world.h"

/* ---- the dump ---- */

static void write_dump(const char *path, u32 queues)
{
	FILE *f = fopen(path, "w");
	u32 i, j;

	EXPECT(f);
	for (i = 0; i < queues; i++) {
		fprintf(f, "Process %u PASID 0x8001:\n  SDMA queue on device d5ae\n", 100 + i);
		for (j = 0; j < 4; j++)
			fprintf(f, "    %08x: %08x %08x 0 0 0 0 0 0\n", j * 32, j ? 0x77u : 0x10u,
				j == 1 ? 0x1000 + 8 * i : 0);
	}
	fclose(f);
}

static void the_dump_comes_as_its_reader_sees_it(void **state)
{
	char path[] = "/tmp/gp-mqds-XXXXXX";
	struct readers_world *w = rw_new(NULL);
	struct gp_mqd_list list = { 0 };
	u32 i;

	(void)state;
	close(mkstemp(path));
	w->mqds = path;
	write_dump(path, 50);
	EXPECT_EQ(gp_mqd_dump_read(path, 0, &list, NULL), 0);
	EXPECT_EQ(list.count, 50);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), 0);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), -EAGAIN);
	RW_UNTIL(w, w->count[GP_READERS_DUMPED] == 1);
	EXPECT_EQ(w->last[GP_READERS_DUMPED].error, 0);
	for (i = 0; i < 50; i++)
		EXPECT(w->mqd[i].pid == list.mqd[i].pid && w->mqd[i].gpu_id == 0xd5ae &&
		       w->mqd[i].read_at == list.mqd[i].read_at && w->mqd[i].read_at &&
		       w->mqd[i].kind == GP_RING_SDMA);
	EXPECT_EQ(gp_readers_dump(w->rs, 120), 0);
	RW_UNTIL(w, w->count[GP_READERS_DUMPED] == 2);
	EXPECT_EQ(w->mqd[0].pid, 120);
	/* an unreadable dump, and a file that is no dump */
	unlink(path);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), 0);
	RW_UNTIL(w, w->count[GP_READERS_DUMPED] == 3);
	EXPECT_EQ(w->last[GP_READERS_DUMPED].error, ENOENT);
	write_dump(path, 0);
	EXPECT_EQ(truncate(path, 5), 0);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), 0);
	RW_UNTIL(w, w->count[GP_READERS_DUMPED] == 4);
	EXPECT_EQ(w->last[GP_READERS_DUMPED].error, EPROTO);
	EXPECT_EQ(w->nr_readers, 1);
	unlink(path);
	gp_mqd_list_fini(&list);
	rw_free(w);
}

static void a_dump_that_hangs_is_given_up_and_users_go_on(void **state)
{
	char path[] = "/tmp/gp-mqds-XXXXXX";
	struct readers_world *w = rw_new(NULL);
	struct gp_reader_sample x;
	struct gp_watch *watch;
	struct rw_target t;
	u64 number;

	(void)state;
	close(mkstemp(path));
	unlink(path);
	EXPECT_EQ(mkfifo(path, 0600), 0);	/* opening it waits for a writer */
	w->mqds = path;
	rw_target(&t, getuid(), NULL);
	watch = rw_watch(w, &t, getuid(), 1);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), 0);
	RW_UNTIL(w, gp_readers_state(w->rs, GP_READER_DUMP_USER) == GP_READER_GOOD);
	rw_later(w, GP_SEC);
	EXPECT_EQ(gp_readers_state(w->rs, GP_READER_DUMP_USER), GP_READER_LATE);
	EXPECT_EQ(w->count[GP_READERS_DUMPED], 0);
	RW_UNTIL(w, gp_readers_state(w->rs, getuid()) == GP_READER_GOOD);
	EXPECT_EQ(gp_readers_look(w->rs, getuid(), &number), 0);
	RW_UNTIL(w, w->last[GP_READERS_LOOKED].number == number);
	EXPECT_EQ(gp_readers_samples(w->rs, watch, &x, 1), 1);
	rw_later(w, MS(200));
	EXPECT_EQ(w->count[GP_READERS_DUMPED], 1);
	EXPECT_EQ(w->last[GP_READERS_DUMPED].error, ETIMEDOUT);
	EXPECT_EQ(gp_readers_dump(w->rs, 0), 0);
	unlink(path);
	rw_target_end(&t);
	rw_free(w);
}

/* ---- rights ---- */

/* gp_confine_syscalls() does nothing on other machines. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
enum { FILTERS = 1 };
#else
enum { FILTERS = 0 };
#endif

/* Tries what a confined process may not do. Returns the first thing that succeeded. */
static int try_everything(pid_t victim)
{
	static const int calls[] = {
		SYS_openat, SYS_close, SYS_exit_group, SYS_mmap, SYS_read, SYS_capget,
	};
	const struct gp_syscalls only = { calls, 6, true };
	u32 head[2] = { 0x20080522, 0 }, caps[6] = { 1, 1, 1, 1, 1, 1 };
	struct iovec io = { head, 4 };
	int fd;

	if (gp_confine(&(struct gp_confinement){ 0 }) || gp_confine_syscalls(&only))
		return 1;
	if (open("/dev/null", O_WRONLY) >= 0 || open("/dev/null", O_RDWR) >= 0 ||
	    open("/tmp/gp-confine-test", O_RDONLY | O_CREAT, 0600) >= 0)
		return 2;
	fd = open("/dev/null", O_RDONLY);
	if (fd < 0)
		return 3;
	if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || !kill(victim, 0) ||
	    ptrace(PTRACE_SEIZE, victim, 0, 0) >= 0 || fork() >= 0)
		return 4;
	if (process_vm_writev(victim, &io, 1, &io, 1, 0) >= 0)
		return 5;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 6;
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 7;
	if (syscall(SYS_capget, head, caps) || caps[0] || caps[1] || caps[3] || caps[4])
		return 8;
	return execl("/bin/true", "true", NULL) >= 0 ? 9 : 0;
}

static void a_confined_process_can_only_read(void **state)
{
	struct rw_target t;
	int status;
	pid_t pid;

	(void)state;
	if (!FILTERS)
		return;
	rw_target(&t, getuid(), NULL);
	pid = fork();
	if (!pid)
		syscall(SYS_exit_group, try_everything(t.pid));
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0);
	rw_target_end(&t);
}

static void only_printable_utf8_is_left(void **state)
{
	static const struct {
		const char *in, *out;
	} table[] = {
		{ "plain text", "plain text" }, { "\x1b[2J\n\t\x7f", "?[2J???" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\x9b" "1m", "??1m" },		/* a control sequence */
		{ "\xc0\xaf\xe0\x80\xaf", "?????" },	/* overlong forms */
		{ "\xed\xa0\x80", "???" }, { "\xf4\x90\x80\x80", "????" },
		{ "\xe2\x82", "??" }, { "\xff", "?" }, { "", "" },
	};
	char text[16];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, table[i].in, strlen(table[i].in) + 1);
		gp_reader_clean(text, sizeof(text));
		EXPECT_EQ(strcmp(text, table[i].out), 0);
	}
	memset(text, 0xe2, sizeof(text));	/* without an end, and cut within a character */
	gp_reader_clean(text, sizeof(text));
	EXPECT_EQ(strlen(text), sizeof(text) - 1);
}

PROVE(
	CLAIM(the_dump_comes_as_its_reader_sees_it),
	CLAIM(a_dump_that_hangs_is_given_up_and_users_go_on),
	CLAIM(a_confined_process_can_only_read),
	CLAIM(only_printable_utf8_is_left),
)
