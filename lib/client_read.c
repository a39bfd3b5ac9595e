// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The calls that read, as structures. */
#include "gpreempt.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "wire.h"

static u32 yes(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

int gp_daemon_status(struct gp_daemon *d, struct gp_daemon_status *ret)
{
	json_t *o;
	int err = gp_wire_call(d, "Status", NULL, &o);

	if (err)
		return err;
	*ret = (struct gp_daemon_status){
		.pid = (int32_t)gp_wire_number(o, "pid"),
		.enabled = yes(o, "enabled"),
		.observe_only = yes(o, "observe_only"),
		.gpus = (uint32_t)gp_wire_number(o, "gpus"),
		.processes = (uint32_t)gp_wire_number(o, "processes"),
		.held = (uint32_t)gp_wire_number(o, "held"),
		.up_ns = (uint64_t)gp_wire_number(o, "up_ns"),
	};
	gp_wire_text(o, "version", ret->version, sizeof(ret->version));
	gp_wire_text(o, "policy", ret->policy, sizeof(ret->policy));
	gp_wire_text(o, "mechanism", ret->mechanism, sizeof(ret->mechanism));
	json_decref(o);
	return 0;
}

u32 gp_wire_state(const char *name)
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
		state = gp_wire_state(json_string_value(json_object_get(seat, "state")));
		if (state > p->state)
			p->state = state;
		p->on_ns += (uint64_t)gp_wire_number(seat, "on_ns");
		p->off_ns += (uint64_t)gp_wire_number(seat, "off_ns");
		p->vram_bytes += (uint64_t)gp_wire_number(seat, "vram_bytes");
	}
}

static void read_process(const json_t *o, struct gp_daemon_process *ret)
{
	*ret = (struct gp_daemon_process){
		.pid = (int32_t)gp_wire_number(o, "pid"),
		.uid = json_object_get(o, "uid") ? (uint32_t)gp_wire_number(o, "uid") : ~0u,
		.start = (uint64_t)gp_wire_number(o, "start"),
		.preempted = (uint64_t)gp_wire_number(o, "preempted"),
		.queues = (uint32_t)json_array_size(json_object_get(o, "queues")),
	};
	gp_wire_text(o, "name", ret->name, sizeof(ret->name));
	gp_wire_text(o, "class", ret->class_name, sizeof(ret->class_name));
	read_seats(json_object_get(o, "seats"), ret);
}

int gp_daemon_list(struct gp_daemon *d, struct gp_daemon_process **ret, size_t *count)
{
	const json_t *processes, *p;
	struct gp_daemon_process *list;
	json_t *o;
	size_t i, n;
	int err = gp_wire_call(d, "List", NULL, &o);

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
