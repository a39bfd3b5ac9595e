// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * A process of a task, from attach by two descriptors to the last reference to its file.
 *
 * The file keeps the driver's structures valid, and it keeps a dead process's queues running. So
 * the module releases the file as soon as the process's memory goes away, for any cause of death
 * and before any other slow work.
 */
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "gp_bounds.h"
#include "gp_compat.h"
#include "gp_dev_file.h"
#include "gp_gpu.h"
#include "gp_home.h"
#include "gp_member.h"
#include "gp_queue.h"
#include "gp_rescan.h"
#include "gp_target.h"
#include "gp_worker.h"

enum { LOCK_AGAIN_US = 100 };

/*
 * Returns the process of a pidfd. The kernel does not export its own function for that. Since 6.9 a
 * pidfd is an inode of pidfs; before, it was an anonymous inode with that name.
 */
static struct pid *pid_of(const struct file *file)
{
#ifdef PID_FS_MAGIC
	if (file_inode(file)->i_sb->s_magic == PID_FS_MAGIC)
		return get_pid(file_inode(file)->i_private);
#else
	if (file_inode(file)->i_sb->s_magic == ANON_INODE_FS_MAGIC &&
	    !strcmp(file_dentry(file)->d_name.name, "[pidfd]"))
		return get_pid(file->private_data);
#endif
	return NULL;
}

static int get_pid_of_fd(int fd, struct pid **ret)
{
	struct file *file = fget(fd);

	if (!file)
		return -EBADF;
	*ret = pid_of(file);
	fput(file);
	return *ret ? 0 : -EBADF;
}

/* Returns the memory of the process @pid, or NULL for the pidfd of a thread. */
static struct mm_struct *mm_of(struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);
	struct mm_struct *mm;

	if (!task)
		return NULL;
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm;
}

/* ---- end of a process ---- */

/* Runs when no notifier of the member is running any more. */
static void free_member(struct mmu_notifier *notifier)
{
	kfree(container_of(notifier, struct gp_member, notifier));
}

/*
 * Runs after the last reference is gone, so no look and no worker uses the member. Calls
 * mmu_notifier_put(), because mmu_notifier_unregister() waits for running notifiers of all
 * processes. The driver's notifier waits for a mutex that the owner of a process can hold.
 */
static void reap(struct work_struct *work)
{
	struct gp_member *m = container_of(work, struct gp_member, reap);
	struct mm_struct *mm = m->mm;
	unsigned long flags;
	bool last = false;

	spin_lock_irqsave(&gp_home.lock, flags);
	if (m->counted)
		last = !--gp_home.nr_files;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	/*
	 * Without a KFD file the driver may free its GPUs without an unbind (a switch of
	 * partitions).
	 */
	if (last)
		gp_gpu_drop_unused(&m->dead);
	fput(m->file);
	gp_kernel_queue_free_all(&m->rings);
	put_pid(m->pid);
	if (m->notified)
		mmu_notifier_put(&m->notifier);
	else
		kfree(m);
	mmdrop(mm);
	wake_up_all(&gp_home.moved);
}

static void last_put(struct kref *ref)
{
	struct gp_member *m = container_of(ref, struct gp_member, ref);

	queue_work(gp_home.reapers, &m->reap);
}

void gp_member_put(struct gp_member *m)
{
	kref_put(&m->ref, last_put);
}

static bool owed_anything(const struct gp_member *m)
{
	u32 d;

	for (d = 0; d < GP_HOME_DEVICES; d++)
		if (m->seat[d].moving || (m->seat[d].owes && !m->dead))
			return true;
	return false;
}

void gp_member_settle(struct gp_member *m)
{
	if (list_empty(&m->of_home) || (m->target && !m->dead) || owed_anything(m))
		return;
	list_del_init(&m->of_home);
	gp_home.nr_members--;
	gp_member_put(m);
}

void gp_member_orphan(struct gp_member *m, struct gp_kernel_gpu *gpu)
{
	m->seat[gpu->device].orphan = true;
	gpu->orphans = true;
	gp_gpu_wake(gpu);
}

