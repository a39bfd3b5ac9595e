// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Faults of the model by name. Some names take a number after a colon or a blank. The parameter
 * fault= (a list with commas) sets faults at load time, debugfs later.
 */
#include "gpu.h"
#include "record.h"

static const struct {
	const char *name;
	enum vgpu_fault fault;
	bool has_number;
} faults[] = {
	{ "none", VGPU_FAULT_NONE, false },
	{ "hang", VGPU_FAULT_HANG, false },
	{ "preempt", VGPU_FAULT_PREEMPT, true },	/* doorbell */
	{ "slow-save", VGPU_FAULT_SLOW_SAVE, true },	/* times */
	{ "rptr-early", VGPU_FAULT_RPTR_EARLY, false },
};

static int parse(char *text, enum vgpu_fault *fault, u64 *number)
{
	char *name = strim(text), *rest = strpbrk(name, ": ");
	size_t i;

	if (rest)
		*rest++ = '\0';
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(name, faults[i].name))
			continue;
		*fault = faults[i].fault;
		if (faults[i].has_number != !!rest)
			return -EINVAL;
		return rest ? kstrtou64(strim(rest), 0, number) : 0;
	}
	return -EINVAL;
}

/* Sets the fault @text, and modifies @text. Returns 0, -EINVAL, or the chip's error. */
int lab_fault_set(struct lab_gpu *gpu, char *text)
{
	enum vgpu_fault fault;
	u64 number = 0;
	int r;

	r = parse(text, &fault, &number);
	if (r)
		return r;
	spin_lock(&gpu->lock);
	r = lab_chip_fault(gpu, fault, number, lab_clock_now(&gpu->clock));
	spin_unlock(&gpu->lock);
	return r;
}

int lab_fault_init(struct lab_gpu *gpu)
{
	char *copy = kstrdup(lab_fault_names, GFP_KERNEL), *rest = copy, *one;
	int r = 0;

	if (!copy)
		return -ENOMEM;
	while (!r && (one = strsep(&rest, ",")))
		r = lab_fault_set(gpu, one);
	if (r)
		dev_err(gpu->adev.dev, "fault=%s: %s; see modinfo amdgpu\n", lab_fault_names,
			r == -ENOENT ? "no such queue yet" : "unknown");
	kfree(copy);
	return r;
}
