// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What the driver refuses, with which error, and that nothing has happened then. */
#include "queues.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	PAGE		= 4096,
	RING		= 16384,
	NOTSUPP		= 524,	/* the kernel's own ENOTSUPP, which should not get out */
};

#define KERNEL_ADDRESS	0xffff888000000000ull
#define NOT_MAPPED	0x700000000000ull

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

/* Everything a queue needs, and the call that would make it. */
struct parts {
	struct gp_buffer ring, pointers, eop, save, two_pages;
	struct gp_kfd_create_queue k;
};

static void make_parts(struct gp_client *c, struct parts *p)
{
	const struct gp_geometry *g = &c->geometry;
	void *save = mmap(NULL, g->mapping_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	OK(gp_buffer_alloc(c, &p->ring, GP_MEMORY_USERPTR, RING));
	OK(gp_buffer_alloc(c, &p->pointers, GP_MEMORY_USERPTR, PAGE));
	OK(gp_buffer_alloc(c, &p->eop, GP_MEMORY_USERPTR, PAGE));
	OK(gp_buffer_alloc(c, &p->two_pages, GP_MEMORY_USERPTR, 2 * PAGE));
	EXPECT(save != MAP_FAILED);
	OK(gp_buffer_register(c, &p->save, save, g->mapping_bytes));
	p->k = (struct gp_kfd_create_queue){
		.ring_base = address(p->ring.at),
		.write_pointer = address(p->pointers.at),
		.read_pointer = address(p->pointers.at) + 64,
		.ring_bytes = RING,
		.gpu_id = c->node.gpu_id,
		.type = GP_KFD_QUEUE_AQL,
		.percentage = 100,
		.priority = 7,
		.eop_base = address(p->eop.at),
		.eop_bytes = PAGE,
		.save_area = address(p->save.at),
		.save_bytes = g->save_bytes,
		.ctl_stack_bytes = g->ctl_stack_bytes,
	};
}

static int create(struct gp_client *c, struct gp_kfd_create_queue k)
{
	return gp_client_call(c, GP_KFD_IOC_CREATE_QUEUE, &k, "CREATE_QUEUE");
}

static int queues_in_sysfs(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues", getpid());
	return probe_entries(path);
}

#define CREATE_REFUSED(err, ...)					\
do {									\
	struct gp_kfd_create_queue k = p.k;				\
									\
	__VA_ARGS__;							\
	REFUSED(create(c, k), err);					\
	EXPECT_EQ(queues_in_sysfs(), 0);				\
} while (0)

void create_refusals(struct gp_client *c)
{
	struct probe_hiq since = probe_hiq();
	struct gp_kfd_destroy_queue d = { 0 };
	struct parts p = { 0 };

	make_parts(c, &p);
	CREATE_REFUSED(EINVAL, k.percentage = 101);
	CREATE_REFUSED(EINVAL, k.priority = 16);
	CREATE_REFUSED(EINVAL, k.ring_bytes = 3 * PAGE);
	CREATE_REFUSED(EFAULT, k.ring_base = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.read_pointer = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.write_pointer = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.eop_base = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.save_area = KERNEL_ADDRESS);
	CREATE_REFUSED(NOTSUPP, k.type = 5);
	CREATE_REFUSED(EINVAL, k.gpu_id++);
	/* The ring: not mapped, not its start, not its size (0 is taken as 1024). */
	CREATE_REFUSED(EINVAL, k.ring_base = 0);
	CREATE_REFUSED(EINVAL, k.ring_base = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.ring_base += PAGE);
	CREATE_REFUSED(EINVAL, k.ring_bytes = RING / 2);
	CREATE_REFUSED(EINVAL, k.ring_bytes = RING * 2);
	/* The pointers: each in a mapping of one page. */
	CREATE_REFUSED(EINVAL, k.write_pointer = 0);
	CREATE_REFUSED(EINVAL, k.write_pointer = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.write_pointer = address(p.two_pages.at));
	CREATE_REFUSED(EINVAL, k.read_pointer = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.read_pointer = address(p.two_pages.at) + PAGE);
	CREATE_REFUSED(EINVAL, k.eop_bytes = PAGE / 2);
	CREATE_REFUSED(EINVAL, k.eop_bytes = 2 * PAGE);
	CREATE_REFUSED(EINVAL, k.eop_base = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.ctl_stack_bytes -= PAGE);
	CREATE_REFUSED(EINVAL, k.ctl_stack_bytes += PAGE);
	CREATE_REFUSED(EINVAL, k.save_bytes -= PAGE);
	CREATE_REFUSED(EINVAL, k.save_bytes += PAGE);
	CREATE_REFUSED(EINVAL, k.save_area = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.save_area = 0);
	CREATE_REFUSED(EINVAL, k.type = GP_KFD_QUEUE_SDMA_ENGINE; k.sdma_engine_id = 99);
	COSTS(&since, "refused calls", 0, 0, 0, 0, 0);
	/* No refusal has kept a hold on the buffers: they do for a queue, and can then go. */
	OK(gp_client_call(c, GP_KFD_IOC_CREATE_QUEUE, &p.k, "CREATE_QUEUE"));
	d.queue_id = p.k.queue_id;
	OK(gp_client_call(c, GP_KFD_IOC_DESTROY_QUEUE, &d, "DESTROY_QUEUE"));
	OK(gp_buffer_free(c, &p.ring));
	OK(gp_buffer_free(c, &p.pointers));
	OK(gp_buffer_free(c, &p.eop));
	OK(gp_buffer_free(c, &p.save));
	OK(gp_buffer_free(c, &p.two_pages));
}

void create_without_vm(struct gp_client *c)
{
	struct gp_kfd_create_queue k = { .ring_bytes = PAGE, .percentage = 100 };
	struct gp_client bare = { .kfd_fd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) };
	struct gp_node node;
	u32 nr;

	(void)c;
	EXPECT(bare.kfd_fd >= 0);
	OK(gp_topology_read(NULL, &node, 1, &nr));
	k.gpu_id = node.gpu_id;
	REFUSED(create(&bare, k), ESRCH);
}

