// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpload: a program that uses the lab's GPU and verifies its results. See --help. */
#include "load.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { RIGHT = 0, LOST = 1, USAGE = 2, STUCK = 3 };

static volatile int stop;
static struct gp_load_options o;

static void on_signal(int nr)
{
	(void)nr;
	stop = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

static void set_name(const char *what)
{
	char name[16];

	snprintf(name, sizeof(name), "gpload-%s", what);
	prctl(PR_SET_NAME, name);
}

/* Sleeps under another name, so that a test can find the process at this point. */
static void linger(bool begins)
{
	struct timespec t = {
		.tv_sec = (time_t)(o.linger_ns / 1000000000),
		.tv_nsec = (long)(o.linger_ns % 1000000000),
	};

	set_name(begins ? "init" : "exit");
	while (nanosleep(&t, &t) && errno == EINTR)
		;
	set_name(o.class);
}

static int complain(const char *line)
{
	fprintf(stderr, "gpload: %s\n", line);
	return USAGE;
}

static void print_geometry(const struct gp_lab_client *c)
{
	const struct gp_geometry *g = &c->geometry;
	const struct gp_node *n = &c->node;

	printf("KFD %u.%u\n", c->version.major_version, c->version.minor_version);
	printf("node %u, gpu_id %u, renderD%u, gfx version %u, device 0x%04x%s\n", n->node,
	       n->gpu_id, n->render_minor, n->gfx_version, n->device_id,
	       gp_client_is_model(c) ? ", the lab's" : "");
	printf("%u XCC of %u CUs, %u waves at once, %u compute queues, %u SDMA engines\n", n->xccs,
	       g->cus, gp_node_waves(n), n->cp_queues, n->sdma_engines);
	printf("save area %llu bytes: %u per XCC (control stack %u) and %u for a debugger\n",
	       (unsigned long long)g->mapping_bytes, g->save_bytes, g->ctl_stack_bytes,
	       g->debug_bytes);
}

static int check(void)
{
	const struct gp_client_args args = {
		.gpu = o.gpu, .all_vms = !o.one_vm, .at_runtime = o.at_runtime,
	};
	const struct gp_queue_args queue = {
		.type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
		.pointers = o.pointers,
		.save_area = o.save_area,
	};
	struct gp_lab_client c;
	struct gp_lab_queue q;
	int err = gp_client_open(&c, &args);

	if (err)
		return complain(gp_client_error());
	print_geometry(&c);
	err = gp_queue_create(&c, &q, &queue);
	if (!err) {
		printf("queue %u created, doorbell at %u", q.id, q.doorbell_offset);
		err = gp_queue_destroy(&q);
		printf(err ? "\n" : "; destroyed\n");
	}
	if (err)
		complain(gp_client_error());
	gp_client_close(&c);
	return err ? USAGE : RIGHT;
}

static int result(const struct gp_load *l, int err)
{
	if (!err)
		return RIGHT;
	if (l->lost[0]) {
		complain(l->lost);
		return LOST;
	}
	if (l->stuck[0]) {
		complain(l->stuck);
		return STUCK;
	}
	return complain(gp_client_error());
}

static int load(void)
{
	static struct gp_load l;	/* its histogram is large */
	int err = gp_load_init(&l, &o);
	int code;

	if (err) {
		code = complain(gp_client_error());
		gp_load_fini(&l);
		return code;
	}
	catch_signals();
	err = gp_load_run(&l, &stop);
	code = result(&l, err);
	if (o.json)
		gp_load_report_json(&l, err, stdout);
	else
		gp_load_report(&l, err, stdout);
	fflush(stdout);
	gp_load_fini(&l);
	return code;
}

int main(int argc, char *argv[])
{
	if (gp_load_parse(argc, (const char *const *)argv, &o))
		return complain(gp_client_error());
	if (o.help) {
		fputs(gp_load_help, stdout);
		return RIGHT;
	}
	set_name(o.class);
	if (o.linger_ns)
		o.at_runtime = linger;
	return o.check ? check() : load();
}
