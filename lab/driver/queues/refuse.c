// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The calls that the driver refuses, their errors, and that a refusal changes nothing. */
#include "queues.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
	PAGE		= 4096,
	RING		= 16384,
	NOTSUPP		= 524,	/* internal ENOTSUPP, which user space should not get */
};

#define KERNEL_ADDRESS	0xffff888000000000ull
#define NOT_MAPPED	0x700000000000ull

static u64 address(const void *at)
{
	return (u64)(uintptr_t)at;
}

/* The buffers of a queue, and the arguments of the call that creates it. */
struct parts {
	struct gp_buffer ring, pointers, eop, save, two_pages;
	struct kfd_ioctl_create_queue_args k;
};

static void make_parts(struct gp_lab_client *c, struct parts *p)
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
	p->k = (struct kfd_ioctl_create_queue_args){
		.ring_base_address = address(p->ring.at),
		.write_pointer_address = address(p->pointers.at),
		.read_pointer_address = address(p->pointers.at) + 64,
		.ring_size = RING,
		.gpu_id = c->node.gpu_id,
		.queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.queue_percentage = 100,
		.queue_priority = 7,
		.eop_buffer_address = address(p->eop.at),
		.eop_buffer_size = PAGE,
		.ctx_save_restore_address = address(p->save.at),
		.ctx_save_restore_size = g->save_bytes,
		.ctl_stack_size = g->ctl_stack_bytes,
	};
}

static int create(struct gp_lab_client *c, struct kfd_ioctl_create_queue_args k)
{
	return gp_client_call(c, AMDKFD_IOC_CREATE_QUEUE, &k, "CREATE_QUEUE");
}

/* Creates the same as an SDMA queue on @engine, a field that follows the older structure. */
static int create_on_engine(struct gp_lab_client *c, struct kfd_ioctl_create_queue_args k,
			    u32 engine)
{
	union gp_kfd_create_queue wide = { .args = k };

	wide.args.queue_type = KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID;
	wide.sdma_engine_id = engine;
	return gp_client_call(c, GP_KFD_IOC_CREATE_QUEUE, &wide, "CREATE_QUEUE");
}

static int queues_in_sysfs(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/queues", getpid());
	return probe_entries(path);
}

#define CREATE_REFUSED(err, ...)					\
do {									\
	struct kfd_ioctl_create_queue_args k = p.k;				\
									\
	__VA_ARGS__;							\
	REFUSED(create(c, k), err);					\
	EXPECT_EQ(queues_in_sysfs(), 0);				\
} while (0)

void create_refusals(struct gp_lab_client *c)
{
	struct probe_hiq since = probe_hiq();
	struct kfd_ioctl_destroy_queue_args d = { 0 };
	struct parts p = { 0 };

	make_parts(c, &p);
	CREATE_REFUSED(EINVAL, k.queue_percentage = 101);
	CREATE_REFUSED(EINVAL, k.queue_priority = 16);
	CREATE_REFUSED(EINVAL, k.ring_size = 3 * PAGE);
	CREATE_REFUSED(EFAULT, k.ring_base_address = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.read_pointer_address = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.write_pointer_address = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.eop_buffer_address = KERNEL_ADDRESS);
	CREATE_REFUSED(EFAULT, k.ctx_save_restore_address = KERNEL_ADDRESS);
	CREATE_REFUSED(NOTSUPP, k.queue_type = 5);
	CREATE_REFUSED(EINVAL, k.gpu_id++);
	/* The ring: not mapped, not its start, not its size (0 is taken as 1024). */
	CREATE_REFUSED(EINVAL, k.ring_base_address = 0);
	CREATE_REFUSED(EINVAL, k.ring_base_address = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.ring_base_address += PAGE);
	CREATE_REFUSED(EINVAL, k.ring_size = RING / 2);
	CREATE_REFUSED(EINVAL, k.ring_size = RING * 2);
	/* The pointers: each in a mapping of one page. */
	CREATE_REFUSED(EINVAL, k.write_pointer_address = 0);
	CREATE_REFUSED(EINVAL, k.write_pointer_address = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.write_pointer_address = address(p.two_pages.at));
	CREATE_REFUSED(EINVAL, k.read_pointer_address = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.read_pointer_address = address(p.two_pages.at) + PAGE);
	CREATE_REFUSED(EINVAL, k.eop_buffer_size = PAGE / 2);
	CREATE_REFUSED(EINVAL, k.eop_buffer_size = 2 * PAGE);
	CREATE_REFUSED(EINVAL, k.eop_buffer_address = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.ctl_stack_size -= PAGE);
	CREATE_REFUSED(EINVAL, k.ctl_stack_size += PAGE);
	CREATE_REFUSED(EINVAL, k.ctx_save_restore_size -= PAGE);
	CREATE_REFUSED(EINVAL, k.ctx_save_restore_size += PAGE);
	CREATE_REFUSED(EINVAL, k.ctx_save_restore_address = NOT_MAPPED);
	CREATE_REFUSED(EINVAL, k.ctx_save_restore_address = 0);
	REFUSED(create_on_engine(c, p.k, 99), EINVAL);
	EXPECT_EQ(queues_in_sysfs(), 0);
	COSTS(&since, "refused calls", 0, 0, 0, 0, 0);
	/*
	 * The refused calls hold no reference. The buffers still make a queue and can be freed
	 * then.
	 */
	OK(gp_client_call(c, AMDKFD_IOC_CREATE_QUEUE, &p.k, "CREATE_QUEUE"));
	d.queue_id = p.k.queue_id;
	OK(gp_client_call(c, AMDKFD_IOC_DESTROY_QUEUE, &d, "DESTROY_QUEUE"));
	OK(gp_buffer_free(c, &p.ring));
	OK(gp_buffer_free(c, &p.pointers));
	OK(gp_buffer_free(c, &p.eop));
	OK(gp_buffer_free(c, &p.save));
	OK(gp_buffer_free(c, &p.two_pages));
}

