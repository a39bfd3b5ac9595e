/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The options of gpload. */
#ifndef GP_LAB_OPTIONS_H
#define GP_LAB_OPTIONS_H

#include "client.h"

enum gp_load_wait { GP_LOAD_POLL, GP_LOAD_EVENT };

struct gp_load_options {
	const char *class;	/* "offline" or "online" */
	u32 queues;
	u64 kernel_ns;		/* how long each workgroup runs */
	u32 waves;		/* of a kernel; 0: as many as the GPU runs at once */
	u32 workgroups;		/* 0: as few as hold the waves */
	u64 requests;		/* 0: no limit */
	u64 seconds_ns;		/* of the device clock; 0: no limit */
	u64 rate_milli;		/* Poisson arrivals per 1000 s; 0: closed loop */
	u32 depth;		/* requests in flight per queue, at most */
	u64 warm_up;		/* requests whose latency is not counted */
	u64 spoil;		/* the request whose result is made wrong; 0: none */
	u64 seed;
	u64 patience_ns;	/* longest time without a completion; 0: no limit */
	u64 print_every_ns;
	bool print_submits;	/* print when each was submitted, by this machine's clock */
	bool print_kernels;	/* print when each started and ended, by the device's clock */
	u32 gpu;
	enum gp_memory pointers;
	enum gp_save_area save_area;
	enum gp_load_wait wait;
	bool one_vm;		/* acquire only the VM of its own GPU */
	u64 linger_ns;		/* sleep at the start and the end of its runtime */
	void (*at_runtime)(bool begins);	/* gp_client_args; the caller's */
	bool json;
	bool check;
	bool help;
};

extern const char gp_load_help[];

/* 0, or -EINVAL with one line in gp_client_error(). */
int gp_load_parse(int argc, const char *const argv[], struct gp_load_options *ret);

/* Computes the shape of a kernel on @node. 0, or -EINVAL with a message. */
int gp_load_shape(const struct gp_load_options *o, const struct gp_node *node, u32 *ret_workgroups,
		  u32 *ret_waves);

/* "20ms", "1.5s", "300us", "50ns". 0 or -EINVAL. */
int gp_load_duration(const char *text, u64 *ret_ns);

#endif /* GP_LAB_OPTIONS_H */