void gp_member_forget_gpu(struct gp_kernel_gpu *gpu)
{
	struct gp_member *m, *next;

	list_for_each_entry_safe(m, next, &gp_home.members, of_home) {
		m->seat[gpu->device] = (struct gp_seat_k){ 0 };
		gp_member_settle(m);
	}
}

static void forget_seats(struct gp_member *m, const struct device *dev)
{
	u32 i;

	for (i = 0; i < gp_kfd_nr_seats(m->process); i++)
		if (!(m->gone & BIT_ULL(i % 64)) &&
		    gp_kfd_sits_on(gp_kfd_seat(m->process, i), dev))
			m->gone |= BIT_ULL(i % 64);
}

void gp_member_forget_device(const struct device *dev)
{
	struct gp_member *m;
	unsigned long flags;

	lockdep_assert_held(&gp_home.mutex);
	spin_lock_irqsave(&gp_home.lock, flags);
	list_for_each_entry(m, &gp_home.members, of_home)
		forget_seats(m, dev);
	spin_unlock_irqrestore(&gp_home.lock, flags);
}

static void rings_out(struct gp_member *m, u64 now_ns)
{
	struct gp_kernel_queue *ring;

	list_for_each_entry(ring, &m->rings, of_member)
		gp_kernel_queue_out(ring, now_ns);
}

void gp_member_leave(struct gp_member *m)
{
	u32 d;

	rings_out(m, gp_home_now());
	m->target = NULL;
	for (d = 0; d < GP_HOME_DEVICES; d++)
		if (m->seat[d].owes)
			gp_member_orphan(m, &gp_home.gpu[d]);
	gp_member_settle(m);
}

static void leave_target(struct gp_member *m, u64 now_ns)
{
	struct gp_target *t = m->target;
	struct gp_uapi_event gone = { .time_ns = now_ns, .kind = GP_UAPI_EVENT_GONE };
	u32 i;

	for (i = 0; i < t->nr_members; i++)
		if (t->member[i] == m)
			t->member[i] = NULL;
	m->target = NULL;
	if (--t->nr_alive)
		return;
	gp_target_untask(t, now_ns);
	gone.task = t->handle;
	gp_dev_file_tell(&gone, t);
	gp_scan_soon(0);	/* the scan frees the task */
}

/* A process stopped by halt keeps all others off too, so wake the worker to end the halt. */
static void wake_halted(const struct gp_member *m)
{
	u32 d;

	for (d = 0; d < GP_HOME_DEVICES; d++)
		if (m->seat[d].owes && gp_home.gpu[d].halted)
			gp_gpu_wake(&gp_home.gpu[d]);
}

/* Runs at exit or exec. Must not wait for anything that may wait for memory. */
static void member_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct gp_member *m = container_of(notifier, struct gp_member, notifier);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&gp_home.lock, flags);
	now = gp_home_now();
	m->dead = true;
	if (!list_empty(&m->of_home)) {
		gp_home.stats->deaths++;
		wake_halted(m);
		rings_out(m, now);
		if (m->target)
			leave_target(m, now);
		gp_member_settle(m);
		gp_home_settle(now);
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	wake_up_all(&gp_home.moved);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release	= member_ends,
	.free_notifier	= free_member,
};

/* ---- start of a process ---- */

static bool attached(const struct kfd_process *process)
{
	const struct gp_member *m;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&gp_home.lock, flags);
	list_for_each_entry(m, &gp_home.members, of_home)
		found |= m->process == process && m->target;
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return found;
}

/* -EXDEV: the file is of another process or of the program before exec. -EEXIST: attached. */
static int check_owner(struct file *file, struct mm_struct *mm)
{
	if (gp_kfd_mm(gp_kfd_process(file)) != mm)
		return -EXDEV;
	return attached(gp_kfd_process(file)) ? -EEXIST : 0;
}

/* The caller holds home.mutex, so no GPU is unbound while this follows the driver's structures. */
static int check_driver(const struct gp_member *m)
{
	char why[128] = "";
	int err;

	if (!gp_gpu_none_left(m->process))
		return -ENODEV;
	err = gp_kfd_check(m->file, false, why, sizeof(why));
	if (err)
		pr_warn_ratelimited("gpreempt: not attached: %s\n", why);
	return err ? err : check_owner(m->file, m->mm);
}

