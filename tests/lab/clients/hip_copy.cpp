// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A HIP program: properties, streams, copies both ways, a kernel, events.
 *
 * The kernel's effects are not looked at: the lab's device runs code it does not know as time only.
 */
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <cstring>

#include "claim.h"

static constexpr unsigned int kBlocks = 80, kThreads = 256;

__global__ void touch(unsigned int *out)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

static bool worked(hipError_t error, const char *what)
{
	if (error == hipSuccess)
		return claim(true, "%s", what);
	return claim(false, "%s: %s", what, hipGetErrorString(error));
}

static bool see_device()
{
	hipDeviceProp_t properties;
	int count = 0;

	if (!worked(hipGetDeviceCount(&count), "the runtime starts"))
		return false;
	claim(count >= 1, "it finds %d device(s)", count);
	if (!worked(hipGetDeviceProperties(&properties, 0), "the device has properties"))
		return false;
	return claim(properties.multiProcessorCount > 0,
		     "the device is %s with %d compute units and %zu MiB", properties.gcnArchName,
		     properties.multiProcessorCount, properties.totalGlobalMem >> 20);
}

/* To the device and back in @stream, from @pinned or ordinary memory. */
static void check_copy(hipStream_t stream, size_t size, bool pinned)
{
	unsigned int seed = (unsigned int)(size + pinned);
	unsigned char *there, *back, *device = nullptr;
	hipError_t error = hipSuccess;

	if (pinned) {
		error = hipHostMalloc((void **)&there, size, 0);
		if (error == hipSuccess)
			error = hipHostMalloc((void **)&back, size, 0);
	} else {
		there = (unsigned char *)malloc(size);
		back = (unsigned char *)malloc(size);
	}
	if (error == hipSuccess)
		error = hipMalloc((void **)&device, size);
	if (!worked(error, "memory can be allocated"))
		return;
	pattern_fill(there, size, seed);
	memset(back, 0xee, size);
	error = hipMemcpyAsync(device, there, size, hipMemcpyHostToDevice, stream);
	if (error == hipSuccess)
		error = hipMemcpyAsync(back, device, size, hipMemcpyDeviceToHost, stream);
	if (error == hipSuccess)
		error = hipStreamSynchronize(stream);
	if (worked(error, "a copy there and back ends"))
		claim(pattern_differs(back, size, seed) == size, "%zu %s bytes come back as they went",
		      size, pinned ? "pinned" : "pageable");
	worked(hipFree(device), "device memory can be freed");
	if (pinned) {
		(void)hipHostFree(there);
		(void)hipHostFree(back);
	} else {
		free(there);
		free(back);
	}
}

/* A kernel between two events; a second stream waits for the later one. */
static void check_kernel(hipStream_t stream, hipStream_t other)
{
	hipEvent_t before, after;
	unsigned int *out = nullptr;
	float elapsed = -1;

	if (!worked(hipEventCreate(&before), "an event can be created") ||
	    !worked(hipEventCreate(&after), "another event can be created") ||
	    !worked(hipMalloc((void **)&out, kBlocks * kThreads * sizeof(*out)), "memory for it"))
		return;
	worked(hipEventRecord(before, stream), "an event can be recorded");
	touch<<<kBlocks, kThreads, 0, stream>>>(out);
	worked(hipGetLastError(), "a kernel can be launched");
	worked(hipEventRecord(after, stream), "the end can be recorded");
	worked(hipStreamWaitEvent(other, after, 0), "a second stream can wait for it");
	worked(hipStreamSynchronize(other), "the second stream comes to its end");
	worked(hipEventSynchronize(after), "the end comes");
	worked(hipEventElapsedTime(&elapsed, before, after), "the time between can be asked for");
	claim(elapsed >= 0 && elapsed < 60000, "it took %.3f ms of device time", (double)elapsed);
	worked(hipEventDestroy(before), "the event can be destroyed");
	worked(hipEventDestroy(after), "the other event can be destroyed");
	worked(hipFree(out), "its memory can be freed");
}

int main()
{
	static const size_t sizes[] = { 1, 4097, 1 << 20, (3 << 20) + 5 };
	hipStream_t stream, urgent;
	int lowest = 0, highest = 0;

	if (!see_device())
		return 1;
	worked(hipDeviceGetStreamPriorityRange(&lowest, &highest), "priorities have a range");
	if (!worked(hipStreamCreate(&stream), "a stream can be created") ||
	    !worked(hipStreamCreateWithPriority(&urgent, hipStreamDefault, highest),
		    "an urgent stream can be created"))
		return 1;
	for (size_t size : sizes) {
		check_copy(stream, size, true);
		check_copy(urgent, size, false);
	}
	check_kernel(stream, urgent);
	worked(hipDeviceSynchronize(), "the device comes to rest");
	worked(hipStreamDestroy(stream), "the stream can be destroyed");
	worked(hipStreamDestroy(urgent), "the urgent stream can be destroyed");
	return claims_broken != 0;
}
