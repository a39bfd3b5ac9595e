// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Stops and starts processes by the driver's own counted evictions, and the whole GPU by its halt.
 *
 * An eviction alone is a whole cycle, in which the driver unmaps all processes and maps the others
 * again. To move several processes in one cycle, this file closes the driver's gate (sched_halt:
 * nothing is mapped while it is set) around them. The first eviction unmaps all processes and books
 * in one hold of the driver's lock. For the next ones the hardware is already empty. After the gate
 * is opened the driver maps the remaining processes. The driver does all its own bookkeeping.
 * Booking first and running one cycle later would look the same but would free descriptors that are
 * still in hardware.
 */
#include <linux/slab.h>

#include "gp_kfd_private.h"

static DEFINE_MUTEX(memory_lock);
static struct gp_kfd_memory memory[16];

struct gp_kfd_memory *gp_kfd_memory(struct kfd_node *node)
{
	struct gp_kfd_memory *ret = NULL;
	u32 i;

	mutex_lock(&memory_lock);
	for (i = 0; i < ARRAY_SIZE(memory); i++) {
		if (memory[i].node == node) {
			ret = &memory[i];
			break;
		}
		if (!memory[i].node && !ret)
			ret = &memory[i];
	}
	if (ret)
		ret->node = node;
	mutex_unlock(&memory_lock);
	return ret;
}

void gp_kfd_forget(struct kfd_node *node)
{
	u32 i;

	mutex_lock(&memory_lock);
	for (i = 0; i < ARRAY_SIZE(memory); i++)
		if (memory[i].node == node)
			memset(&memory[i], 0, sizeof(memory[i]));
	mutex_unlock(&memory_lock);
}

/* ---- the gate ---- */

static bool gate_close(struct device_queue_manager *d)
{
#if GP_KFD_NODES
	bool ok;

	/* Enforced isolation uses the same gate, and the gate has no counter. */
	if (!gp_kfd_has_runlist(d->dev) || gp_kfd_isolated(d->dev))
		return false;
	dqm_lock(d);
	ok = d->sched_running && !d->sched_halt;
	if (ok)
		d->sched_halt = true;
	dqm_unlock(d);
	return ok;
#else
	return false;
#endif
}

/* True if nothing is mapped, so the caller must make the driver map the queues. */
static bool gate_open(struct device_queue_manager *d)
{
	bool empty;

	dqm_lock(d);
#if GP_KFD_NODES
	d->sched_halt = false;
#endif
	empty = d->sched_running && !d->active_runlist;
	dqm_unlock(d);
	return empty;
}

/* A dummy process without queues. The driver reads no more of it than kick() sets. */
struct nobody {
	struct kfd_process_device seat;
	struct kfd_process process;
};

static int kick(struct device_queue_manager *d, struct nobody *who)
{
	memset(who, 0, sizeof(*who));
	INIT_LIST_HEAD(&who->seat.qpd.queues_list);
	INIT_LIST_HEAD(&who->seat.qpd.priv_queue_list);
	who->seat.qpd.dqm = d;
	who->seat.dev = d->dev;
	who->seat.process = &who->process;
	who->seat.drm_priv = who;	/* only compared with NULL */
	return d->ops.evict_process_queues(d, &who->seat.qpd);
}

int gp_kfd_kick(struct kfd_node *node)
{
	struct nobody *who;
	int err;

	/* MES has no runlist, and the eviction would flush a TLB without need. */
	if (!gp_kfd_has_runlist(node))
		return 0;
	who = kzalloc(sizeof(*who), GFP_KERNEL);
	if (!who)
		return -ENOMEM;
	err = kick(node->dqm, who);
	kfree(who);
	return err;
}

/* ---- evict ---- */

/* The driver counts the eviction even if it fails, so one start is owed. */
static void move_out(struct device_queue_manager *d, struct gp_kfd_move *m)
{
	m->err = 0;
	if (m->owes)
		return;
	m->owes = true;
	m->err = d->ops.evict_process_queues(d, &m->seat->qpd);
}

static void move_in(struct device_queue_manager *d, struct gp_kfd_move *m)
{
	m->err = 0;
	if (!m->owes)
		return;
	/* Do not start the queues of a dead process, because they would use freed memory. */
	if (!gp_kfd_mm(m->seat->process)) {
		m->err = -ESRCH;
		m->owes = false;
		return;
	}
	m->err = d->ops.restore_process_queues(d, &m->seat->qpd);
	/*
	 * Under HWS the driver's count drops even after an error. MES keeps it if a queue is
	 * refused.
	 */
	m->owes = m->err && gp_kfd_mes(m->seat->dev);
}

/*
 * Makes all moves in one direction. After a hang, skips the others, because each further request
 * would delay the driver's reset by another timeout.
 */
static void move_some(struct device_queue_manager *d, struct gp_kfd_step *s, bool out)
{
	struct gp_kfd_move *m;

	for (m = s->move; m < s->move + s->nr; m++) {
		if (m->out != out)
			continue;
		if (s->hangs)
			m->err = -ETIME;
		else if (out)
			move_out(d, m);
		else
			move_in(d, m);
		s->hangs |= m->err == -ETIME;
	}
}

