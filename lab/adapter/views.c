// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The state of the virtual GPU in debugfs, /sys/kernel/debug/vgpu/N/ with N as in renderD(128 +
 * N):
 *
 *   counters	one "name value" per line
 *   queues	the queues the chip knows, one per line
 *   packets	the last packets of the HIQ, oldest first
 *   fault	write: none, hang, preempt DOORBELL, slow-save TIMES, rptr-early
 *   halt	while it is open the GPU is halted (standstill.c)
 *   lock	while it is open the reset domain is locked
 *   reset	the same, and closing it resets the GPU
 *   ledger	users of the guest's time (lab/ledger.h)
 *   clock	"guest_ns device_ns modelled_ns" of the thread's last runs, with marks=
 *   record	the recording (lab/recording.h), empty without the parameter record=
 */
#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/tick.h>

#include "gpu.h"
#include "lab/ledger.h"
#include "record.h"
#include "state.h"

static struct dentry *top;
static int users;

static void show_ledger(struct seq_file *m, struct lab_gpu *gpu)
{
	struct lab_ledger l;

	lab_clock_ledger(gpu, &l);
	seq_printf(m, "guest_ns %llu\n", l.guest_ns);
	seq_printf(m, "device_ns %llu\n", l.device_ns);
	seq_printf(m, "stolen_ns %llu\n", l.guest_ns + l.modelled_ns - l.device_ns);
	seq_printf(m, "modelled_ns %llu\n", l.modelled_ns);
	seq_printf(m, "thread_runs %llu\n", gpu->runs);
	seq_printf(m, "interrupts_lost %llu\n", gpu->interrupts_lost);
}

/* Shows whether the driver has rung for a packet that the GPU has not processed. */
static void show_hiq(struct seq_file *m, struct lab_gpu *gpu)
{
	u64 rung = lab_doorbell_rung(gpu);
	bool idle;

	spin_lock(&gpu->lock);
	idle = vgpu_chip_hiq_idle(gpu->chip, rung);
	spin_unlock(&gpu->lock);
	seq_printf(m, "hiq_busy %d\n", !idle);
}

/* Prints everything that @tell prints, from one moment. */
static int show_state(struct seq_file *m, void (*tell)(struct lab_text *t, struct vgpu_chip *c))
{
	struct lab_gpu *gpu = m->private;
	struct lab_text text = { .room = LAB_STATE_BYTES };

	text.at = kvzalloc(text.room, GFP_KERNEL);
	if (!text.at)
		return -ENOMEM;
	spin_lock(&gpu->lock);
	tell(&text, gpu->chip);
	spin_unlock(&gpu->lock);
	seq_write(m, text.at, text.used);
	kvfree(text.at);
	return 0;
}

static int counters_show(struct seq_file *m, void *unused)
{
	show_ledger(m, m->private);
	show_hiq(m, m->private);
	return show_state(m, lab_state_counters);
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int queues_show(struct seq_file *m, void *unused)
{
	return show_state(m, lab_state_queues);
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

static int clock_show(struct seq_file *m, void *unused)
{
	struct lab_gpu *gpu = m->private;

	lab_clock_show(&gpu->clock, m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(clock);

static int rings_show(struct seq_file *m, void *unused)
{
	struct lab_gpu *gpu = m->private;
	struct lab_doorbell *d = &gpu->doorbell;
	u32 i;

	spin_lock_irq(&d->lock);
	i = d->nr_rings > LAB_RINGS ? d->nr_rings - LAB_RINGS : 0;
	for (; i < d->nr_rings; i++)
		seq_printf(m, "%llu %llu\n", d->rings[i % LAB_RINGS].device_ns,
			   d->rings[i % LAB_RINGS].cost_ns);
	spin_unlock_irq(&d->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rings);

static ssize_t fault_write(struct file *file, const char __user *from, size_t n, loff_t *pos)
{
	char text[64] = { 0 };
	int r;

	if (n >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, n))
		return -EFAULT;
	r = lab_fault_set(file->private_data, text);
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
	lab_clock_ledger(gpu, &l);
	return copy_to_user(to, &l, sizeof(l)) ? -EFAULT : sizeof(l);
}

static const struct file_operations ledger_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ledger_read,
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
	debugfs_create_file("rings", 0444, gpu->views, gpu, &rings_fops);
	debugfs_create_file("fault", 0200, gpu->views, gpu, &fault_fops);
	debugfs_create_file("halt", 0400, gpu->views, gpu, &lab_halt_fops);
	debugfs_create_file("lock", 0400, gpu->views, gpu, &lab_lock_fops);
	debugfs_create_file("partition", 0400, gpu->views, gpu, &lab_partition_fops);
	debugfs_create_file("reset", 0400, gpu->views, gpu, &lab_reset_fops);
	debugfs_create_file("ledger", 0400, gpu->views, gpu, &ledger_fops);
	debugfs_create_file("clock", 0400, gpu->views, gpu, &clock_fops);
	debugfs_create_file("record", 0400, gpu->views, gpu, &lab_record_fops);
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
