// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Memory as the CPU sees it, the device's clock, and events. */
#include "queues.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MS = 1000000 };

/* True if the mapping at @at has @flag among its VmFlags. */
static bool has_flag(const void *at, const char *flag)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long long start, end;
	bool here = false, found = false;
	char line[512];

	EXPECT(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			here = (uintptr_t)at >= start && (uintptr_t)at < end;
		if (here && !strncmp(line, "VmFlags:", 8)) {
			found = strstr(line, flag);
			break;
		}
	}
	fclose(f);
	return found;
}

static ssize_t remote_read(const void *at, u64 *to)
{
	struct iovec local = { to, 8 }, remote = { (void *)(uintptr_t)at, 8 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

static void through_proc_mem(void *at, u64 value)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	u64 word = 0;

	*(volatile u64 *)at = value;
	EXPECT_EQ(pread(fd, &word, 8, (off_t)(uintptr_t)at), 8);
	EXPECT_EQ(word, value);
	word = value + 1;
	EXPECT_EQ(pwrite(fd, &word, 8, (off_t)(uintptr_t)at), 8);
	EXPECT_EQ(*(volatile u64 *)at, value + 1);
	close(fd);
}

void render_mappings(struct gp_lab_client *c)
{
	static const enum gp_memory kinds[] = { GP_MEMORY_GTT, GP_MEMORY_VRAM };

	for (u32 i = 0; i < 2; i++) {
		struct gp_buffer b;
		u64 word;

		OK(gp_buffer_alloc(c, &b, kinds[i], 1 << 20));
		EXPECT(has_flag(b.at, " pf"));
		EXPECT(has_flag(b.at, " io"));
		EXPECT_EQ(remote_read(b.at, &word), -1);
		EXPECT_EQ(errno, EFAULT);
		through_proc_mem((u8 *)b.at + 8192 + 8 * i, 0x1234567890abcdef);
		OK(gp_buffer_free(c, &b));
	}
}

void doorbell_mapping(struct gp_lab_client *c)
{
	off_t offset = (off_t)(GP_KFD_MMAP_DOORBELL | (u64)c->node.gpu_id << GP_KFD_MMAP_GPU_SHIFT);
	off_t nowhere = (off_t)(GP_KFD_MMAP_DOORBELL | 1ull << GP_KFD_MMAP_GPU_SHIFT);
	struct gp_lab_queue q;
	u64 word;
	int fd;

	probe_queue(c, &q);
	EXPECT(has_flag(c->doorbells, " pf"));
	EXPECT(has_flag(c->doorbells, " io"));
	EXPECT(has_flag(c->doorbells, " dc"));
	EXPECT(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, c->kfd_fd, offset) == MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	EXPECT(mmap(NULL, 3 * 4096, PROT_WRITE, MAP_SHARED, c->kfd_fd, offset) == MAP_FAILED);
	EXPECT(mmap(NULL, GP_KFD_DOORBELL_BYTES, PROT_WRITE, MAP_SHARED, c->kfd_fd, nowhere) ==
	       MAP_FAILED);
	EXPECT(mmap(NULL, GP_KFD_DOORBELL_BYTES, PROT_WRITE, MAP_SHARED, c->kfd_fd, offset) !=
	       MAP_FAILED);
	/* Another process can neither read nor ring the doorbells. */
	EXPECT_EQ(remote_read(c->doorbells, &word), -1);
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	EXPECT_EQ(pread(fd, &word, 8, (off_t)(uintptr_t)c->doorbells), -1);
}

void user_pages(struct gp_lab_client *c)
{
	struct gp_buffer b;
	u64 word = 0;

	OK(gp_buffer_alloc(c, &b, GP_MEMORY_USERPTR, 1 << 20));
	EXPECT(!has_flag(b.at, " pf"));
	EXPECT(!has_flag(b.at, " io"));
	*(u64 *)b.at = 77;
	EXPECT_EQ(remote_read(b.at, &word), 8);
	EXPECT_EQ(word, 77);
	through_proc_mem(b.at, 5);
}

void clock_is_device(struct gp_lab_client *c)
{
	u64 before, now, after, last = 0;
	struct gp_lab_queue q;
	struct gp_work w;

	for (u32 i = 0; i < 20; i++) {
		before = probe_counter("device_ns");
		OK(gp_client_clock(c, &now));
		after = probe_counter("device_ns");
		EXPECT(now + 10 > before && now <= after);
		/* The clock stands still while the model's own thread runs. */
		EXPECT(now >= last);
		last = now;
	}
	usleep(MS / 1000);
	OK(gp_client_clock(c, &now));
	EXPECT(now > last);
	/* The times in signals use the same clock. */
	probe_work(c, &w, 1, 5 * MS);
	probe_queue(c, &q);
	OK(gp_client_clock(c, &before));
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	probe_finish(&w);
	OK(gp_client_clock(c, &after));
	EXPECT(gp_work_start_ns(&w, 0) >= before && gp_work_end_ns(&w, 0) <= after);
	EXPECT(gp_work_end_ns(&w, 0) - gp_work_start_ns(&w, 0) >= 5 * MS);
}

void event_by_signal(struct gp_lab_client *c)
{
	struct gp_lab_event e, other;
	struct gp_lab_queue q;
	struct gp_work w;

	OK(gp_event_create(c, &e, KFD_IOC_EVENT_SIGNAL, true));
	OK(gp_event_create(c, &other, KFD_IOC_EVENT_SIGNAL, true));
	probe_work(c, &w, 1, 300ull * MS);
	probe_queue(c, &q);
	OK(gp_work_submit(&w, 0, &q, 10, 1, &e));
	OK(gp_event_wait(c, &e, 1, false, PROBE_SOON_MS));
	EXPECT(gp_work_done(&w, 0));
	OK(gp_work_check(&w, 0));
	/* The wait has reset the first event. The other one was never signalled. */
	REFUSED(gp_event_wait(c, &e, 1, false, 20), ETIME);
	REFUSED(gp_event_wait(c, &other, 1, false, 20), ETIME);
}

void event_timeout(struct gp_lab_client *c)
{
	struct gp_lab_event e[2], wrong = { .id = 3000 };
	struct kfd_ioctl_destroy_event_args id = { .event_id = 3000 };

	for (u32 i = 0; i < 2; i++)
		OK(gp_event_create(c, &e[i], KFD_IOC_EVENT_SIGNAL, false));
	REFUSED(gp_event_wait(c, e, 2, false, 0), ETIME);
	REFUSED(gp_event_wait(c, e, 2, false, 50), ETIME);
	OK(gp_event_set(c, &e[1]));
	OK(gp_event_wait(c, e, 2, false, 0));
	/* Not all events are signalled. Without reset the first one stays signalled. */
	REFUSED(gp_event_wait(c, e, 2, true, 50), ETIME);
	OK(gp_event_set(c, &e[0]));
	OK(gp_event_wait(c, e, 2, true, PROBE_SOON_MS));
	id.event_id = e[0].id;
	OK(gp_client_call(c, AMDKFD_IOC_RESET_EVENT, &id, "RESET_EVENT"));
	REFUSED(gp_event_wait(c, &e[0], 1, false, 0), ETIME);
	REFUSED(gp_event_wait(c, &wrong, 1, false, 0), EINVAL);
	REFUSED(gp_event_set(c, &wrong), EINVAL);
	REFUSED(gp_event_destroy(c, &wrong), EINVAL);
	OK(gp_event_destroy(c, &e[0]));
	REFUSED(gp_event_wait(c, &e[0], 1, false, 0), EINVAL);
}

void many_events(struct gp_lab_client *c)
{
	enum { MANY = 300 };
	static struct kfd_event_data data[MANY];
	static struct gp_lab_event e[MANY];
	struct kfd_ioctl_wait_events_args wait = {
		.events_ptr = (u64)(uintptr_t)data, .num_events = MANY, .wait_for_all = 1,
		.timeout = PROBE_SOON_MS,
	};
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, MANY, 1000);
	probe_queue(c, &q);
	for (u32 i = 0; i < MANY; i++) {
		OK(gp_event_create(c, &e[i], KFD_IOC_EVENT_SIGNAL, false));
		data[i].event_id = e[i].id;
		OK(gp_work_submit(&w, i, &q, 1, 1, &e[i]));
	}
	OK(gp_client_call(c, AMDKFD_IOC_WAIT_EVENTS, &wait, "WAIT_EVENTS"));
	EXPECT_EQ(wait.wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
	for (u32 i = 0; i < MANY; i++)
		EXPECT(gp_work_done(&w, i));
	probe_finish(&w);
}