static int move_all(struct device_queue_manager *d, struct gp_kfd_step *s)
{
	bool reset = false;
	u32 i;

	s->hangs = false;
	move_some(d, s, true);
	s->times.saved_ns = ktime_get_ns();
	move_some(d, s, false);
	for (i = 0; i < s->nr; i++)
		reset |= s->move[i].err == -EIO;
	return reset ? -EIO : 0;
}

/* Without a gate, or memory for the kick, moves one process after the other, a cycle each. */
static int evict_move(struct gp_kfd_step *s)
{
	struct device_queue_manager *d = s->node->dqm;
	struct nobody *who = s->nr > 1 ? kzalloc(sizeof(*who), GFP_KERNEL) : NULL;
	bool gate = who && gate_close(d);
	int err, kicked = 0;

	s->kicks = 0;
	s->times = (struct gp_kfd_times){ .command_ns = ktime_get_ns() };
	err = move_all(d, s);
	if (gate && gate_open(d)) {
		kicked = kick(d, who);
		/*
		 * If the kick failed nothing is mapped. Retry, because the driver may have lacked
		 * memory.
		 */
		if (kicked)
			kicked = kick(d, who);
		s->kicks++;
	}
	s->times.switched_ns = ktime_get_ns();
	kfree(who);
	return err ? err : kicked ? -EIO : 0;
}

static int evict_can(struct gp_kfd_step *s)
{
	s->why_not[0] = '\0';
	return 0;
}

const struct gp_way gp_way_evict = {
	.name = "evict",
	.can = evict_can,
	.move = evict_move,
};

/* ---- halt ---- */

static int refuse(struct gp_kfd_step *s, const char *why)
{
	strscpy(s->why_not, why, sizeof(s->why_not));
	return -EBUSY;
}

#if GP_KFD_NODES
static int halt_can(struct gp_kfd_step *s)
{
	struct device_queue_manager *d = s->node->dqm;
	struct gp_kfd_memory *m = gp_kfd_memory(s->node);
	bool running, halted;

	s->why_not[0] = '\0';
	if (!gp_kfd_has_runlist(s->node) || !d->ops.halt || !d->ops.unhalt)
		return refuse(s, "this GPU's scheduler cannot be halted and let go again");
	if (!m)
		return refuse(s, "too many GPUs");
	if (m->halts)
		return 0;
	if (gp_kfd_isolated(s->node))
		return refuse(s, "enforce_isolation uses the same switch");
	dqm_lock(d);
	running = d->sched_running;
	halted = d->sched_halt;
	dqm_unlock(d);
	if (!running || halted)
		return refuse(s, halted ? "halted already" : "the driver has stopped scheduling");
	return 0;
}

/* Checks the result, because the driver's halt also returns 0 when it did nothing. */
static int halt_now(struct device_queue_manager *d)
{
	int err = d->ops.halt(d);
	bool halted;

	dqm_lock(d);
	halted = d->sched_halt;
	dqm_unlock(d);
	return err ? err : halted ? 0 : -EIO;
}

/*
 * Clears the gate too, because the driver's unhalt does nothing while scheduling is stopped and
 * would leave the GPU without mapped queues for ever.
 */
static int unhalt_now(struct device_queue_manager *d)
{
	bool running;
	int err = 0;

	dqm_lock(d);
	running = d->sched_running && d->sched_halt;
	dqm_unlock(d);
	if (running)
		err = d->ops.unhalt(d);
	dqm_lock(d);
	d->sched_halt = false;
	dqm_unlock(d);
	return err;
}

static void halt_count(struct gp_kfd_step *s, struct gp_kfd_memory *m, int err)
{
	u32 i;

	for (i = 0; i < s->nr; i++) {
		struct gp_kfd_move *move = &s->move[i];

		move->err = move->out ? err : 0;
		if (move->out == move->owes || (move->out && err))
			continue;
		move->owes = move->out;
		m->halts += move->out ? 1 : -1;
	}
}

static int halt_move(struct gp_kfd_step *s)
{
	struct device_queue_manager *d = s->node->dqm;
	struct gp_kfd_memory *m = gp_kfd_memory(s->node);
	bool was, wanted = false;
	int err = halt_can(s);
	u32 i;

	if (err)
		return err;
	was = m->halts;
	for (i = 0; i < s->nr; i++)
		wanted |= s->move[i].out;
	s->times = (struct gp_kfd_times){ .command_ns = ktime_get_ns() };
	if (wanted && !was) {
		err = halt_now(d);
		if (err)
			unhalt_now(d);
	}
	s->times.saved_ns = ktime_get_ns();
	halt_count(s, m, err);
	if (was && !m->halts)
		err = unhalt_now(d);
	s->times.switched_ns = ktime_get_ns();
	return err ? -EIO : 0;
}
#else
static int halt_can(struct gp_kfd_step *s)
{
	return refuse(s, "this driver is too old to be halted");
}

static int halt_move(struct gp_kfd_step *s)
{
	return halt_can(s);
}
#endif

void gp_kfd_unhalt(struct kfd_node *node)
{
#if GP_KFD_NODES
	struct gp_kfd_memory *m = gp_kfd_memory(node);

	if (m && m->halts) {
		m->halts = 0;
		unhalt_now(node->dqm);
	}
#endif
}

const struct gp_way gp_way_halt = {
	.name = "halt",
	.can = halt_can,
	.move = halt_move,
};
