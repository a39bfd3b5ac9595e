// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The calls of /dev/gpreempt and their arguments, as described in uapi/gpreempt.h. A call reads
 * user memory before it takes any lock and writes user memory after it has released all locks.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "gp_bounds.h"
#include "gp_compat.h"
#include "gp_dev.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_rescan.h"
#include "gp_selftest.h"
#include "gp_target.h"

static bool ends(const char *name, size_t size)
{
	return strnlen(name, size) < size;
}

/* ---- settings ---- */

static int set_policy(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	if (!ends(a->name.name, sizeof(a->name.name)))
		return -EINVAL;
	return gp_home_set_policy(a->name.name);
}

static int set_param(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	if (!ends(a->param.name, sizeof(a->param.name)))
		return -EINVAL;
	return gp_home_set_param(a->param.name, a->param.value);
}

static int set_mechanism(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	const struct gp_uapi_mechanism *m = &a->mechanism;

	if (!ends(m->name, sizeof(m->name)) || m->grace > GP_UAPI_GRACE_MAX || m->zero)
		return -EINVAL;
	return gp_home_set_mechanism(m->name, m->grace);
}

static int enable(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	if (a->task.task > 1 || a->task.zero)
		return -EINVAL;
	gp_home_enable(a->task.task);
	return 0;
}

/* ---- tasks ---- */

static int class_from(const struct gp_uapi_class *from, struct gp_class *ret)
{
	static_assert((int)GP_UAPI_LATENCY_CRITICAL == GP_LATENCY_CRITICAL &&
		      (int)GP_UAPI_PREEMPTIBLE == GP_PREEMPTIBLE, "flags cross as they are");

	*ret = (struct gp_class){
		.priority = from->priority, .weight = from->weight, .flags = from->flags,
		.period_ns = from->period_ns, .budget_ns = from->budget_ns,
		.deadline_ns = from->deadline_ns,
	};
	return from->zero || gp_class_wrong(ret) ? -EINVAL : 0;
}

/*
 * How long ATTACH tries to lock the memory of all its processes. Kept short because the calling
 * process serves other clients too.
 */
#define FIND_NS		(10 * GP_MSEC)

/* Makes the members, which may wait for the processes. The caller holds no lock of the module. */
static int find_members(const struct gp_dev_arg *a, struct gp_member **members)
{
	const struct gp_uapi_member *who = a->extra;
	u64 until = gp_home_now() + FIND_NS;
	int err = 0;
	u32 i;

	for (i = 0; i < a->attach.nr_members && !err; i++)
		err = gp_member_find(&who[i], until, &members[i]);
	return err;
}

static int join(struct gp_dev_file *c, struct gp_dev_arg *a, struct gp_member **members)
{
	struct gp_target *target;
	struct gp_class class;
	int err = class_from(&a->attach.class, &class);

	if (err)
		return err;
	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	err = gp_target_attach(c, members, a->attach.nr_members, &class, &target);
	if (!err)
		a->attach.task = target->handle;
	mutex_unlock(&gp_home.mutex);
	return err;
}

static int attach(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_member **members;
	u32 i, nr = a->attach.nr_members;
	int err;

	members = kcalloc(nr, sizeof(*members), GFP_KERNEL);
	if (!members)
		return -ENOMEM;
	err = find_members(a, members);
	if (!err)
		err = join(c, a, members);
	for (i = 0; i < nr && members[i]; i++)
		gp_member_put(members[i]);
	kfree(members);
	if (!err)
		gp_move_await_known(c, a->attach.task);
	return err;
}

static int detach(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_target *target = gp_target_find(c, a->task.task);

	if (a->task.zero)
		return -EINVAL;
	if (a->task.task == GP_UAPI_ALL) {
		gp_target_detach_all(c);
		return 0;
	}
	if (!target)
		return -ENOENT;
	gp_target_detach(target);
	return 0;
}

static int set_class(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_target *target = gp_target_find(c, a->set_class.task);
	struct gp_class class;
	unsigned long flags;
	const char *why;
	int err = class_from(&a->set_class.class, &class);

	if (err || a->set_class.zero)
		return -EINVAL;
	if (!target)
		return -ENOENT;
	spin_lock_irqsave(&gp_home.lock, flags);
	if (target->task != GP_NONE)
		err = gp_task_set_class(gp_home.sched, target->task, &class, gp_home_now(), &why);
	if (!err)
		target->class = class;
	gp_home_settle(gp_home_now());
	spin_unlock_irqrestore(&gp_home.lock, flags);
	/* A new class can change which tasks may preempt others, and so which queues need looks. */
	if (!err)
		gp_scan_soon(0);
	return err;
}

