/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Answers of the daemon as the text that Prometheus reads. */
#ifndef GP_PROMETHEUS_H
#define GP_PROMETHEUS_H

#include <jansson.h>
#include <stdio.h>

struct gp_prometheus {
	json_t *status, *list, *stats;	/* answers to the methods of that name */
};

/*
 * Labels are named as by AMD's device metrics exporter, so that the two can be joined:
 * hostname, gpu_id (the index), gpu_partition_id, card_model, kfd_process_id.
 */
void gp_prometheus_print(const struct gp_prometheus *from, FILE *to);

#endif /* GP_PROMETHEUS_H */
