// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The device's and the driver's state, as their views in debugfs show it. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "story.h"

#define VIEWS	"/sys/kernel/debug/vgpu/0/"
#define RUNLIST	"/sys/kernel/debug/kfd/rls"

enum {
	LOOK_US		= 2000,
	LOOKS		= 20000,	/* forty seconds and the time of the looks */
	SETTLE_US	= 20000,
};

/* Sets @busy if the driver has requested something that the device has not done yet. */
static struct device_counts read_counts(u64 *busy)
{
	struct device_counts r = { 0 };
	const struct {
		const char *name;
		u64 *at;
	} wanted[] = {
		{ "UNMAP_QUEUES", &r.unmap }, { "QUERY_STATUS", &r.query },
		{ "RUN_LIST", &r.run_list }, { "WRITE_DATA", &r.write_data },
		{ "waves_saved", &r.waves_saved }, { "hiq_busy", busy },
	};
	FILE *f = fopen(VIEWS "counters", "re");
	unsigned long long value;
	char line[128], name[64];

	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %llu", name, &value) != 2)
			continue;
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (!strcmp(name, wanted[i].name))
				*wanted[i].at = value;
	}
	fclose(f);
	return r;
}

/*
 * Returns the counts once the device is at rest. The driver does not wait for its last packets, and
 * a busy host may delay the device. The driver may also still report on a process that has just
 * ended.
 */
struct device_counts device_counts(void)
{
	u64 was_busy = 1, busy = 1;
	struct device_counts before, now = read_counts(&busy);
	int i;

	for (i = 0; i < LOOKS; i++) {
		before = now;
		was_busy = busy;
		usleep(SETTLE_US);
		now = read_counts(&busy);
		/*
		 * Ignore this count, because with more queues than slots the hardware saves waves
		 * all the time.
		 */
		before.waves_saved = now.waves_saved;
		if (!was_busy && !busy && !memcmp(&before, &now, sizeof(now)))
			return now;
	}
	NEED(!"the device comes to rest");
	return now;
}

static bool as_many(const struct device_counts *since, u64 unmaps, u64 run_lists, u64 graces)
{
	u64 busy;
	struct device_counts now = read_counts(&busy);

	return now.unmap - since->unmap == unmaps && now.query - since->query == unmaps &&
	       now.run_list - since->run_list == run_lists &&
	       now.write_data - since->write_data == graces;
}

bool device_saw(const struct device_counts *since, u64 unmaps, u64 run_lists, u64 graces,
		const char *file, int line)
{
	struct device_counts now;
	char text[200];
	u64 busy;
	int i;

	for (i = 0; i < LOOKS && !as_many(since, unmaps, run_lists, graces); i++)
		usleep(LOOK_US);
	usleep(SETTLE_US);
	if (as_many(since, unmaps, run_lists, graces))
		return true;
	now = read_counts(&busy);
	snprintf(text, sizeof(text), "%llu UNMAP + QUERY, %llu RUN_LIST, %llu WRITE_DATA; it was "
		 "%llu + %llu, %llu, %llu", (unsigned long long)unmaps,
		 (unsigned long long)run_lists, (unsigned long long)graces,
		 (unsigned long long)(now.unmap - since->unmap),
		 (unsigned long long)(now.query - since->query),
		 (unsigned long long)(now.run_list - since->run_list),
		 (unsigned long long)(now.write_data - since->write_data));
	return story_check(false, file, line, text);
}

static u32 pasid_of(pid_t pid)
{
	char path[64];
	u32 pasid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/kfd/kfd/proc/%d/pasid", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &pasid) != 1)
		pasid = 0;
	fclose(f);
	return pasid;
}

/* Compares the PASID too, because rings of two processes may have the same address. */
static bool is_mapped(u32 pasid, u64 ring)
{
	FILE *f = fopen(VIEWS "queues", "re");
	unsigned long long at;
	char line[256], state[32];
	bool mapped = false;
	u32 whose;

	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %*s %*s %31s %*s %*s %*s 0x%llx", &whose, state, &at) != 3)
			continue;
		if (whose == pasid && at == ring)
			mapped = mapped || !strcmp(state, "mapped");
	}
	fclose(f);
	return mapped;
}

bool device_maps_now(pid_t pid, u64 ring)
{
	return is_mapped(pasid_of(pid), ring);
}

/* Waits until the state is stable, because one operation may unmap and map several times. */
bool device_maps(pid_t pid, u64 ring, bool on)
{
	u32 pasid = pasid_of(pid), so = 0;
	int i;

	for (i = 0; i < LOOKS && so < SETTLE_US / LOOK_US; i++) {
		usleep(LOOK_US);
		so = is_mapped(pasid, ring) == on ? so + 1 : 0;
	}
	return so >= SETTLE_US / LOOK_US;
}

bool device_ended_with(const char *packets)
{
	FILE *f = fopen(VIEWS "packets", "re");
	char line[256], name[32], all[4096] = " ";
	size_t used = 1, wanted = strlen(packets);
	unsigned int word;

	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %31s %*x %x", name, &word) != 2 || !strcmp(name, "NOP"))
			continue;
		if (!strcmp(name, "UNMAP_QUEUES"))
			snprintf(name, sizeof(name), "UNMAP_QUEUES:%x", word);
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s ", name);
	}
	fclose(f);
	all[--used] = '\0';
	if (used >= wanted && !strcmp(all + used - wanted, packets))
		return true;
	printf("# the last packets were:%s\n", used > 200 ? all + used - 200 : all);
	return false;
}

/* Returns the register's second byte from the last two packets, before and after the unmap. */
int device_graces(u32 *ret_first, u32 *ret_last)
{
	FILE *f = fopen(VIEWS "packets", "re");
	u32 found = 0, word;
	char line[256];

	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s WRITE_DATA %*x %*x %*x %*x %x", &word) != 1)
			continue;
		found++;
		*ret_first = *ret_last;
		*ret_last = (word >> 8) & 0xff;
	}
	fclose(f);
	return found >= 2 ? 0 : -ENOENT;
}

int runlist_process(u32 dw[21])
{
	FILE *f = fopen(RUNLIST, "re");
	char word[32];
	int nr = 0;
	unsigned int value;

	NEED(f);
	while (nr < 21 && fscanf(f, "%31s", word) == 1) {
		if (strlen(word) != 8 || sscanf(word, "%x", &value) != 1)
			continue;
		if (nr || value == 0xc013a100)
			dw[nr++] = value;
	}
	fclose(f);
	return nr == 21 ? 0 : -ENOENT;
}
