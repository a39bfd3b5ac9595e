// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The state of the virtual GPU in debugfs, /sys/kernel/debug/vgpu/N/ with N as in
 * renderD(128 + N):
 *
 *   counters	one "name value" per line
 *   queues	the queues the chip knows, one per line
 *   packets	the last packets of the HIQ, oldest first
 *   fault	write: none, hang, preempt DOORBELL, slow-save TIMES, rptr-early
 *   ledger	who used the guest's time (lab/ledger.h)
 *   record	the recording (lab/recording.h), empty without the parameter record=
 */
#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/tick.h>

#include "gpu.h"
#include "lab/ledger.h"
#include "record.h"

static struct dentry *top;
static int users;

static void show_ledger(struct seq_file *m, struct lab_gpu *gpu)
{
	u64 stolen, modelled;

	lab_clock_ledger(&gpu->clock, &stolen, &modelled);
	seq_printf(m, "guest_ns %llu\n", ktime_get_ns());
	seq_printf(m, "device_ns %llu\n", lab_clock_now(&gpu->clock));
	seq_printf(m, "stolen_ns %llu\n", stolen);
	seq_printf(m, "modelled_ns %llu\n", modelled);
	seq_printf(m, "thread_runs %llu\n", gpu->runs);
	seq_printf(m, "interrupts_lost %llu\n", gpu->interrupts_lost);
}

static int counters_show(struct seq_file *m, void *unused)
{
	struct lab_gpu *gpu = m->private;
	struct vgpu_chip_counters c;
	struct vgpu_counters d;
	struct vgpu_unmapped u;
	int i;

	spin_lock(&gpu->lock);
	c = *vgpu_chip_counters(gpu->chip);
	d = *vgpu_counters(vgpu_chip_device(gpu->chip));
	u = *vgpu_chip_last_unmapped(gpu->chip);
	spin_unlock(&gpu->lock);

	show_ledger(m, gpu);
	for (i = 0; i < VGPU_NR_PACKETS; i++)
		seq_printf(m, "%s %llu\n", vgpu_chip_packet_name(i), c.packets[i]);
	seq_printf(m, "time_only %llu\nsdma_bytes %llu\ninterrupts %llu\nreports %llu\nfaults %llu\n",
		   c.time_only, c.sdma_bytes, c.interrupts, c.reports, c.faults);
	seq_printf(m, "commands_ns %llu\n", c.commands_ns);
	seq_printf(m, "maps %llu\nunmaps %llu\nqueues_mapped %llu\nqueues_unmapped %llu\n",
		   d.maps, d.unmaps, d.queues_mapped, d.queues_unmapped);
	seq_printf(m, "waves_saved %llu\nwaves_restored %llu\nbytes_saved %llu\nbytes_restored %llu\n",
		   d.waves_saved, d.waves_restored, d.bytes_saved, d.bytes_restored);
	seq_printf(m, "workgroups_done %llu\npackets_done %llu\ndoorbells %llu\nevents %llu\n",
		   d.workgroups_done, d.packets_done, d.doorbells, d.events);
	seq_printf(m, "last_unmap_command_ns %llu\nlast_unmap_save_ns %llu\nlast_unmap_bytes %llu\n",
		   u.save_at - u.command_at, u.done_at - u.save_at, u.bytes);
	seq_printf(m, "last_unmap_queues %u\nlast_unmap_waves %u\nlast_unmap_failed %u\n",
		   u.queues, u.waves, u.failed);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static const char *state_name(u8 state)
{
	static const char *const names[] = {
		[VGPU_UNMAPPED] = "unmapped", [VGPU_MAPPING] = "mapping", [VGPU_MAPPED] = "mapped",
		[VGPU_UNMAPPING] = "unmapping", [VGPU_WAITING] = "waiting", [VGPU_ERROR] = "error",
	};

	return state < ARRAY_SIZE(names) && names[state] ? names[state] : "?";
}

static int queues_show(struct seq_file *m, void *unused)
{
	static const char *const kinds[] = { "aql", "pm4", "sdma" };
	struct lab_gpu *gpu = m->private;
	struct vgpu_chip_queue_view v;
	char slot[16];
	u32 nr;
	int r;

	seq_puts(m, "pasid doorbell kind state slot vmid mqd ring rptr wptr waves saved error\n");
	for (nr = 0; ; nr++) {
		spin_lock(&gpu->lock);
		r = vgpu_chip_view(gpu->chip, nr, &v);
		spin_unlock(&gpu->lock);
		if (r == -ENOENT)
			return 0;
		if (r)
			continue;
		scnprintf(slot, sizeof(slot), "-");
		if (v.kind == VGPU_QUEUE_SDMA)
			scnprintf(slot, sizeof(slot), "engine%u", v.engine);
		else if (v.slotted)
			scnprintf(slot, sizeof(slot), "%u.%u", v.pipe, v.queue);
		seq_printf(m, "%u 0x%x %s %s %s %u 0x%llx 0x%llx %llu %llu %u %llu %s\n", v.pasid,
			   v.doorbell, kinds[v.kind], state_name(v.state), slot, v.vmid, v.mqd,
			   v.ring, v.rptr, v.wptr, v.waves, v.saved_bytes, v.error ?: "-");
	}
}
DEFINE_SHOW_ATTRIBUTE(queues);

static int packets_show(struct seq_file *m, void *unused)
{
	struct lab_gpu *gpu = m->private;
	struct vgpu_chip_past *past;
	u32 i, j, n;

	past = kcalloc(VGPU_LAST_PACKETS, sizeof(*past), GFP_KERNEL);
	if (!past)
		return -ENOMEM;
	spin_lock(&gpu->lock);
	n = vgpu_chip_last_packets(gpu->chip, past);
	spin_unlock(&gpu->lock);
	for (i = 0; i < n; i++) {
		seq_printf(m, "%llu %s", past[i].at_ns, vgpu_chip_packet_name(past[i].kind));
		for (j = 0; j < past[i].nr; j++)
			seq_printf(m, " %08x", past[i].dw[j]);
		seq_putc(m, '\n');
	}
	kfree(past);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(packets);

/* A word and, for some, a number. */
static int fault_parse(char *text, enum vgpu_fault *fault, u64 *arg)
{
	static const struct {
		const char *name;
		enum vgpu_fault fault;
		bool has_arg;
	} faults[] = {
		{ "none", VGPU_FAULT_NONE, false },
		{ "hang", VGPU_FAULT_HANG, false },
		{ "preempt", VGPU_FAULT_PREEMPT, true },
		{ "slow-save", VGPU_FAULT_SLOW_SAVE, true },
		{ "rptr-early", VGPU_FAULT_RPTR_EARLY, false },
	};
	char *name = strim(text), *number = strchr(name, ' ');
	size_t i;

	if (number)
		*number++ = '\0';
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(name, faults[i].name))
			continue;
		*fault = faults[i].fault;
		if (faults[i].has_arg != !!number)
			return -EINVAL;
		return number ? kstrtou64(strim(number), 0, arg) : 0;
	}
	return -EINVAL;
}

