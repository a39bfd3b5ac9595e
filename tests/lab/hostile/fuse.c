// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* See fuse.h. The requests are those of <linux/fuse.h>. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuse.h"

enum {
	FILE_NODE	= 2,		/* the root is 1 */
	REQUEST_BYTES	= 1 << 17,	/* the kernel's own bound is smaller */
	HELD		= 64,		/* requests that can wait at once; others get an error */
	LOOK_MS		= 2,
	HOLD_SECONDS	= 40,
};

struct hostile_fuse_shared {
	atomic_bool hold;
	atomic_uint held;
};

/* The server: a request that waits. */
struct held {
	uint64_t unique;
	uint32_t bytes;		/* of the answer */
	bool is_write;
};

struct server {
	int dev;
	struct hostile_fuse_shared *shared;
	struct held held[HELD];
	unsigned int nr;
	time_t since;		/* the first of them came, CLOCK_MONOTONIC */
};

/* ---- answers ---- */

static void answer(const struct server *s, uint64_t unique, int err, const void *data, size_t bytes)
{
	struct fuse_out_header out = { .len = sizeof(out), .error = err, .unique = unique };
	struct iovec part[2] = {
		{ .iov_base = &out, .iov_len = sizeof(out) },
		{ .iov_base = (void *)(uintptr_t)data, .iov_len = bytes },
	};
	ssize_t n;

	if (!err)
		out.len += (uint32_t)bytes;
	/* Of one that was interrupted the kernel does not want to hear any more: ENOENT. */
	n = writev(s->dev, part, err || !bytes ? 1 : 2);
	(void)n;
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = { .ino = node, .nlink = 1, .blksize = 4096 };

	a.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755;
	a.size = node == FILE_NODE ? HOSTILE_FUSE_BYTES : 4096;
	return a;
}

static void lookup(const struct server *s, const struct fuse_in_header *in, const char *name)
{
	struct fuse_entry_out entry = { .nodeid = FILE_NODE, .attr = attr_of(FILE_NODE) };

	if (strcmp(name, "file"))
		answer(s, in->unique, -ENOENT, NULL, 0);
	else
		answer(s, in->unique, 0, &entry, sizeof(entry));
}

static void init(const struct server *s, const struct fuse_in_header *in,
		 const struct fuse_init_in *wanted)
{
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
		.max_readahead = 0, .max_write = 4096, .max_background = HELD,
		.congestion_threshold = HELD,
	};

	if (wanted->minor < out.minor)
		out.minor = wanted->minor;
	answer(s, in->unique, 0, &out, sizeof(out));
}

static void give(const struct server *s, const struct held *h)
{
	static const char zero[REQUEST_BYTES];
	struct fuse_write_out written = { .size = h->bytes };

	if (h->is_write)
		answer(s, h->unique, 0, &written, sizeof(written));
	else
		answer(s, h->unique, 0, zero, h->bytes < sizeof(zero) ? h->bytes : sizeof(zero));
}

static time_t seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Content, to be given or to be taken: now, or when the test says so. */
static void content(struct server *s, const struct fuse_in_header *in, uint32_t bytes)
{
	struct held h = { in->unique, bytes, in->opcode == FUSE_WRITE };

	if (!atomic_load(&s->shared->hold)) {
		give(s, &h);
	} else if (s->nr == HELD) {
		answer(s, in->unique, -EIO, NULL, 0);
	} else {
		if (!s->nr)
			s->since = seconds();
		s->held[s->nr++] = h;
		atomic_fetch_add(&s->shared->held, 1);
	}
}

static void serve(struct server *s, const struct fuse_in_header *in)
{
	const void *arg = in + 1;
	struct fuse_open_out open = { .open_flags = FOPEN_KEEP_CACHE };
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid) };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };

	switch (in->opcode) {
	case FUSE_INIT:
		init(s, in, arg);
		return;
	case FUSE_LOOKUP:
		lookup(s, in, arg);
		return;
	case FUSE_GETATTR:
	case FUSE_SETATTR:
		answer(s, in->unique, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(s, in->unique, 0, &open, sizeof(open));
		return;
	case FUSE_READ:
		content(s, in, ((const struct fuse_read_in *)arg)->size);
		return;
	case FUSE_WRITE:
		content(s, in, ((const struct fuse_write_in *)arg)->size);
		return;
	case FUSE_STATFS:
		answer(s, in->unique, 0, &statfs, sizeof(statfs));
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:	/* the page is answered when the test says so */
		return;
	case FUSE_ACCESS:
	case FUSE_FLUSH:
	case FUSE_FSYNC:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_DESTROY:
		answer(s, in->unique, 0, NULL, 0);
		return;
	}
	answer(s, in->unique, -ENOSYS, NULL, 0);
}

static void run(struct server *s)
{
	static _Alignas(8) char request[REQUEST_BYTES];
	struct pollfd p = { .fd = s->dev, .events = POLLIN };
	ssize_t n;

	for (;;) {
		if (s->nr && seconds() - s->since > HOLD_SECONDS)
			atomic_store(&s->shared->hold, false);
		if (!atomic_load(&s->shared->hold))
			while (s->nr)
				give(s, &s->held[--s->nr]);
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		n = read(s->dev, request, sizeof(request));
		if (n < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
			_exit(0);	/* unmounted */
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve(s, (const struct fuse_in_header *)request);
	}
}

/* ---- its user ---- */

static int start_server(struct hostile_fuse *f, int dev)
{
	struct server s = { .dev = dev, .shared = f->shared };
	pid_t parent = getpid();

	f->server = fork();
	if (f->server)
		return f->server < 0 ? -errno : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		run(&s);
	_exit(1);
}

int hostile_fuse_start(struct hostile_fuse *f, const char *dir)
{
	int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC), err;
	char options[128];

	if (dev < 0)
		return -errno;
	snprintf(f->dir, sizeof(f->dir), "%s", dir);
	snprintf(f->file, sizeof(f->file), "%s/file", f->dir);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", dev);
	f->shared = mmap(NULL, sizeof(*f->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	err = f->shared == MAP_FAILED ? -ENOMEM : 0;
	if (!err && mkdir(f->dir, 0755) && errno != EEXIST)
		err = -errno;
	if (!err && mount("hostile", f->dir, "fuse", MS_NOSUID | MS_NODEV, options))
		err = -errno;
	if (!err)
		err = start_server(f, dev);
	close(dev);
	return err;
}

void hostile_fuse_hold(struct hostile_fuse *f, bool hold)
{
	atomic_store(&f->shared->hold, hold);
}

unsigned int hostile_fuse_held(const struct hostile_fuse *f)
{
	return atomic_load(&f->shared->held);
}

/* With its server the device is closed, and with that every request is answered: ENOTCONN. */
void hostile_fuse_stop(struct hostile_fuse *f)
{
	kill(f->server, SIGKILL);
	waitpid(f->server, NULL, 0);
	umount2(f->dir, MNT_DETACH);
	munmap(f->shared, sizeof(*f->shared));
}