static int update(struct gp_queue *q, struct gp_kfd_update_queue u)
{
	return gp_client_call(q->c, GP_KFD_IOC_UPDATE_QUEUE, &u, "UPDATE_QUEUE");
}

#define UPDATE_REFUSED(err, ...)					\
do {									\
	struct gp_kfd_update_queue u = same;				\
									\
	__VA_ARGS__;							\
	REFUSED(update(&q, u), err);					\
} while (0)

void update_refusals(struct gp_client *c)
{
	struct gp_kfd_update_queue same;
	struct probe_hiq since;
	struct gp_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 1000);
	probe_queue(c, &q);
	same = (struct gp_kfd_update_queue){
		.ring_base = address(q.ring.at), .queue_id = q.id, .ring_bytes = q.ring_bytes,
		.percentage = 100, .priority = 7,
	};
	SOON(probe_mqd(0, MQD_ACTIVE));
	since = probe_hiq();
	UPDATE_REFUSED(EINVAL, u.percentage = 101);
	UPDATE_REFUSED(EINVAL, u.percentage = 255);
	UPDATE_REFUSED(EINVAL, u.priority = 16);
	UPDATE_REFUSED(EINVAL, u.ring_bytes = 3 * PAGE);
	UPDATE_REFUSED(EFAULT, u.ring_base = KERNEL_ADDRESS);
	UPDATE_REFUSED(EFAULT, u.ring_base = NOT_MAPPED);
	UPDATE_REFUSED(EFAULT, u.ring_base += PAGE);
	UPDATE_REFUSED(EFAULT, u.ring_bytes /= 2);
	UPDATE_REFUSED(EFAULT, u.ring_bytes *= 2);
	UPDATE_REFUSED(EFAULT, u.queue_id = q.id + 1);
	UPDATE_REFUSED(EFAULT, u.queue_id = 0xffffffff);
	COSTS(&since, "refused updates", 0, 0, 0, 0, 0);
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	probe_finish(&w);
}

static int cu_mask(struct gp_queue *q, u32 id, u32 bits, const void *mask)
{
	struct gp_kfd_set_cu_mask m = { .queue_id = id, .bits = bits, .mask = address(mask) };

	return gp_client_call(q->c, GP_KFD_IOC_SET_CU_MASK, &m, "SET_CU_MASK");
}

static int wave_state_of(struct gp_client *c, u32 id, u64 to)
{
	struct gp_kfd_wave_state s = { .queue_id = id, .ctl_stack = to };

	return gp_client_call(c, GP_KFD_IOC_GET_WAVE_STATE, &s, "GET_QUEUE_WAVE_STATE");
}

