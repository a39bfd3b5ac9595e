// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * KFD events and the signals that raise them.
 *
 * The GPU writes an event's number into its slot of the event page and interrupts; the driver
 * then wakes the waiters. On a discrete GPU the page is the process's own GTT buffer, handed to
 * the driver with the first event.
 */
#include "client.h"

#include <string.h>
#include <time.h>

enum {
	LOOK_US		= 50,
	WAITED_MAX	= 64,
	NAP_MS		= 100,	/* longest delay when an interrupt is lost */
};

static int create(struct gp_lab_client *c, struct kfd_ioctl_create_event_args *args)
{
	int err;

	if (!c->event_page.at) {
		err = gp_buffer_alloc(c, &c->event_page, GP_MEMORY_GTT, GP_KFD_EVENT_PAGE_BYTES);
		if (err)
			return err;
		args->event_page_offset = c->event_page.handle;
	}
	return gp_client_call(c, AMDKFD_IOC_CREATE_EVENT, args, "CREATE_EVENT");
}

int gp_event_create(struct gp_lab_client *c, struct gp_lab_event *e, u32 type,
		    bool auto_reset)
{
	struct kfd_ioctl_create_event_args args = { .event_type = type, .auto_reset = auto_reset };
	int err = create(c, &args);

	/* The number 0 in an interrupt means "some event", so leave event 0 unused. */
	if (!err && args.event_id == 0) {
		args = (struct kfd_ioctl_create_event_args){ .event_type = type,
							     .auto_reset = auto_reset };
		err = create(c, &args);
	}
	if (err)
		return err;
	e->id = args.event_id;
	e->slot = type == KFD_IOC_EVENT_SIGNAL ? (u64 *)c->event_page.at + args.event_slot_index :
						 NULL;
	return 0;
}

int gp_event_destroy(struct gp_lab_client *c, struct gp_lab_event *e)
{
	struct kfd_ioctl_destroy_event_args args = { .event_id = e->id };

	return gp_client_call(c, AMDKFD_IOC_DESTROY_EVENT, &args, "DESTROY_EVENT");
}

int gp_event_set(struct gp_lab_client *c, const struct gp_lab_event *e)
{
	struct kfd_ioctl_destroy_event_args args = { .event_id = e->id };

	return gp_client_call(c, AMDKFD_IOC_SET_EVENT, &args, "SET_EVENT");
}

int gp_event_wait(struct gp_lab_client *c, const struct gp_lab_event *e, u32 nr, bool all,
		  u32 timeout_ms)
{
	struct kfd_event_data data[WAITED_MAX];
	struct kfd_ioctl_wait_events_args args = {
		.events_ptr = (u64)(uintptr_t)data,
		.num_events = nr,
		.wait_for_all = all,
		.timeout = timeout_ms,
	};
	int err;

	if (nr > WAITED_MAX)
		return gp_client_fail(EINVAL, "WAIT_EVENTS: %u events, at most %u", nr, WAITED_MAX);
	memset(data, 0, sizeof(data));
	for (u32 i = 0; i < nr; i++)
		data[i].event_id = e[i].id;
	err = gp_client_call(c, AMDKFD_IOC_WAIT_EVENTS, &args, "WAIT_EVENTS");
	if (!err && args.wait_result == KFD_IOC_WAIT_RESULT_TIMEOUT)
		return gp_client_fail(ETIME, "WAIT_EVENTS: nothing within %u ms", timeout_ms);
	return err;
}

void gp_signal_init(struct gp_amd_signal *s, s64 value, const struct gp_lab_event *e)
{
	*s = (struct gp_amd_signal){
		.kind = GP_AMD_SIGNAL_USER,
		.value = value,
		.mailbox = e ? (u64)(uintptr_t)e->slot : 0,
		.event_id = e ? e->id : 0,
	};
}

s64 gp_signal_value(const struct gp_amd_signal *s)
{
	return __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
}

void gp_signal_store(struct gp_amd_signal *s, s64 value)
{
	__atomic_store_n(&s->value, value, __ATOMIC_RELEASE);
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

int gp_signal_wait(struct gp_lab_client *c, const struct gp_amd_signal *s,
		   const struct gp_lab_event *e, u32 timeout_ms)
{
	const struct timespec nap = { .tv_nsec = LOOK_US * 1000 };
	u64 start = now_ms();
	int err = 0;

	while (gp_signal_value(s) > 0) {
		if (now_ms() - start >= timeout_ms)
			return gp_client_fail(ETIME, "signal still %lld after %u ms",
					      (long long)gp_signal_value(s), timeout_ms);
		if (e)
			err = gp_event_wait(c, e, 1, false, NAP_MS);
		else
			nanosleep(&nap, NULL);
		if (err && err != -ETIME)
			return err;
	}
	return 0;
}