static ssize_t fault_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	struct lab_gpu *gpu = file->private_data;
	enum vgpu_fault fault = VGPU_FAULT_NONE;
	char text[64] = { 0 };
	u64 arg = 0;
	int r;

	if (n >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, n))
		return -EFAULT;
	r = fault_parse(text, &fault, &arg);
	if (r)
		return r;
	spin_lock(&gpu->lock);
	r = lab_chip_fault(gpu, fault, arg, lab_clock_now(&gpu->clock));
	spin_unlock(&gpu->lock);
	return r ? r : n;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = fault_write,
};

static ssize_t ledger_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	struct lab_gpu *gpu = file->private_data;
	const struct vgpu_chip_counters *c;
	const struct vgpu_counters *d;
	struct lab_ledger l;
	u64 stolen;

	if (n < sizeof(l))
		return -EINVAL;
	spin_lock(&gpu->lock);
	c = vgpu_chip_counters(gpu->chip);
	d = vgpu_counters(vgpu_chip_device(gpu->chip));
	l.unmap_packets = c->packets[VGPU_UNMAP_QUEUES];
	l.query_packets = c->packets[VGPU_QUERY_STATUS];
	l.runlist_packets = c->packets[VGPU_RUN_LIST];
	l.write_packets = c->packets[VGPU_WRITE_DATA];
	l.queues_mapped = d->queues_mapped;
	l.queues_unmapped = d->queues_unmapped;
	l.waves_saved = d->waves_saved;
	l.bytes_saved = d->bytes_saved;
	l.bytes_restored = d->bytes_restored;
	spin_unlock(&gpu->lock);
	lab_clock_ledger(&gpu->clock, &stolen, &l.modelled_ns);
	l.device_ns = lab_clock_now(&gpu->clock);
	/* Exact while the thread sleeps, and on one CPU it does when somebody reads this. */
	l.thread_ns = READ_ONCE(gpu->thread->se.sum_exec_runtime);
	l.idle_ns = get_cpu_idle_time_us(0, NULL) * NSEC_PER_USEC;
	l.guest_ns = ktime_get_ns();
	return copy_to_user(to, &l, sizeof(l)) ? -EFAULT : sizeof(l);
}

static const struct file_operations ledger_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ledger_read,
};

static ssize_t record_read(struct file *file, char __user *to, size_t n, loff_t *pos)
{
	struct lab_gpu *gpu = file->private_data;
	struct recording_head *head = gpu->record.head;

	if (!head)
		return 0;
	return simple_read_from_buffer(to, n, pos, head, sizeof(*head) + READ_ONCE(head->bytes));
}

static const struct file_operations record_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = record_read,
};

void lab_views_init(struct lab_gpu *gpu)
{
	char name[8];

	if (!users++)
		top = debugfs_create_dir("vgpu", NULL);
	scnprintf(name, sizeof(name), "%d", gpu->adev.ddev.render->index - 128);
	gpu->views = debugfs_create_dir(name, top);
	debugfs_create_file("counters", 0444, gpu->views, gpu, &counters_fops);
	debugfs_create_file("queues", 0444, gpu->views, gpu, &queues_fops);
	debugfs_create_file("packets", 0444, gpu->views, gpu, &packets_fops);
	debugfs_create_file("fault", 0200, gpu->views, gpu, &fault_fops);
	debugfs_create_file("ledger", 0400, gpu->views, gpu, &ledger_fops);
	debugfs_create_file("record", 0400, gpu->views, gpu, &record_fops);
}

void lab_views_fini(struct lab_gpu *gpu)
{
	if (!gpu->views)
		return;
	debugfs_remove_recursive(gpu->views);
	gpu->views = NULL;
	if (!--users)
		debugfs_remove_recursive(top);
}