void small_calls_refused(struct gp_client *c)
{
	struct gp_kfd_destroy_queue d = { .queue_id = 77 };
	static u32 mask[64] = { [0 ... 63] = ~0u };
	u64 before = probe_hiq().runlists;
	struct gp_queue q, s;
	struct probe_hiq since;

	probe_queue(c, &q);
	OK(gp_queue_create(c, &s, &(struct gp_queue_args){ .type = GP_KFD_QUEUE_SDMA }));
	SOON(probe_hiq().runlists == before + 2);
	since = probe_hiq();
	REFUSED(gp_client_call(c, GP_KFD_IOC_DESTROY_QUEUE, &d, "DESTROY_QUEUE"), EINVAL);
	REFUSED(cu_mask(&q, q.id, 0, mask), EINVAL);
	REFUSED(cu_mask(&q, q.id, 31, mask), EINVAL);
	REFUSED(cu_mask(&q, q.id, 33, mask), EINVAL);
	REFUSED(cu_mask(&q, 77, 32, mask), EFAULT);
	REFUSED(cu_mask(&q, q.id, 32, NULL), EFAULT);
	REFUSED(cu_mask(&q, q.id, 32, (void *)(uintptr_t)NOT_MAPPED), EFAULT);
	REFUSED(wave_state_of(c, 77, address(q.save.at)), EFAULT);
	/* While it is active; never of an SDMA queue. */
	REFUSED(wave_state_of(c, q.id, address(q.save.at)), EINVAL);
	REFUSED(wave_state_of(c, s.id, address(q.save.at)), EINVAL);
	COSTS(&since, "refused calls", 0, 0, 0, 0, 0);
	/* More than 1024 bits are not looked at: the rest of the array need not be there. */
	OK(cu_mask(&q, q.id, 1u << 20, mask));
	OK(gp_queue_update(&q, 0, 7));
	OK(wave_state_of(c, q.id, address(q.save.at)));
	REFUSED(wave_state_of(c, q.id, NOT_MAPPED), EFAULT);
	OK(gp_queue_update(&s, 0, 7));
	REFUSED(wave_state_of(c, s.id, address(q.save.at)), EINVAL);
}

void memory_in_use(struct gp_client *c)
{
	struct gp_kfd_free_memory f;
	struct gp_buffer *parts[4];
	struct gp_queue q;

	probe_queue(c, &q);
	parts[0] = &q.ring;
	parts[1] = &q.pointers;
	parts[2] = &q.eop;
	parts[3] = &q.save;
	for (u32 i = 0; i < 4; i++) {
		u32 gpu = c->node.gpu_id;
		struct gp_kfd_map_memory m = { .handle = parts[i]->handle, .gpus = 1,
					       .gpu_ids = address(&gpu) };

		f.handle = parts[i]->handle;
		REFUSED(gp_client_call(c, GP_KFD_IOC_UNMAP_MEMORY, &m, "UNMAP"), EBUSY);
		REFUSED(gp_client_call(c, GP_KFD_IOC_FREE_MEMORY, &f, "FREE"), EBUSY);
	}
	OK(gp_queue_destroy(&q));
}

/* A call of another process on our descriptor. */
static int in_child(struct gp_client *c, unsigned long request, void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ioctl(c->kfd_fd, request, arg) ? errno : 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

void numbers_and_owners(struct gp_client *c)
{
	static const u32 wrong[] = { 0x00, 0x27, 0x28, 0x50, 0x80, 0xff };
	struct gp_kfd_criu criu = { .op = GP_KFD_CRIU_PAUSE };
	struct gp_kfd_version v = { 0 };
	u32 bytes[32] = { 0 };

	for (u32 i = 0; i < 6; i++) {
		unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 'K', wrong[i], 8);

		REFUSED(gp_client_call(c, request, bytes, "unknown"), ENOTTY);
		/* Even before it is seen whose descriptor it is. */
		REFUSED(in_child(c, request, bytes), ENOTTY);
	}
	/* The first debugger's calls. */
	for (u32 nr = 0x0d; nr <= 0x10; nr++)
		REFUSED(gp_client_call(c, _IOW('K', nr, u64), bytes, "old debugger"), EPERM);
	REFUSED(in_child(c, GP_KFD_IOC_GET_VERSION, &v), EBADF);
	REFUSED(in_child(c, GP_KFD_IOC_CRIU, &criu), EBADF);
	REFUSED(gp_client_call(c, GP_KFD_IOC_GET_VERSION, NULL, "GET_VERSION"), EFAULT);
	REFUSED(gp_client_call(c, GP_KFD_IOC_UPDATE_QUEUE, NULL, "UPDATE_QUEUE"), EFAULT);
	/* The direction and the size are the caller's; only the number counts. */
	OK(gp_client_call(c, _IOC(_IOC_READ, 'K', 1, 4), &v, "half of GET_VERSION"));
	EXPECT_EQ(v.major, GP_KFD_MAJOR);
	EXPECT_EQ(v.minor, 0);
	OK(gp_client_call(c, GP_KFD_IOC_GET_VERSION, &v, "GET_VERSION"));
	EXPECT_EQ(v.minor, 17);
}
