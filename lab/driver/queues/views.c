// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The state that the driver and the virtual GPU show in debugfs and sysfs. */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE	"/sys/kernel/debug/vgpu/0/"
#define DRIVER	"/sys/kernel/debug/kfd/"

enum {
	SETTLE_US	= 40000,
	LINE_DW		= 8,
};

const char *probe_file(const char *format, ...)
{
	static char text[8192];
	char path[256];
	va_list args;
	ssize_t n = 0;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return text;
}

int probe_entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!d)
		return -1;
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static FILE *view(const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		probe_fail(__FILE__, __LINE__, "cannot open %s", path);
	return f;
}

/* Reads the values of lines "name value" at one moment. A name may have spaces. */
static void counters(const char *const *names, u64 *values, u32 nr)
{
	FILE *f = view(DEVICE "counters");
	u32 found = 0;
	char line[128];

	while (fgets(line, sizeof(line), f)) {
		char *space = strrchr(line, ' ');

		if (!space)
			continue;
		*space = '\0';
		for (u32 i = 0; i < nr; i++) {
			if (strcmp(line, names[i]))
				continue;
			values[i] = strtoull(space + 1, NULL, 10);
			found++;
		}
	}
	fclose(f);
	if (found != nr)
		probe_fail(__FILE__, __LINE__, "no counter '%s'", names[0]);
}

u64 probe_counter(const char *name)
{
	u64 value;

	counters(&name, &value, 1);
	return value;
}

struct probe_hiq probe_hiq(void)
{
	static const char *const names[] = { "UNMAP_QUEUES", "QUERY_STATUS", "RUN_LIST",
					     "MAP_PROCESS", "MAP_QUEUES", "WRITE_DATA" };
	u64 v[6];

	counters(names, v, 6);
	return (struct probe_hiq){ v[0], v[1], v[2], v[3], v[4], v[5] };
}

static struct probe_hiq minus(struct probe_hiq a, struct probe_hiq b)
{
	return (struct probe_hiq){ a.unmaps - b.unmaps, a.queries - b.queries,
				   a.runlists - b.runlists, a.processes - b.processes,
				   a.queues - b.queues, a.writes - b.writes };
}

void probe_hiq_cost(const char *file, int line, const char *what, struct probe_hiq *since,
		    struct probe_hiq want)
{
	u64 until = probe_now_ms() + PROBE_SOON_MS;
	struct probe_hiq got;

	/* The driver does not wait for a runlist, so the device may not have read it yet. */
	do {
		got = minus(probe_hiq(), *since);
		if (!memcmp(&got, &want, sizeof(got)))
			break;
		usleep(2000);
	} while (probe_now_ms() < until && got.runlists < want.runlists);
	usleep(SETTLE_US);
	got = minus(probe_hiq(), *since);
	if (memcmp(&got, &want, sizeof(got))) {
		probe_excuse();
		probe_fail(file, line, "%s: %llu unmaps, %llu queries, %llu runlists, "
			   "%llu processes, %llu queues, %llu writes; "
			   "expected %llu %llu %llu %llu %llu %llu", what,
			   (unsigned long long)got.unmaps, (unsigned long long)got.queries,
			   (unsigned long long)got.runlists, (unsigned long long)got.processes,
			   (unsigned long long)got.queues, (unsigned long long)got.writes,
			   (unsigned long long)want.unmaps, (unsigned long long)want.queries,
			   (unsigned long long)want.runlists, (unsigned long long)want.processes,
			   (unsigned long long)want.queues, (unsigned long long)want.writes);
	}
	*since = probe_hiq();
}

/* Parses a line "  offset: word word ...". Returns the number of words, or 0. */
static u32 dump_line(const char *line, u32 *offset, u32 dw[LINE_DW])
{
	char *at;
	u32 n = 0;

	*offset = (u32)strtoul(line, &at, 16);
	if (at == line || *at != ':')
		return 0;
	for (at++; n < LINE_DW; n++) {
		char *end;

		dw[n] = (u32)strtoul(at, &end, 16);
		if (end == at)
			break;
		at = end;
	}
	return n;
}

/* Adds one line of the MQD dump. Offset 0 begins a new copy. */
static void mqd_line(struct probe_mqds *m, const char *line, u32 *copy)
{
	u32 dw[LINE_DW], offset;
	u32 n = dump_line(line, &offset, dw);

	if (!n || !m->queues)
		return;
	if (!offset)
		++*copy;
	if (*copy > PROBE_XCCS || offset / 4 + n > PROBE_MQD_DW)
		return;
	memcpy(&m->dw[m->queues - 1][*copy - 1][offset / 4], dw, n * 4);
	if (*copy > m->copies)
		m->copies = *copy;
}

