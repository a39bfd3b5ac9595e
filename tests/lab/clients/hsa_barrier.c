// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A client of AMD's own runtime (libhsa-runtime64): queues, barrier packets, signals, copies.
 *
 * No kernel code is involved, so every claim is about what the device really did.
 */
#define _GNU_SOURCE
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "claim.h"

#define QUEUE_PACKETS	64
#define LONG_RUN	200		/* packets: three times round the ring */
#define RELEASE_AFTER	300000		/* microseconds, far above ROCr's 200 of spinning */
#define PATIENCE	(60 * 1000000000ull)

struct gpu {
	hsa_agent_t agent, cpu;
	hsa_amd_memory_pool_t vram, host;
	hsa_queue_t *queue[2];
};

struct late_store {
	hsa_signal_t signal;
	pthread_t thread;
};

static bool worked(hsa_status_t status, const char *what)
{
	const char *text = "unknown";

	if (status != HSA_STATUS_SUCCESS)
		hsa_status_string(status, &text);
	return claim(status == HSA_STATUS_SUCCESS, "%s%s%s", what,
		     status == HSA_STATUS_SUCCESS ? "" : ": ",
		     status == HSA_STATUS_SUCCESS ? "" : text);
}

static hsa_signal_t signal_of(hsa_signal_value_t value)
{
	hsa_signal_t signal = {0};

	if (hsa_signal_create(value, 0, NULL, &signal) != HSA_STATUS_SUCCESS)
		claim(false, "a signal can be created");
	return signal;
}

/* Wait until @signal is 0. With HSA_WAIT_STATE_BLOCKED this sleeps in the driver. */
static bool comes_to_zero(hsa_signal_t signal, hsa_wait_state_t how)
{
	return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, PATIENCE, how) == 0;
}

static void *store_late(void *arg)
{
	struct late_store *late = arg;

	usleep(RELEASE_AFTER);
	hsa_signal_store_screlease(late->signal, 0);
	return NULL;
}

static void release_later(struct late_store *late, hsa_signal_t signal)
{
	late->signal = signal;
	if (pthread_create(&late->thread, NULL, store_late, late))
		claim(false, "a thread can be created");
}

/* --- finding the GPU ------------------------------------------------------------- */

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
	struct gpu *gpu = data;
	hsa_device_type_t type;

	hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type == HSA_DEVICE_TYPE_GPU && !gpu->agent.handle)
		gpu->agent = agent;
	if (type == HSA_DEVICE_TYPE_CPU && !gpu->cpu.handle)
		gpu->cpu = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_memory_pool_t *found = data;
	hsa_amd_segment_t segment;
	bool allocates = false;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
				     &allocates);
	if (segment == HSA_AMD_SEGMENT_GLOBAL && allocates && !found->handle)
		*found = pool;
	return HSA_STATUS_SUCCESS;
}

static bool find_gpu(struct gpu *gpu)
{
	char name[64] = "";
	uint32_t units = 0;

	hsa_iterate_agents(see_agent, gpu);
	if (!claim(gpu->agent.handle && gpu->cpu.handle, "there is a GPU agent and a CPU agent"))
		return false;
	hsa_agent_get_info(gpu->agent, HSA_AGENT_INFO_NAME, name);
	hsa_agent_get_info(gpu->agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
			   &units);
	claim(units > 0, "the GPU is %s with %u compute units", name, units);
	hsa_amd_agent_iterate_memory_pools(gpu->agent, see_pool, &gpu->vram);
	hsa_amd_agent_iterate_memory_pools(gpu->cpu, see_pool, &gpu->host);
	return claim(gpu->vram.handle && gpu->host.handle, "device and host have memory pools");
}

/* --- barrier packets ---------------------------------------------------------------- */

struct barrier {
	hsa_packet_type_t type;		/* BARRIER_AND or BARRIER_OR */
	hsa_signal_t dependency, other, completion;
};

#define BARRIER_HEADER (1 << HSA_PACKET_HEADER_BARRIER | \
			HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE | \
			HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

