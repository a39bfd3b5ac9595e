/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Prints answers of the daemon in the text format of Prometheus. */
#ifndef GP_PROMETHEUS_H
#define GP_PROMETHEUS_H

#include <jansson.h>
#include <stdio.h>

struct gp_prometheus {
	json_t *status, *list, *stats;	/* answers to the methods of that name */
};

/*
 * The labels have the names that AMD's device metrics exporter uses, so that queries can join
 * both: hostname, gpu_id (the index), gpu_partition_id, card_model, kfd_process_id.
 */
void gp_prometheus_print(const struct gp_prometheus *from, FILE *to);

#endif /* GP_PROMETHEUS_H */