static void look_at(const struct gp_target *t)
{
	unsigned long flags;
	u64 now;
	u32 d;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	for (d = 0; d < GP_HOME_DEVICES; d++)
		if ((t->devices & BIT_ULL(d)) && gp_home.gpu[d].node)
			gp_gpu_look(&gp_home.gpu[d], now);
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

static int trigger(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_target *t;
	bool found = false;

	if (a->task.zero)
		return -EINVAL;
	list_for_each_entry(t, &c->targets, of_client) {
		if (a->task.task != GP_UAPI_ALL && a->task.task != t->handle)
			continue;
		gp_target_rescan(t);
		look_at(t);
		found = true;
	}
	return found || a->task.task == GP_UAPI_ALL ? 0 : -ENOENT;
}

static int hint(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	const struct gp_uapi_hint *h = &a->hint;
	const struct gp_target *t = gp_target_find(c, h->task);
	const u64 most = 3600 * GP_SEC;
	unsigned long flags;
	int err = 0;
	u64 now;

	if (h->zero || h->in_ns > most || !h->for_ns || h->for_ns > most)
		return -EINVAL;
	if (!t)
		return -ENOENT;
	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	/* A task without queues uses no GPU, so there is nothing to preempt for it. */
	if (t->task != GP_NONE)
		err = gp_sched_hint(gp_home.sched, t->task, now + h->in_ns,
				    now + h->in_ns + h->for_ns, now);
	gp_home_settle(now);
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return err;
}

static int selftest(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	struct gp_selftest test = { .why = a->selftest.why, .size = sizeof(a->selftest.why) };
	struct gp_target *t;
	struct gp_kernel_gpu *gpu;
	int err = -ENODEV;

	memset(a->selftest.why, 0, sizeof(a->selftest.why));
	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	t = gp_target_find(c, a->selftest.task);
	if (t)
		gp_target_refresh(t);
	else
		err = -ENOENT;
	for (gpu = gp_home.gpu; t && gpu < gp_home.gpu + GP_HOME_DEVICES; gpu++) {
		if (!gpu->node || gpu->is.gpu_id != a->selftest.gpu_id)
			continue;
		err = gp_selftest_begin(gpu, t, &test);
		break;
	}
	mutex_unlock(&gp_home.mutex);
	return err ? err : gp_selftest_wait(&test);
}

/* ---- the table ---- */

static int subscribe(struct gp_dev_file *c, struct gp_dev_arg *a)
{
	if (a->subscribe.what & ~(u32)(GP_UAPI_EVENTS | GP_UAPI_TRACE) || a->subscribe.eventfd < -1)
		return -EINVAL;
	/* gpreemptd is root and drops its capabilities. */
	if ((a->subscribe.what & GP_UAPI_TRACE) && !capable(CAP_SYS_PTRACE) &&
	    !uid_eq(current_euid(), GLOBAL_ROOT_UID))
		return -EPERM;
	return gp_dev_file_subscribe(c, &a->subscribe);
}

static const struct call {
	u32 cmd;
	bool waits;		/* takes home.mutex itself */
	int (*call)(struct gp_dev_file *c, struct gp_dev_arg *a);
} calls[] = {
#define CALL(name, ...)	[_IOC_NR(GP_IOC_##name) - GP_DEV_FIRST] = { GP_IOC_##name, __VA_ARGS__ }
	CALL(VERSION, false, gp_dev_version),
	CALL(ATTACH, true, attach),
	CALL(DETACH, false, detach),
	CALL(SET_CLASS, false, set_class),
	CALL(SET_POLICY, false, set_policy),
	CALL(SET_PARAM, false, set_param),
	CALL(SET_MECHANISM, true, set_mechanism),
	CALL(ENABLE, false, enable),
	CALL(PREEMPT, true, gp_dev_preempt),
	CALL(RESUME, true, gp_dev_resume),
	CALL(TRIGGER, false, trigger),
	CALL(HINT, false, hint),
	CALL(SUBSCRIBE, true, subscribe),
	CALL(SEAT, false, gp_dev_seat),
	CALL(GPU, false, gp_dev_gpu),
	CALL(SELFTEST, true, selftest),
#undef CALL
};

static const struct call *find(u32 cmd)
{
	u32 i = _IOC_NR(cmd) - GP_DEV_FIRST;

	if (i >= ARRAY_SIZE(calls))
		return NULL;
	i = array_index_nospec(i, ARRAY_SIZE(calls));
	return calls[i].cmd == cmd ? &calls[i] : NULL;
}

/* Copies the data that the arguments point to. */
static int get_extra(u32 cmd, struct gp_dev_arg *a)
{
	const void __user *from = NULL;
	u32 nr = 0, most = 1;
	size_t each = 0;

	if (cmd == GP_IOC_ATTACH) {
		from = u64_to_user_ptr(a->attach.members);
		nr = a->attach.nr_members;
		most = GP_UAPI_MEMBERS;
		each = sizeof(struct gp_uapi_member);
	} else if (cmd == GP_IOC_PREEMPT || cmd == GP_IOC_RESUME) {
		from = u64_to_user_ptr(a->move.tasks);
		nr = a->move.nr_tasks;
		most = GP_UAPI_TASKS;
		each = sizeof(u32);
	}
	a->extra = NULL;
	if (!each)
		return 0;
	if (!nr || nr > most)
		return -EINVAL;
	a->extra = memdup_user(from, nr * each);
	if (!IS_ERR(a->extra))
		return 0;
	return PTR_ERR(a->extra);
}

static int do_call(const struct call *call, struct gp_dev_file *c, struct gp_dev_arg *a)
{
	int err;

	if (call->waits)
		return call->call(c, a);
	if (mutex_lock_interruptible(&gp_home.mutex))
		return -EINTR;
	err = call->call(c, a);
	mutex_unlock(&gp_home.mutex);
	return err;
}

/* Copies the answer out, also after a refusal, because some answers hold a reason or a count. */
static int put_answer(const struct call *call, struct gp_dev_file *c, struct gp_dev_arg *a,
		      void __user *to, int err)
{
	if (!(_IOC_DIR(call->cmd) & _IOC_READ) || !copy_to_user(to, a, _IOC_SIZE(call->cmd)))
		return err;
	/* Detach the task, because the caller does not have its handle. */
	if (!err && call->cmd == GP_IOC_ATTACH) {
		struct gp_target *target;

		mutex_lock(&gp_home.mutex);
		target = gp_target_find(c, a->attach.task);
		if (target)
			gp_target_detach(target);
		mutex_unlock(&gp_home.mutex);
	}
	return err ? err : -EFAULT;
}

static long gp_dev_ioctl(struct file *file, unsigned int cmd, unsigned long at)
{
	void __user *user = (void __user *)at;
	const struct call *call = find(cmd);
	struct gp_dev_arg a;
	int err;

	if (!call)
		return -ENOTTY;
	memset(&a, 0, sizeof(a));
	if ((_IOC_DIR(cmd) & _IOC_WRITE) && copy_from_user(&a, user, _IOC_SIZE(cmd)))
		return -EFAULT;
	err = get_extra(cmd, &a);
	if (err)
		return err;
	err = do_call(call, file->private_data, &a);
	kfree(a.extra);
	return put_answer(call, file->private_data, &a, user, err);
}

/* ---- the file ---- */

static int gp_dev_open(struct inode *inode, struct file *file)
{
	struct gp_dev_file *c = gp_dev_file_open();

	if (IS_ERR(c))
		return PTR_ERR(c);
	file->private_data = c;
	return stream_open(inode, file);
}

static int gp_dev_release(struct inode *inode, struct file *file)
{
	gp_dev_file_close(file->private_data);
	return 0;
}

static ssize_t gp_dev_read(struct file *file, char __user *to, size_t bytes, loff_t *at)
{
	return gp_dev_file_read(file->private_data, to, bytes, !(file->f_flags & O_NONBLOCK));
}

static __poll_t gp_dev_poll(struct file *file, poll_table *table)
{
	return gp_dev_file_poll(file->private_data, file, table);
}

static int gp_dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	static_assert(sizeof(struct gp_uapi_stats) <= PAGE_SIZE, "one page");

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	gp_compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return vm_insert_page(vma, vma->vm_start, virt_to_page(gp_home.stats));
}

static const struct file_operations gp_dev_fops = {
	.owner		= THIS_MODULE,
	.open		= gp_dev_open,
	.release	= gp_dev_release,
	.unlocked_ioctl	= gp_dev_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.read		= gp_dev_read,
	.poll		= gp_dev_poll,
	.mmap		= gp_dev_mmap,
};

static struct miscdevice gp_dev = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "gpreempt",
	.mode	= 0660,
	.fops	= &gp_dev_fops,
};

int gp_dev_init(void)
{
	return misc_register(&gp_dev);
}

void gp_dev_fini(void)
{
	misc_deregister(&gp_dev);
}
