// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The client of the daemon: calls, answers as structures, subscriptions. Also the GPUs and
 * processes of this machine, without the daemon. The structures do not change with the library.
 */
#include "gpreempt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "process.h"
#include "varlink.h"

enum { TIMEOUT_MS = 5000 };

struct gp_daemon {
	pthread_mutex_t lock;	/* of everything below */
	struct gp_wire wire;
	int timeout_ms;
};

int gp_daemon_open(const char *path, struct gp_daemon **ret)
{
	struct gp_daemon *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return gp_fail(ENOMEM, "out of memory");
	d->timeout_ms = TIMEOUT_MS;
	err = gp_wire_init(&d->wire, path);
	if (!err)
		err = gp_wire_connect(&d->wire, gp_wire_deadline(d->timeout_ms));
	if (err) {
		free(d);
		return err;
	}
	pthread_mutex_init(&d->lock, NULL);
	*ret = d;
	return 0;
}

void gp_daemon_close(struct gp_daemon *d)
{
	if (!d)
		return;
	gp_wire_close(&d->wire);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void gp_daemon_set_timeout(struct gp_daemon *d, int milliseconds)
{
	pthread_mutex_lock(&d->lock);
	d->timeout_ms = milliseconds;
	pthread_mutex_unlock(&d->lock);
}

/*
 * Sends a call and receives its answer. Closes the connection unless the whole answer came, so that
 * no call gets the answer of another.
 */
static int transact(struct gp_daemon *d, const char *method, json_t *parameters, json_t **ret)
{
	u64 deadline = gp_wire_deadline(d->timeout_ms);
	struct gp_varlink_reply reply;
	json_t *message;
	int err = 0;

	if (d->wire.fd < 0)
		err = gp_wire_connect(&d->wire, deadline);
	if (!err)
		err = gp_wire_send(&d->wire, method, json_incref(parameters), false, deadline);
	else
		return err;
	if (!err)
		err = gp_wire_receive(&d->wire, deadline, &message);
	if (err) {
		gp_wire_close(&d->wire);
		return err;
	}
	err = gp_wire_result(message, &reply);
	if (err == -EPROTO)
		gp_wire_close(&d->wire);
	if (!err)
		*ret = reply.parameters ? json_incref(reply.parameters) : json_object();
	json_decref(message);
	return err;
}

/*
 * Makes one call. Returns its answer's parameters, owned by the caller, never NULL. Takes over
 * @parameters.
 */
static int call(struct gp_daemon *d, const char *method, json_t *parameters, json_t **ret)
{
	bool fresh;
	int err;

	if (!parameters)
		parameters = json_object();
	pthread_mutex_lock(&d->lock);
	fresh = d->wire.fd < 0;
	err = transact(d, method, parameters, ret);
	/*
	 * The daemon restarted or closed an idle connection. Retry, because every call may be
	 * repeated.
	 */
	if (err == -EPIPE && !fresh)
		err = transact(d, method, parameters, ret);
	pthread_mutex_unlock(&d->lock);
	json_decref(parameters);
	return err == -EPIPE ? gp_fail(ENOTCONN, "gpreemptd closed the connection") : err;
}

/* Copies the string called @name in @object, truncated to @size; "" if there is none. */
static void copy_text(const json_t *object, const char *name, char *to, size_t size)
{
	const char *text = json_string_value(json_object_get(object, name));

	snprintf(to, size, "%s", text ? text : "");
}

/* Returns the integer called @name in @object; 0 if there is none. */
static s64 number(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

int gp_daemon_call(struct gp_daemon *d, const char *method, const char *parameters, char **ret)
{
	json_t *in = NULL, *out;
	int err;

	if (parameters && gp_varlink_parse(parameters, strlen(parameters), 0, &in))
		return gp_fail(EINVAL, "the parameters of %s are not a JSON object", method);
	err = call(d, method, in, &out);
	if (err)
		return err;
	if (ret) {
		*ret = json_dumps(out, 0);
		if (!*ret)
			err = gp_fail(ENOMEM, "out of memory");
	}
	json_decref(out);
	return err;
}

/* ---- calls that change something ---- */

/* Makes a call whose answer is empty. Takes over @parameters. */
static int tell(struct gp_daemon *d, const char *method, json_t *parameters)
{
	json_t *answer;
	int err = call(d, method, parameters, &answer);

	if (!err)
		json_decref(answer);
	return err;
}

/* Makes an object that names @target; empty for the calling process. */
static json_t *about(const struct gp_daemon_target *target)
{
	json_t *o = json_object();

	if (target && target->pid)
		json_object_set_new(o, "pid", json_integer(target->pid));
	if (target && target->start)
		json_object_set_new(o, "start", json_integer((json_int_t)target->start));
	return o;
}

static void set_number(json_t *o, const char *name, uint64_t value)
{
	json_object_set_new(o, name, json_integer(value > INT64_MAX ? INT64_MAX : (s64)value));
}

int gp_daemon_register(struct gp_daemon *d, const char *class_name)
{
	return tell(d, "Register", json_pack("{s:s*}", "class", class_name));
}

int gp_daemon_set_class(struct gp_daemon *d, const struct gp_daemon_target *target,
			const char *class_name)
{
	json_t *o = about(target);

	json_object_set_new(o, "class", json_string(class_name));
	return tell(d, "SetClass", o);
}

int gp_daemon_hint(struct gp_daemon *d, const struct gp_daemon_target *target,
		   uint64_t in_ns, uint64_t for_ns)
{
	json_t *o = about(target);

	set_number(o, "in_ns", in_ns);
	set_number(o, "for_ns", for_ns);
	return tell(d, "Hint", o);
}

int gp_daemon_hold(struct gp_daemon *d, const struct gp_daemon_target *target,
		   uint64_t lease_ns, uint32_t flags, uint64_t *granted_ns)
{
	json_t *o = about(target), *answer;
	int err;

	set_number(o, "lease_ns", lease_ns);
	if (flags & GP_DAEMON_WAIT)
		json_object_set_new(o, "wait", json_true());
	if (flags & GP_DAEMON_RENEW)
		json_object_set_new(o, "renew", json_true());
	err = call(d, "Hold", o, &answer);
	if (err)
		return err;
	if (granted_ns)
		*granted_ns = (uint64_t)number(answer, "lease_ns");
	json_decref(answer);
	return 0;
}

int gp_daemon_release(struct gp_daemon *d, const struct gp_daemon_target *target)
{
	return tell(d, "Release", about(target));
}

int gp_daemon_trigger(struct gp_daemon *d, const struct gp_daemon_target *target)
{
	return tell(d, "Trigger", about(target));
}

int gp_daemon_enable(struct gp_daemon *d)
{
	return tell(d, "Enable", NULL);
}

int gp_daemon_disable(struct gp_daemon *d)
{
	return tell(d, "Disable", NULL);
}

/* ---- reading ---- */

static u32 yes(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

int gp_daemon_status(struct gp_daemon *d, struct gp_daemon_status *ret)
{
	json_t *o;
	int err = call(d, "Status", NULL, &o);

	if (err)
		return err;
	*ret = (struct gp_daemon_status){
		.pid = (int32_t)number(o, "pid"),
		.enabled = yes(o, "enabled"),
		.observe_only = yes(o, "observe_only"),
		.gpus = (uint32_t)number(o, "gpus"),
		.processes = (uint32_t)number(o, "processes"),
		.held = (uint32_t)number(o, "held"),
		.up_ns = (uint64_t)number(o, "up_ns"),
	};
	copy_text(o, "version", ret->version, sizeof(ret->version));
	copy_text(o, "policy", ret->policy, sizeof(ret->policy));
	copy_text(o, "mechanism", ret->mechanism, sizeof(ret->mechanism));
	json_decref(o);
	return 0;
}

/* Returns the enum gp_daemon_state of a name in the interface. */
static u32 state_of(const char *name)
{
	static const char *const names[GP_DAEMON_UNKNOWN] = {
		[GP_DAEMON_ON] = "on", [GP_DAEMON_STARTING] = "starting",
		[GP_DAEMON_STOPPING] = "stopping", [GP_DAEMON_OFF] = "off",
		[GP_DAEMON_LOST] = "lost",
	};
	u32 i;

	for (i = 0; i < GP_DAEMON_UNKNOWN; i++)
		if (name && !strcmp(name, names[i]))
			return i;
	return GP_DAEMON_UNKNOWN;
}

static void read_seats(const json_t *seats, struct gp_daemon_process *p)
{
	const json_t *seat;
	size_t i;
	u32 state;

	p->gpus = (uint32_t)json_array_size(seats);
	p->state = p->gpus ? GP_DAEMON_ON : GP_DAEMON_UNKNOWN;
	json_array_foreach(seats, i, seat) {
		state = state_of(json_string_value(json_object_get(seat, "state")));
		if (state > p->state)
			p->state = state;
		p->on_ns += (uint64_t)number(seat, "on_ns");
		p->off_ns += (uint64_t)number(seat, "off_ns");
		p->vram_bytes += (uint64_t)number(seat, "vram_bytes");
	}
}

static void read_process(const json_t *o, struct gp_daemon_process *ret)
{
	*ret = (struct gp_daemon_process){
		.pid = (int32_t)number(o, "pid"),
		.uid = json_object_get(o, "uid") ? (uint32_t)number(o, "uid") : ~0u,
		.start = (uint64_t)number(o, "start"),
		.preempted = (uint64_t)number(o, "preempted"),
		.queues = (uint32_t)json_array_size(json_object_get(o, "queues")),
	};
	copy_text(o, "name", ret->name, sizeof(ret->name));
	copy_text(o, "class", ret->class_name, sizeof(ret->class_name));
	read_seats(json_object_get(o, "seats"), ret);
}

int gp_daemon_list(struct gp_daemon *d, struct gp_daemon_process **ret, size_t *count)
{
	const json_t *processes, *p;
	struct gp_daemon_process *list;
	json_t *o;
	size_t i, n;
	int err = call(d, "List", NULL, &o);

	if (err)
		return err;
	processes = json_object_get(o, "processes");
	n = json_array_size(processes);
	list = calloc(n ? n : 1, sizeof(*list));
	if (!list) {
		json_decref(o);
		return gp_fail(ENOMEM, "out of memory");
	}
	json_array_foreach(processes, i, p)
		read_process(p, &list[i]);
	json_decref(o);
	*ret = list;
	*count = n;
	return 0;
}

/* ---- subscriptions: one call with "more" on a connection of its own ---- */

/* Opens another connection to the daemon of @d. */
static int connect_again(struct gp_daemon *d, struct gp_wire *ret, u64 *deadline_ns)
{
	int err;

	pthread_mutex_lock(&d->lock);
	*deadline_ns = gp_wire_deadline(d->timeout_ms);
	err = gp_wire_init(ret, d->wire.at.sun_path);
	pthread_mutex_unlock(&d->lock);
	return err ? err : gp_wire_connect(ret, *deadline_ns);
}

static json_t *kinds_of(const char *list)
{
	json_t *kinds = json_array();
	size_t n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n)
			json_array_append_new(kinds, json_stringn(list, n));
	}
	return json_pack("{s:o}", "kinds", kinds);
}

/* Receives the first answer, which has no event and confirms the subscription. */
static int confirmed(struct gp_events *events, u64 deadline_ns)
{
	struct gp_varlink_reply reply;
	json_t *message;
	int err = gp_wire_receive(&events->wire, deadline_ns, &message);

	if (err)
		return err;
	err = gp_wire_result(message, &reply);
	if (!err && !reply.continues)
		err = gp_fail(EPROTO, "gpreemptd ended the subscription");
	if (!err)
		events->first = json_incref(reply.parameters);
	json_decref(message);
	return err;
}

int gp_events_open(struct gp_daemon *daemon, const char *method, json_t *parameters,
		   struct gp_events **ret)
{
	struct gp_events *events = calloc(1, sizeof(*events));
	u64 deadline;
	int err;

	if (!events) {
		json_decref(parameters);
		return gp_fail(ENOMEM, "out of memory");
	}
	err = connect_again(daemon, &events->wire, &deadline);
	if (err)
		json_decref(parameters);
	else
		err = gp_wire_send(&events->wire, method, parameters, true, deadline);
	if (!err)
		err = confirmed(events, deadline);
	if (err) {
		gp_events_close(events);
		return err == -EPIPE ? gp_fail(ENOTCONN, "gpreemptd closed the connection") : err;
	}
	*ret = events;
	return 0;
}

int gp_daemon_subscribe(struct gp_daemon *daemon, const char *kinds, struct gp_events **ret)
{
	return gp_events_open(daemon, "Subscribe", kinds ? kinds_of(kinds) : NULL, ret);
}

int gp_events_fd(const struct gp_events *events)
{
	return events->wire.fd;
}

static void read_event(const json_t *o, struct gp_daemon_event *ret)
{
	const json_t *gpu = json_object_get(o, "gpu");

	*ret = (struct gp_daemon_event){
		.at_ns = (uint64_t)number(o, "at_ns"),
		.start = (uint64_t)number(o, "start"),
		.pid = (int32_t)number(o, "pid"),
		.cause_pid = (int32_t)number(o, "cause_pid"),
		.gpu = json_is_integer(gpu) ? (int32_t)json_integer_value(gpu) : -1,
		.state = state_of(json_string_value(json_object_get(o, "state"))),
	};
	copy_text(o, "kind", ret->kind, sizeof(ret->kind));
	copy_text(o, "class", ret->class_name, sizeof(ret->class_name));
	copy_text(o, "what", ret->what, sizeof(ret->what));
}

/* Takes the parameters of @message, owned by the caller. Consumes @message. */
static int take(struct gp_events *events, json_t *message, json_t **ret)
{
	struct gp_varlink_reply reply;
	int err = gp_wire_result(message, &reply);

	if (!err) {
		events->lost += (uint32_t)number(reply.parameters, "lost");
		*ret = json_incref(reply.parameters);
	}
	json_decref(message);
	return err;
}

int gp_events_parameters(struct gp_events *events, json_t **ret)
{
	json_t *message;
	int err = gp_wire_receive(&events->wire, 0, &message);

	/* No message is there, and this call does not wait. */
	if (err == -ETIMEDOUT)
		return -EAGAIN;
	if (err == -EPIPE)
		return gp_fail(ENOTCONN, "gpreemptd closed the connection");
	return err ? err : take(events, message, ret);
}

int gp_events_next(struct gp_events *events, struct gp_daemon_event *ret)
{
	json_t *parameters = NULL;
	const json_t *event;
	int err;

	/* An answer without an event only reports lost events. */
	while (!(err = gp_events_parameters(events, &parameters))) {
		event = json_object_get(parameters, "event");
		if (json_is_object(event)) {
			read_event(event, ret);
			ret->lost = events->lost;
			events->lost = 0;
			json_decref(parameters);
			return 0;
		}
		json_decref(parameters);
	}
	return err;
}

void gp_events_close(struct gp_events *events)
{
	if (!events)
		return;
	gp_wire_close(&events->wire);
	json_decref(events->first);
	free(events);
}

/* ---- without the daemon: GPUs and processes of this machine ---- */

struct gp_local {
	pthread_mutex_t lock;	/* of the scanner */
	char *kfd;		/* NULL: the usual place */
	struct gp_scanner *scanner;
};

int gp_local_open(const char *kfd, const char *proc, struct gp_local **ret)
{
	const struct gp_scan_args args = { .kfd = kfd, .proc = proc };
	struct gp_local *l = calloc(1, sizeof(*l));
	int err = l ? gp_scanner_alloc(&args, &l->scanner) : -ENOMEM;

	if (!err && kfd) {
		l->kfd = strdup(kfd);
		err = l->kfd ? 0 : -ENOMEM;
	}
	if (err) {
		if (l)
			gp_scanner_free(l->scanner);
		free(l);
		return gp_fail(-err, "cannot look for GPUs: %s", strerrordesc_np(-err));
	}
	pthread_mutex_init(&l->lock, NULL);
	*ret = l;
	return 0;
}

void gp_local_close(struct gp_local *l)
{
	if (!l)
		return;
	gp_scanner_free(l->scanner);
	pthread_mutex_destroy(&l->lock);
	free(l->kfd);
	free(l);
}

static int cannot_read(int err)
{
	if (err == -ENOENT)
		return gp_fail(ENODEV, "the driver amdkfd is not loaded, or has no GPU");
	return gp_fail(-err, "cannot read the driver's files: %s", strerrordesc_np(-err));
}

static void copy_gpu(const struct gp_gpu_info *g, struct gp_local_gpu *ret)
{
	*ret = (struct gp_local_gpu){
		.index = g->index, .gpu_id = g->gpu_id, .node = g->node,
		.render_minor = g->render_minor, .partition = g->partition,
		.partitions = g->partitions, .xccs = g->xccs, .compute_units = g->cus,
		.gfx_version = g->gfx_version, .vram_bytes = g->vram_bytes,
	};
	snprintf(ret->bdf, sizeof(ret->bdf), "%s", g->bdf);
	snprintf(ret->gfx, sizeof(ret->gfx), "%s", g->gfx);
}

int gp_local_gpus(struct gp_local *l, struct gp_local_gpu **ret, size_t *count)
{
	struct gp_gpu_info *gpus = calloc(GP_GPUS_MAX, sizeof(*gpus));
	struct gp_local_gpu *list = calloc(GP_GPUS_MAX, sizeof(*list));
	u32 i, n = 0;
	int err = gpus && list ? gp_gpus_read(l->kfd, gpus, GP_GPUS_MAX, &n) : -ENOMEM;

	n = n < GP_GPUS_MAX ? n : GP_GPUS_MAX;
	for (i = 0; !err && i < n; i++)
		copy_gpu(&gpus[i], &list[i]);
	free(gpus);
	if (err) {
		free(list);
		return cannot_read(err);
	}
	*ret = list;
	*count = n;
	return 0;
}

static void copy_process(const struct gp_process *p, struct gp_local_process *ret)
{
	u32 i;

	*ret = (struct gp_local_process){
		.pid = p->pid, .uid = p->uid, .start = p->start, .queues = p->nr_queues,
		.gpus = p->nr_gpus,
	};
	for (i = 0; i < p->nr_gpus; i++) {
		ret->vram_bytes += p->gpus[i].vram_bytes;
		ret->evicted_ms += p->gpus[i].evicted_ms;
	}
	snprintf(ret->name, sizeof(ret->name), "%s", p->comm);
}

/* Called locked, because the scanner owns the result of a scan until the next one. */
static int processes_locked(struct gp_local *l, struct gp_local_process **ret, size_t *count)
{
	const struct gp_process *found;
	struct gp_local_process *list;
	u32 i, n;
	int err = gp_scanner_run(l->scanner, GP_SCAN_USAGE, &found, &n);

	if (err)
		return cannot_read(err);
	list = calloc(n ? n : 1, sizeof(*list));
	if (!list)
		return gp_fail(ENOMEM, "out of memory");
	for (i = 0; i < n; i++)
		copy_process(&found[i], &list[i]);
	*ret = list;
	*count = n;
	return 0;
}

int gp_local_processes(struct gp_local *l, struct gp_local_process **ret, size_t *count)
{
	int err;

	pthread_mutex_lock(&l->lock);
	err = processes_locked(l, ret, count);
	pthread_mutex_unlock(&l->lock);
	return err;
}

static int copy_queues(const struct gp_process *p, struct gp_local_queue **ret, size_t *count)
{
	struct gp_local_queue *list = calloc(p->nr_queues ? p->nr_queues : 1, sizeof(*list));
	u32 i;

	if (!list)
		return gp_fail(ENOMEM, "out of memory");
	for (i = 0; i < p->nr_queues; i++)
		list[i] = (struct gp_local_queue){
			.id = p->queues[i].id, .gpu_id = p->queues[i].gpu_id,
			.type = p->queues[i].type, .ring_bytes = p->queues[i].ring_bytes,
		};
	*ret = list;
	*count = p->nr_queues;
	return 0;
}

int gp_local_queues(struct gp_local *l, int32_t pid, struct gp_local_queue **ret, size_t *count)
{
	const struct gp_process *found;
	u32 i = 0, n = 0;
	int err;

	pthread_mutex_lock(&l->lock);
	err = gp_scanner_run(l->scanner, 0, &found, &n);
	while (!err && i < n && found[i].pid != pid)
		i++;
	if (err)
		err = cannot_read(err);
	else if (i == n)
		err = gp_fail(ESRCH, "process %d does not use a GPU", pid);
	else
		err = copy_queues(&found[i], ret, count);
	pthread_mutex_unlock(&l->lock);
	return err;
}