void create_without_vm(struct gp_lab_client *c)
{
	struct kfd_ioctl_create_queue_args k = { .ring_size = PAGE, .queue_percentage = 100 };
	struct gp_lab_client bare = { .kfd_fd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) };
	struct gp_node node;
	u32 nr;

	(void)c;
	EXPECT(bare.kfd_fd >= 0);
	OK(gp_topology_read(NULL, &node, 1, &nr));
	k.gpu_id = node.gpu_id;
	REFUSED(create(&bare, k), ESRCH);
}

static int update(struct gp_lab_queue *q, struct kfd_ioctl_update_queue_args u)
{
	return gp_client_call(q->c, AMDKFD_IOC_UPDATE_QUEUE, &u, "UPDATE_QUEUE");
}

#define UPDATE_REFUSED(err, ...)					\
do {									\
	struct kfd_ioctl_update_queue_args u = same;				\
									\
	__VA_ARGS__;							\
	REFUSED(update(&q, u), err);					\
} while (0)

void update_refusals(struct gp_lab_client *c)
{
	struct kfd_ioctl_update_queue_args same;
	struct probe_hiq since;
	struct gp_lab_queue q;
	struct gp_work w;

	probe_work(c, &w, 1, 1000);
	probe_queue(c, &q);
	same = (struct kfd_ioctl_update_queue_args){
		.ring_base_address = address(q.ring.at),
		.queue_id = q.id,
		.ring_size = q.ring_bytes,
		.queue_percentage = 100,
		.queue_priority = 7,
	};
	SOON(probe_mqd(0, MQD_ACTIVE));
	since = probe_hiq();
	UPDATE_REFUSED(EINVAL, u.queue_percentage = 101);
	UPDATE_REFUSED(EINVAL, u.queue_percentage = 255);
	UPDATE_REFUSED(EINVAL, u.queue_priority = 16);
	UPDATE_REFUSED(EINVAL, u.ring_size = 3 * PAGE);
	UPDATE_REFUSED(EFAULT, u.ring_base_address = KERNEL_ADDRESS);
	UPDATE_REFUSED(EFAULT, u.ring_base_address = NOT_MAPPED);
	UPDATE_REFUSED(EFAULT, u.ring_base_address += PAGE);
	UPDATE_REFUSED(EFAULT, u.ring_size /= 2);
	UPDATE_REFUSED(EFAULT, u.ring_size *= 2);
	UPDATE_REFUSED(EFAULT, u.queue_id = q.id + 1);
	UPDATE_REFUSED(EFAULT, u.queue_id = 0xffffffff);
	COSTS(&since, "refused updates", 0, 0, 0, 0, 0);
	OK(gp_work_submit(&w, 0, &q, 10, 1, NULL));
	probe_finish(&w);
}

static int cu_mask(struct gp_lab_queue *q, u32 id, u32 bits, const void *mask)
{
	struct kfd_ioctl_set_cu_mask_args m = { .queue_id = id,
						.num_cu_mask = bits,
						.cu_mask_ptr = address(mask) };

	return gp_client_call(q->c, AMDKFD_IOC_SET_CU_MASK, &m, "SET_CU_MASK");
}

static int wave_state_of(struct gp_lab_client *c, u32 id, u64 to)
{
	struct kfd_ioctl_get_queue_wave_state_args s = { .queue_id = id, .ctl_stack_address = to };

	return gp_client_call(c, AMDKFD_IOC_GET_QUEUE_WAVE_STATE, &s, "GET_QUEUE_WAVE_STATE");
}

