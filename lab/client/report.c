// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The report of gpload at its end. */
#include "load.h"

static const struct {
	const char *name;
	u32 permyriad;
} quantiles[] = {
	{ "p50", 5000 }, { "p90", 9000 }, { "p99", 9900 }, { "p999", 9990 },
};

enum { QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

static u64 elapsed_ns(const struct gp_load *l)
{
	return l->last_done_ns > l->start_ns ? l->last_done_ns - l->start_ns : 0;
}

static double per_second(const struct gp_load *l)
{
	u64 ns = elapsed_ns(l);

	return ns ? (double)l->completed * 1e9 / (double)ns : 0;
}

static double ms(u64 ns)
{
	return (double)ns / 1e6;
}

/*
 * One octave of the histogram: the number of values below @ret_below and not in the octave
 * before.
 */
static u64 octave(const struct gp_hist *h, u32 nr, u64 *ret_below)
{
	u64 count = 0;

	for (u32 i = 0; i < GP_HIST_SUB; i++)
		count += h->bucket[nr * GP_HIST_SUB + i];
	*ret_below = (u64)GP_HIST_SUB << nr;
	return count;
}

void gp_load_report(const struct gp_load *l, int err, FILE *out)
{
	fprintf(out, "gpload-%s: %u queues on GPU %u (gpu_id %u, gfx version %u, %u XCC)\n",
		l->o->class, l->o->queues, l->o->gpu, l->c.node.gpu_id, l->c.node.gfx_version,
		l->c.node.xccs);
	fprintf(out, "kernel      %u workgroups of %u waves, %.3f ms each\n", l->workgroups,
		l->waves, ms(l->o->kernel_ns));
	fprintf(out, "requests    %llu submitted, %llu completed\n",
		(unsigned long long)l->submitted, (unsigned long long)l->completed);
	fprintf(out, "throughput  %.3f requests/s over %.6f s\n", per_second(l),
		(double)elapsed_ns(l) / 1e9);
	fprintf(out, "latency     mean %.3f ms", ms(gp_hist_mean(&l->latency)));
	for (u32 i = 0; i < QUANTILES; i++)
		fprintf(out, ", %s %.3f ms", quantiles[i].name,
			ms(gp_hist_quantile(&l->latency, quantiles[i].permyriad)));
	fprintf(out, ", max %.3f ms\n", ms(l->latency.max));
	for (u32 i = 0; i <= GP_HIST_OCTAVES; i++) {
		u64 below, count = octave(&l->latency, i, &below);

		if (count)
			fprintf(out, "            below %12.3f ms  %llu\n", ms(below),
				(unsigned long long)count);
	}
	fprintf(out, "times are of a model's device clock, not of hardware\n");
	if (!err)
		fprintf(out, "every workgroup ran exactly once\n");
}

/* Escapes quotes and backslashes, the only bytes of the messages that JSON wants escaped. */
static void print_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		if ((unsigned char)*text >= ' ')
			fputc(*text, out);
	}
	fputc('"', out);
}

static void print_latency(const struct gp_load *l, FILE *out)
{
	const char *comma = "";

	fprintf(out, "  \"latency_ns\": { \"count\": %llu, \"mean\": %llu",
		(unsigned long long)l->latency.count,
		(unsigned long long)gp_hist_mean(&l->latency));
	for (u32 i = 0; i < QUANTILES; i++)
		fprintf(out, ", \"%s\": %llu", quantiles[i].name, (unsigned long long)
			gp_hist_quantile(&l->latency, quantiles[i].permyriad));
	fprintf(out, ", \"max\": %llu },\n  \"histogram\": [", (unsigned long long)l->latency.max);
	for (u32 i = 0; i <= GP_HIST_OCTAVES; i++) {
		u64 below, count = octave(&l->latency, i, &below);

		if (!count)
			continue;
		fprintf(out, "%s{ \"below_ns\": %llu, \"count\": %llu }", comma,
			(unsigned long long)below, (unsigned long long)count);
		comma = ", ";
	}
	fprintf(out, "],\n");
}

static void print_queues(const struct gp_load *l, FILE *out)
{
	fprintf(out, "  \"queues\": [");
	for (u32 i = 0; i < l->created; i++) {
		const struct gp_load_queue *lq = &l->queues[i];

		fprintf(out, "%s\n    { \"id\": %u, \"submitted\": %llu, \"completed\": %llu }",
			i ? "," : "", lq->q.id, (unsigned long long)lq->submitted,
			(unsigned long long)lq->completed);
	}
	fprintf(out, "\n  ],\n");
}

void gp_load_report_json(const struct gp_load *l, int err, FILE *out)
{
	const char *wrong = l->lost[0] ? l->lost : l->stuck[0] ? l->stuck :
			    err ? gp_client_error() : "";

	fprintf(out, "{\n  \"schema\": 1,\n  \"program\": \"gpload\",\n"
		"  \"source\": \"a model's device clock, not hardware\",\n"
		"  \"class\": \"%s\",\n  \"gpu_id\": %u,\n  \"gfx_version\": %u,\n",
		l->o->class, l->c.node.gpu_id, l->c.node.gfx_version);
	fprintf(out, "  \"kernel\": { \"workgroups\": %u, \"waves_per_workgroup\": %u, "
		"\"workgroup_ns\": %llu },\n", l->workgroups, l->waves,
		(unsigned long long)l->o->kernel_ns);
	fprintf(out, "  \"submitted\": %llu,\n  \"completed\": %llu,\n  \"elapsed_ns\": %llu,\n"
		"  \"requests_per_s\": %.3f,\n", (unsigned long long)l->submitted,
		(unsigned long long)l->completed, (unsigned long long)elapsed_ns(l), per_second(l));
	print_latency(l, out);
	print_queues(l, out);
	fprintf(out, "  \"verified\": %s,\n  \"wrong\": ", err ? "false" : "true");
	print_string(wrong, out);
	fprintf(out, "\n}\n");
}