/* Put a packet into @queue and ring. */
static void submit(hsa_queue_t *queue, struct barrier barrier)
{
	uint16_t header = (uint16_t)(barrier.type << HSA_PACKET_HEADER_TYPE | BARRIER_HEADER);
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
	hsa_barrier_and_packet_t *packet;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	packet = (hsa_barrier_and_packet_t *)queue->base_address + index % queue->size;
	memset((char *)packet + sizeof(header), 0, sizeof(*packet) - sizeof(header));
	packet->dep_signal[0] = barrier.dependency;
	packet->dep_signal[3] = barrier.other;
	packet->completion_signal = barrier.completion;
	__atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* A barrier-AND of one dependency, or none. */
static struct barrier and_barrier(hsa_signal_t dependency, hsa_signal_t completion)
{
	return (struct barrier){ .type = HSA_PACKET_TYPE_BARRIER_AND, .dependency = dependency,
				 .completion = completion };
}

static const hsa_signal_t no_signal;

static void check_plain_barriers(struct gpu *gpu)
{
	hsa_signal_t done = signal_of(1);

	submit(gpu->queue[0], and_barrier(no_signal, done));
	claim(comes_to_zero(done, HSA_WAIT_STATE_ACTIVE), "a barrier-AND completes (active wait)");
	hsa_signal_store_relaxed(done, LONG_RUN);
	for (int i = 0; i < LONG_RUN; i++)
		submit(gpu->queue[0], and_barrier(no_signal, done));
	claim(comes_to_zero(done, HSA_WAIT_STATE_BLOCKED),
	      "%d packets go round a ring of %d, each decrements the signal once", LONG_RUN,
	      QUEUE_PACKETS);
	hsa_signal_destroy(done);
}

static void check_blocked_wait(struct gpu *gpu)
{
	hsa_signal_t gate = signal_of(1), done = signal_of(1);
	struct late_store late;

	submit(gpu->queue[0], and_barrier(gate, done));
	release_later(&late, gate);
	claim(hsa_signal_load_scacquire(done) == 1, "a barrier waits for its dependency");
	claim(comes_to_zero(done, HSA_WAIT_STATE_BLOCKED), "its end wakes a blocked wait (event)");
	pthread_join(late.thread, NULL);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
}

static void check_or(struct gpu *gpu)
{
	hsa_signal_t never = signal_of(1), gate = signal_of(1), done = signal_of(1);
	struct late_store late;

	submit(gpu->queue[0], (struct barrier){ .type = HSA_PACKET_TYPE_BARRIER_OR,
	       .dependency = never, .other = gate, .completion = done });
	usleep(RELEASE_AFTER / 3);
	claim(hsa_signal_load_scacquire(done) == 1, "a barrier-OR waits while none is met");
	release_later(&late, gate);
	claim(comes_to_zero(done, HSA_WAIT_STATE_BLOCKED), "a barrier-OR ends with one of two");
	pthread_join(late.thread, NULL);
	hsa_signal_destroy(never);
	hsa_signal_destroy(gate);
	hsa_signal_destroy(done);
}

static void check_two_queues(struct gpu *gpu)
{
	hsa_signal_t gate = signal_of(1), first = signal_of(1), second = signal_of(1);

	submit(gpu->queue[1], and_barrier(first, second));
	submit(gpu->queue[0], and_barrier(gate, first));
	usleep(RELEASE_AFTER / 3);
	claim(hsa_signal_load_scacquire(first) == 1 && hsa_signal_load_scacquire(second) == 1,
	      "two queues wait, the second for the first");
	hsa_signal_store_screlease(gate, 0);
	claim(comes_to_zero(second, HSA_WAIT_STATE_BLOCKED) && !hsa_signal_load_scacquire(first),
	      "the end of a packet in one queue releases the other");
	hsa_signal_destroy(gate);
	hsa_signal_destroy(first);
	hsa_signal_destroy(second);
}

/* --- copies -------------------------------------------------------------------------- */

struct buffers {
	unsigned char *host, *back, *device, *device2;
	size_t size;
};

static bool allocate(struct gpu *gpu, struct buffers *b)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	status |= hsa_amd_memory_pool_allocate(gpu->host, b->size, 0, (void **)&b->host);
	status |= hsa_amd_memory_pool_allocate(gpu->host, b->size, 0, (void **)&b->back);
	status |= hsa_amd_memory_pool_allocate(gpu->vram, b->size, 0, (void **)&b->device);
	status |= hsa_amd_memory_pool_allocate(gpu->vram, b->size, 0, (void **)&b->device2);
	if (status == HSA_STATUS_SUCCESS) {
		status |= hsa_amd_agents_allow_access(1, &gpu->agent, NULL, b->host);
		status |= hsa_amd_agents_allow_access(1, &gpu->agent, NULL, b->back);
	}
	return claim(status == HSA_STATUS_SUCCESS, "%zu bytes of memory on both sides", b->size);
}