void small_calls_refused(struct gp_lab_client *c)
{
	struct kfd_ioctl_destroy_queue_args d = { .queue_id = 77 };
	static u32 mask[64] = { [0 ... 63] = ~0u };
	u64 before = probe_hiq().runlists;
	struct gp_lab_queue q, s;
	struct probe_hiq since;

	probe_queue(c, &q);
	OK(gp_queue_create(c, &s, &(struct gp_queue_args){ .type = KFD_IOC_QUEUE_TYPE_SDMA }));
	SOON(probe_hiq().runlists == before + 2);
	since = probe_hiq();
	REFUSED(gp_client_call(c, AMDKFD_IOC_DESTROY_QUEUE, &d, "DESTROY_QUEUE"), EINVAL);
	REFUSED(cu_mask(&q, q.id, 0, mask), EINVAL);
	REFUSED(cu_mask(&q, q.id, 31, mask), EINVAL);
	REFUSED(cu_mask(&q, q.id, 33, mask), EINVAL);
	REFUSED(cu_mask(&q, 77, 32, mask), EFAULT);
	REFUSED(cu_mask(&q, q.id, 32, NULL), EFAULT);
	REFUSED(cu_mask(&q, q.id, 32, (void *)(uintptr_t)NOT_MAPPED), EFAULT);
	REFUSED(wave_state_of(c, 77, address(q.save.at)), EFAULT);
	/* The call fails while the queue is active, and always for an SDMA queue. */
	REFUSED(wave_state_of(c, q.id, address(q.save.at)), EINVAL);
	REFUSED(wave_state_of(c, s.id, address(q.save.at)), EINVAL);
	COSTS(&since, "refused calls", 0, 0, 0, 0, 0);
	/* Bits beyond 1024 are not read, so the rest of the array may be missing. */
	OK(cu_mask(&q, q.id, 1u << 20, mask));
	OK(gp_queue_update(&q, 0, 7));
	OK(wave_state_of(c, q.id, address(q.save.at)));
	REFUSED(wave_state_of(c, q.id, NOT_MAPPED), EFAULT);
	OK(gp_queue_update(&s, 0, 7));
	REFUSED(wave_state_of(c, s.id, address(q.save.at)), EINVAL);
}

void memory_in_use(struct gp_lab_client *c)
{
	struct kfd_ioctl_free_memory_of_gpu_args f;
	struct gp_buffer *parts[4];
	struct gp_lab_queue q;

	probe_queue(c, &q);
	parts[0] = &q.ring;
	parts[1] = &q.pointers;
	parts[2] = &q.eop;
	parts[3] = &q.save;
	for (u32 i = 0; i < 4; i++) {
		u32 gpu = c->node.gpu_id;
		struct kfd_ioctl_map_memory_to_gpu_args m = { .handle = parts[i]->handle,
							      .n_devices = 1,
							      .device_ids_array_ptr =
								      address(&gpu) };

		f.handle = parts[i]->handle;
		REFUSED(gp_client_call(c, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, &m, "UNMAP"), EBUSY);
		REFUSED(gp_client_call(c, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &f, "FREE"), EBUSY);
	}
	OK(gp_queue_destroy(&q));
}

/* Makes a call on our descriptor from another process. */
static int in_child(struct gp_lab_client *c, unsigned long request, void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(ioctl(c->kfd_fd, request, arg) ? errno : 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

void numbers_and_owners(struct gp_lab_client *c)
{
	static const u32 wrong[] = { 0x00, 0x27, 0x28, 0x50, 0x80, 0xff };
	struct kfd_ioctl_criu_args criu = { .op = KFD_CRIU_OP_PROCESS_INFO };
	struct kfd_ioctl_get_version_args v = { 0 };
	u32 bytes[32] = { 0 };

	for (u32 i = 0; i < 6; i++) {
		unsigned long request = _IOC(_IOC_READ | _IOC_WRITE, 'K', wrong[i], 8);

		REFUSED(gp_client_call(c, request, bytes, "unknown"), ENOTTY);
		/* The driver checks the number before the owner of the descriptor. */
		REFUSED(in_child(c, request, bytes), ENOTTY);
	}
	/* The calls of the first debugger interface. */
	for (u32 nr = 0x0d; nr <= 0x10; nr++)
		REFUSED(gp_client_call(c, _IOW('K', nr, u64), bytes, "old debugger"), EPERM);
	REFUSED(in_child(c, AMDKFD_IOC_GET_VERSION, &v), EBADF);
	REFUSED(in_child(c, AMDKFD_IOC_CRIU_OP, &criu), EBADF);
	REFUSED(gp_client_call(c, AMDKFD_IOC_GET_VERSION, NULL, "GET_VERSION"), EFAULT);
	REFUSED(gp_client_call(c, AMDKFD_IOC_UPDATE_QUEUE, NULL, "UPDATE_QUEUE"), EFAULT);
	/* Only the number of the call counts. The caller chooses direction and size. */
	OK(gp_client_call(c, _IOC(_IOC_READ, 'K', 1, 4), &v, "half of GET_VERSION"));
	EXPECT_EQ(v.major_version, KFD_IOCTL_MAJOR_VERSION);
	EXPECT_EQ(v.minor_version, 0);
	OK(gp_client_call(c, AMDKFD_IOC_GET_VERSION, &v, "GET_VERSION"));
	EXPECT_EQ(v.minor_version, 17);
}