void probe_mqds(struct probe_mqds *m, pid_t pid)
{
	FILE *f = view(DRIVER "mqds");
	bool ours = false, compute = false;
	char line[160];
	u32 copy = 0;

	if (!m->dw)
		m->dw = calloc(PROBE_QUEUES, sizeof(*m->dw));
	m->queues = 0;
	m->copies = 0;
	while (fgets(line, sizeof(line), f)) {
		int owner;

		if (sscanf(line, "Process %d PASID", &owner) == 1) {
			ours = owner == pid;
			continue;
		}
		if (!ours)
			continue;
		if (strstr(line, " queue on device ")) {
			compute = strstr(line, "Compute") && m->queues < PROBE_QUEUES;
			m->queues += compute;
			copy = 0;
		} else if (compute) {
			mqd_line(m, line, &copy);
		}
	}
	fclose(f);
}

u32 probe_mqd(u32 xcc, u32 dw)
{
	static struct probe_mqds m;

	probe_mqds(&m, getpid());
	EXPECT_EQ(m.queues, 1);
	EXPECT(xcc < m.copies);
	return m.dw[0][xcc][dw];
}

u32 probe_runlist(u32 dw[PROBE_IB_DW])
{
	FILE *f = view(DRIVER "rls");
	char line[160];
	u32 end = 0;

	while (fgets(line, sizeof(line), f)) {
		u32 part[LINE_DW], offset;
		u32 n = dump_line(line, &offset, part);

		if (!n || offset / 4 + n > PROBE_IB_DW)
			continue;
		memcpy(&dw[offset / 4], part, n * 4);
		end = offset / 4 + n;
	}
	fclose(f);
	return end;
}

u32 probe_hqds(struct probe_hqd *hqds, u32 room)
{
	FILE *f = view(DRIVER "hqds");
	struct probe_hqd *h = NULL;
	u32 nr = 0, at = 0;
	char line[160];

	while (fgets(line, sizeof(line), f)) {
		struct probe_hqd next = { 0 };
		u32 dw[LINE_DW], offset, n;

		next.hiq = sscanf(line, " Inst %u, HIQ on MEC 2 Pipe %u Queue %u", &next.xcc,
				  &next.pipe, &next.queue) == 3;
		if (next.hiq || sscanf(line, " Inst %u, CP Pipe %u, Queue %u", &next.xcc,
				       &next.pipe, &next.queue) == 3) {
			/* Keep only active queues. */
			if (h && h->reg[2] && nr + 1 < room)
				nr++;
			h = &hqds[nr];
			*h = next;
			at = 0;
			continue;
		}
		if (strstr(line, "SDMA"))
			break;
		n = h ? dump_line(line, &offset, dw) : 0;
		for (u32 i = 0; i < n && at < 56; i++)
			h->reg[at++] = dw[i];
	}
	fclose(f);
	return nr + (h && h->reg[2]);
}

u32 probe_queues(struct probe_queue *queues, u32 room)
{
	FILE *f = view(DEVICE "queues");
	char line[256];
	u32 n = 0;

	while (n < room && fgets(line, sizeof(line), f)) {
		struct probe_queue *q = &queues[n];
		unsigned long long mqd, ring, rptr, wptr, saved;

		if (sscanf(line, "%u 0x%x %*s %11s %*s %*u 0x%llx 0x%llx %llu %llu %u %llu",
			   &q->pasid, &q->doorbell, q->state, &mqd, &ring, &rptr, &wptr, &q->waves,
			   &saved) != 9)
			continue;
		q->mqd = mqd;
		q->ring = ring;
		q->rptr = rptr;
		q->wptr = wptr;
		q->saved = saved;
		n++;
	}
	fclose(f);
	return n;
}

u32 probe_pasid(void)
{
	return (u32)atoi(probe_file("/sys/class/kfd/kfd/proc/%d/pasid", getpid()));
}

u32 probe_waves(void)
{
	struct probe_queue queues[PROBE_QUEUES];
	u32 n = probe_queues(queues, PROBE_QUEUES), pasid = probe_pasid(), waves = 0;

	for (u32 i = 0; i < n; i++)
		waves += queues[i].pasid == pasid ? queues[i].waves : 0;
	return waves;
}
