/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Comparing our definitions with the kernel's: pairs of numbers under a claim, as TAP. */
#ifndef GP_LAB_ABI_H
#define GP_LAB_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gp_abi_pair {
	const char *name;	/* ours */
	uint64_t ours;
	uint64_t kernels;
};

struct gp_abi_claim {
	const char *claim;
	const struct gp_abi_pair *pairs;
	size_t nr;
};

#define VALUE(ours, kernels)	{ #ours, (uint64_t)(ours), (uint64_t)(kernels) }
#define SIZE(ours, kernels)	{ "size of " #ours, sizeof(ours), sizeof(kernels) }
#define WIDTH(type, field)	sizeof(((type *)0)->field)
/* Offset and size of a field. */
#define FIELD(type, field, ktype, kfield)					\
	{ #type "." #field, offsetof(type, field), offsetof(ktype, kfield) },	\
	{ "width of " #type "." #field, WIDTH(type, field), WIDTH(ktype, kfield) }

#define CLAIM(text, array) { text, array, sizeof(array) / sizeof((array)[0]) }

/* Prints the claims; how many do not hold. */
static inline int gp_abi_prove(const struct gp_abi_claim *claims, size_t nr)
{
	int broken = 0;

	printf("1..%zu\n", nr);
	for (size_t i = 0; i < nr; i++) {
		int wrong = 0;

		for (size_t p = 0; p < claims[i].nr; p++) {
			const struct gp_abi_pair *pair = &claims[i].pairs[p];

			if (pair->ours == pair->kernels)
				continue;
			printf("# %s is 0x%llx, the kernel's is 0x%llx\n", pair->name,
			       (unsigned long long)pair->ours, (unsigned long long)pair->kernels);
			wrong++;
		}
		printf("%sok %zu - %s (%zu numbers)\n", wrong ? "not " : "", i + 1,
		       claims[i].claim, claims[i].nr);
		broken += wrong != 0;
	}
	return broken;
}

#endif /* GP_LAB_ABI_H */