/*
 * Adds the member to the home and to its task in one critical section, because another caller could
 * release a member without a task.
 */
int gp_member_join(struct gp_member *m, struct gp_target *t)
{
	unsigned long flags;
	int err;

	lockdep_assert_held(&gp_home.mutex);
	err = check_driver(m);
	if (err)
		return err;
	spin_lock_irqsave(&gp_home.lock, flags);
	if (gp_home.nr_members == GP_HOME_MEMBERS) {
		err = -ENOSPC;
	} else {
		kref_get(&m->ref);	/* the home's reference */
		gp_home.nr_members++;
		gp_home.nr_files++;
		m->counted = true;
		list_add_tail(&m->of_home, &gp_home.members);
		if (!m->dead) {
			t->member[t->nr_members] = m;
			m->target = t;
			t->nr_alive++;
		}
		t->nr_members++;
		gp_member_settle(m);
	}
	spin_unlock_irqrestore(&gp_home.lock, flags);
	return err;
}

/*
 * Tries to lock the memory and its mappings until @until_ns. Does not wait for the locks, because a
 * thread of the process can hold them for ever on a page of a file system in user space.
 */
static int notify_of(struct gp_member *m, u64 until_ns)
{
	int err;

	while (!gp_compat_mm_trylock(m->mm)) {
		if (signal_pending(current))
			return -EINTR;
		if (gp_home_now() >= until_ns)
			return -EAGAIN;
		usleep_range(LOCK_AGAIN_US, 2 * LOCK_AGAIN_US);
	}
	err = __mmu_notifier_register(&m->notifier, m->mm);
	m->notified = !err;
	mmap_write_unlock(m->mm);
	return err;
}

static void put_mm(struct work_struct *work)
{
	struct gp_member *m = container_of(work, struct gp_member, put_mm);

	mmput(m->mm);
	gp_member_put(m);
}

/*
 * Drops a reference to the memory from a workqueue. The last mmput() runs the driver's notifier,
 * which waits for the KFD mutex of the process. A call of another process must not wait for that.
 */
static void put_mm_later(struct gp_member *m)
{
	if (atomic_add_unless(&m->mm->mm_users, -1, 1))
		return;
	kref_get(&m->ref);
	queue_work(gp_home.putters, &m->put_mm);
}

/* Takes over the caller's references to @file and @pid and grabs @mm. NULL: out of memory. */
static struct gp_member *make(struct file *file, struct pid *pid, struct mm_struct *mm)
{
	struct gp_member *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	kref_init(&m->ref);		/* the caller's reference */
	INIT_LIST_HEAD(&m->of_home);
	INIT_LIST_HEAD(&m->rings);
	INIT_WORK(&m->reap, reap);
	INIT_WORK(&m->put_mm, put_mm);
	m->file = file;
	m->process = gp_kfd_process(file);
	m->pid = pid;
	m->mm = mm;
	mmgrab(mm);
	m->notifier.ops = &notifier_ops;
	return m;
}

int gp_member_find(const struct gp_uapi_member *who, u64 until_ns, struct gp_member **ret)
{
	struct mm_struct *mm = NULL;
	struct gp_member *m;
	struct file *file;
	struct pid *pid;
	int err;

	err = get_pid_of_fd(who->pidfd, &pid);
	if (err)
		return err;
	err = -EBADF;
	file = fget(who->kfd_fd);
	if (!file || !gp_kfd_is_file(file))
		goto out;
	err = -ESRCH;
	mm = mm_of(pid);
	if (!mm)
		goto out;
	err = -ENOMEM;
	m = make(file, pid, mm);
	if (!m)
		goto out;
	err = check_owner(file, mm);
	if (!err)
		err = notify_of(m, until_ns);
	put_mm_later(m);
	if (err)
		gp_member_put(m);
	else
		*ret = m;
	return err;
out:
	if (file)
		fput(file);
	if (mm)
		mmput(mm);
	put_pid(pid);
	return err;
}
