// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* -g: selects GPUs of an answer. */
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "lib/gpu.h"

static void read_gpu(const json_t *from, struct gp_gpu_info *ret)
{
	*ret = (struct gp_gpu_info){
		.index = (u32)gp_ask_number(from, "index"),
		.gpu_id = (u32)gp_ask_number(from, "gpu_id"),
		.partition = (u32)gp_ask_number(from, "partition"),
	};
	snprintf(ret->bdf, sizeof(ret->bdf), "%s", gp_ask_text(from, "bdf"));
	if (sscanf(ret->bdf, "%x:%x:%x.%x", &ret->domain, &ret->bus, &ret->device,
		   &ret->function) != 4)
		ret->domain = UINT32_MAX;	/* no address names it */
}

int gp_ask_gpus(const json_t *list, const char *text, u64 *ret)
{
	json_t *all = json_object_get(list, "gpus");
	struct gp_gpu_info gpu[GP_GPUS_MAX];
	u32 n = (u32)json_array_size(all);
	const char *bad = text;
	int err;

	if (!text) {
		*ret = ~0ull;
		return GP_EXIT_OK;
	}
	n = n < GP_GPUS_MAX ? n : GP_GPUS_MAX;
	for (u32 i = 0; i < n; i++)
		read_gpu(json_array_get(all, i), &gpu[i]);
	err = gp_gpus_select(gpu, n, text, ret, &bad);
	if (err == -ENOENT)
		gp_error("--gpu: no GPU '%.*s'; 'gpreempt list' has them", (int)strcspn(bad, ","),
			 bad);
	else if (err)
		gp_error("--gpu: '%.*s' is not an index, an address such as 0000:c1:00.0, or all",
			 (int)strcspn(bad, ","), bad);
	return gp_ask_code(err);
}

/* Keeps the members of @array whose @key is in @mask. */
static void keep(json_t *array, const char *key, u64 mask)
{
	for (size_t i = json_array_size(array); i-- > 0;) {
		u64 index = gp_ask_number(json_array_get(array, i), key);

		if (index >= GP_GPUS_MAX || !(mask & BIT_ULL(index)))
			json_array_remove(array, i);
	}
}

void gp_ask_keep(json_t *list, u64 mask)
{
	json_t *processes = json_object_get(list, "processes");

	if (mask == ~0ull)
		return;
	keep(json_object_get(list, "gpus"), "index", mask);
	for (size_t i = json_array_size(processes); i-- > 0;) {
		json_t *process = json_array_get(processes, i);
		json_t *seats = json_object_get(process, "seats");
		json_t *queues = json_object_get(process, "queues");

		keep(seats, "gpu", mask);
		keep(queues, "gpu", mask);
		if (!json_array_size(seats) && !json_array_size(queues))
			json_array_remove(processes, i);
	}
}

u64 gp_ask_queues(const json_t *process)
{
	json_t *entry;
	u64 gpus = 0;
	size_t i;

	/* The queues of another user's process are not shown. */
	json_array_foreach(json_object_get(process, "gpus"), i, entry) {
		json_int_t gpu = json_integer_value(entry);

		if (gpu >= 0 && gpu < GP_GPUS_MAX)
			gpus |= BIT_ULL(gpu);
	}
	json_array_foreach(json_object_get(process, "queues"), i, entry) {
		json_int_t gpu = json_integer_value(json_object_get(entry, "gpu"));

		/* -1: the GPU is not managed by the daemon */
		if (gpu >= 0 && gpu < GP_GPUS_MAX)
			gpus |= BIT_ULL(gpu);
	}
	return gpus;
}