/*
 * Host to device, to another place on the device, back to the host; each step waits for the one
 * before by a signal. Below 1 MiB ROCr does all three by SDMA.
 */
static void check_copies(struct gpu *gpu, size_t size)
{
	hsa_signal_t up = signal_of(1), across = signal_of(1), down = signal_of(1);
	hsa_amd_profiling_async_copy_time_t time = {0};
	struct buffers b = { .size = size };
	hsa_status_t status;

	if (!allocate(gpu, &b))
		return;
	pattern_fill(b.host, size, (unsigned int)size);
	memset(b.back, 0xee, size);
	status = hsa_amd_memory_async_copy(b.device, gpu->agent, b.host, gpu->cpu, size,
					   0, NULL, up);
	status |= hsa_amd_memory_async_copy(b.device2, gpu->agent, b.device, gpu->agent, size,
					    1, &up, across);
	status |= hsa_amd_memory_async_copy(b.back, gpu->cpu, b.device2, gpu->agent, size,
					    1, &across, down);
	claim(status == HSA_STATUS_SUCCESS, "copies of %zu bytes are accepted", size);
	if (claim(comes_to_zero(down, HSA_WAIT_STATE_BLOCKED), "the last of three copies ends"))
		claim(pattern_differs(b.back, size, (unsigned int)size) == size,
		      "%zu bytes come back as they went", size);
	hsa_amd_profiling_get_async_copy_time(up, &time);
	claim(time.end > time.start && time.start, "the first copy took %lu ns of device time",
	      (unsigned long)(time.end - time.start));
	hsa_amd_memory_pool_free(b.host);
	hsa_amd_memory_pool_free(b.back);
	hsa_amd_memory_pool_free(b.device);
	hsa_amd_memory_pool_free(b.device2);
	hsa_signal_destroy(up);
	hsa_signal_destroy(across);
	hsa_signal_destroy(down);
}

/* ------------------------------------------------------------------------------------- */

static bool create_queues(struct gpu *gpu)
{
	for (int i = 0; i < 2; i++) {
		hsa_status_t status = hsa_queue_create(gpu->agent, QUEUE_PACKETS,
						       HSA_QUEUE_TYPE_MULTI, NULL, NULL,
						       UINT32_MAX, UINT32_MAX, &gpu->queue[i]);

		if (!worked(status, "a queue can be created"))
			return false;
	}
	return true;
}

int main(void)
{
	struct gpu gpu = {0};

	if (!worked(hsa_init(), "the runtime starts"))
		return 1;
	if (find_gpu(&gpu) && create_queues(&gpu)) {
		hsa_amd_profiling_async_copy_enable(true);
		check_plain_barriers(&gpu);
		check_blocked_wait(&gpu);
		check_or(&gpu);
		check_two_queues(&gpu);
		worked(hsa_amd_queue_set_priority(gpu.queue[1], HSA_AMD_QUEUE_PRIORITY_HIGH),
		       "a queue's priority can be changed");
		check_copies(&gpu, 4097);
		check_copies(&gpu, 1000003);
		worked(hsa_queue_destroy(gpu.queue[0]), "the first queue can be destroyed");
		worked(hsa_queue_destroy(gpu.queue[1]), "the second queue can be destroyed");
	}
	worked(hsa_shut_down(), "the runtime stops");
	return claims_broken != 0;
}
