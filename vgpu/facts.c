// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The profiles: every number with where it comes from.
 *
 * Files, registers and names without another origin are those of Linux 6.12's amdgpu;
 * what would replace an assumption is said with it. "selftest" is a run of
 * `gpreempt doctor --selftest` on that machine.
 */
#include "facts.h"

#define FACT(u, src, val, text) { .value = (val), .unit = (u), .from = (src), .note = (text) }
#define READ(u, val, text)	FACT(u, VGPU_READ, val, text)
#define ASSUMED(u, val, text)	FACT(u, VGPU_ASSUMED, val, text)

/* Facts shared by all devices of CDNA 2 and 3 under amdkfd. */
#define CDNA_FACTS							\
	[VGPU_WAVES_PER_CU]	= READ(VGPU_COUNT, 32,			\
		"CDNA 2 and 3: 4 SIMDs of 8 waves; amdkfd sizes its area for 40"),	\
	[VGPU_VGPR_PER_CU]	= READ(VGPU_BYTES, 0x80000,		\
		"kfd_queue.c, VGPR_SIZE_PER_CU of gfx 9.4.x"),	\
	[VGPU_LDS_PER_CU]	= READ(VGPU_BYTES, 0x10000,		\
		"kfd_queue.c, LDS_SIZE_PER_CU"),		\
	[VGPU_SGPR_PER_WAVE]	= READ(VGPU_BYTES, 0x4000 / 32,		\
		"kfd_queue.c, SGPR_SIZE_PER_CU / 32 waves"),	\
	[VGPU_HWREG_PER_WAVE]	= READ(VGPU_BYTES, 0x1000 / 32,		\
		"kfd_queue.c, HWREG_SIZE_PER_CU / 32 waves"),	\
	[VGPU_HQD_SLOTS]	= READ(VGPU_COUNT, 24,			\
		"amdgpu: MEC1, 4 pipes x 8 queues less 8 kernel queues"),	\
	[VGPU_VMIDS]		= READ(VGPU_COUNT, 13,			\
		"amdgpu, first_kfd_vmid 3: VMIDs 3..15"),		\
	[VGPU_RPTR_AT]		= ASSUMED(VGPU_CHOICE, VGPU_RPTR_AT_COMPLETION,	\
		"AMD says both occur (ROCR-Runtime #105, rocm-systems #4341); selftest"), \
	[VGPU_SAVE_AREA]	= ASSUMED(VGPU_CHOICE, VGPU_SAVE_VRAM,	\
		"VRAM with SVM, host without (libhsakmt queues.c); doctor, per process"), \
	[VGPU_SAVE_EFFICIENCY]	= ASSUMED(VGPU_PERMILLE, 600,		\
		"share of peak a trap handler's stores reach; two saves of known size"), \
	[VGPU_COMMAND_NS]	= ASSUMED(VGPU_NS, 3000,		\
		"HIQ doorbell until the CP acts; fence of an unmap of idle queues"),	\
	[VGPU_SAVE_FIXED_NS]	= ASSUMED(VGPU_NS, 2000,		\
		"trap, halt and control stack; a save of one wave measured"),	\
	[VGPU_RESTORE_FIXED_NS]	= ASSUMED(VGPU_NS, 2000,		\
		"taken to be as the save; a restore of one wave measured"),	\
	[VGPU_MAP_PROCESS_NS]	= ASSUMED(VGPU_NS, 1000,		\
		"CP reads MAP_PROCESS, sets VMID and page table; a run list measured"),	\
	[VGPU_MAP_QUEUE_NS]	= ASSUMED(VGPU_NS, 1000,		\
		"CP loads an MQD into HQDs of all XCCs; run lists of 1 and 24 queues"),	\
	[VGPU_DISPATCH_NS]	= ASSUMED(VGPU_NS, 2000,		\
		"mapped until the first wave runs; a kernel that stores the clock"),	\
	[VGPU_QUANTUM_NS]	= ASSUMED(VGPU_NS, 10000000,		\
		"MAP_PROCESS.process_quantum = 10, unit not stated, taken as ms"),	\
	[VGPU_PREEMPT_TIMEOUT_NS] = READ(VGPU_NS, 9000000000ull,	\
		"amdgpu queue_preemption_timeout_ms, default 9000"),	\
	[VGPU_RESET_NS]		= ASSUMED(VGPU_NS, 38000,		\
		"taken to be as on an MI50 (REEF, OSDI 22); a reset measured"),	\
	[VGPU_SDMA_PACKET_NS]	= ASSUMED(VGPU_NS, 300,			\
		"fetch and decode of a packet; timestamps around 100 NOPs"),	\
	CDNA_HOST_FACTS

/* Clocks and PCIe of CDNA 3. */
#define CDNA3_FACTS							\
	[VGPU_BANDWIDTH_HOST]	= ASSUMED(VGPU_BYTES_PER_US, 55000,	\
		"PCIe 5 x16, about 55 GB/s of 63; a copy measured on the machine"),	\
	[VGPU_GRACE_NS]		= ASSUMED(VGPU_NS, 500,			\
		"CP_IQ_WAIT_TIME2.SCH_WAVE = 1: 1K clocks, 2.1 GHz; an unmap measured"),	\
	[VGPU_GRACE_DEFAULT_NS]	= ASSUMED(VGPU_NS, 31000,		\
		"CP_IQ_WAIT_TIME2.SCH_WAVE = 0x40: 64K clocks, 2.1 GHz; an unmap measured"),	\
	[VGPU_SDMA_BANDWIDTH]	= ASSUMED(VGPU_BYTES_PER_US, 50000,	\
		"one engine, taken to be what PCIe 5 x16 carries; copies of two sizes"), \
	CDNA_FACTS

#define CDNA_HOST_FACTS						\
	[VGPU_LOOK_NS]		= ASSUMED(VGPU_NS, 1200,		\
		"2900 instructions for 100 queues in a trial; bench on the machine"),	\
	[VGPU_WAKE_NS]		= ASSUMED(VGPU_NS, 4000,		\
		"timer callback to running worker; trace of the module"),	\
	[VGPU_DECIDE_NS]	= ASSUMED(VGPU_NS, 1000,		\
		"the core's answer; bench, counted instructions"),	\
	[VGPU_PROBE_NS]		= ASSUMED(VGPU_NS, 30000,		\
		"get_cu_occupancy: 4 x (1 + 2q) MMIO reads per XCC, two mutexes; timed"), \
	[VGPU_RUNLIST_NS]	= ASSUMED(VGPU_NS, 5000,		\
		"fence seen until RUN_LIST is on the ring; trace of the module")

static const struct vgpu_facts mi308x = {
	.profile = "mi308x",
	.f = {
		[VGPU_XCCS] = READ(VGPU_COUNT, 4,
			"unofficial reports: gfx942, 80 CUs, 4 HQDs per MQD"),
		[VGPU_CUS_PER_XCC] = READ(VGPU_COUNT, 20,
			"unofficial reports: gfx942, 80 CUs"),
		[VGPU_BANDWIDTH_VRAM] = ASSUMED(VGPU_BYTES_PER_US, 5300000,
			"taken to be the MI300X's 5.3 TB/s (its data sheet); a copy measured"),
		CDNA3_FACTS,
	},
};

static const struct vgpu_facts mi300x = {
	.profile = "mi300x",
	.f = {
		[VGPU_XCCS] = READ(VGPU_COUNT, 8,
			"AMD Instinct MI300X data sheet: 304 CUs in 8 XCDs"),
		[VGPU_CUS_PER_XCC] = READ(VGPU_COUNT, 38,
			"AMD Instinct MI300X data sheet: 304 CUs in 8 XCDs"),
		[VGPU_BANDWIDTH_VRAM] = READ(VGPU_BYTES_PER_US, 5300000,
			"AMD Instinct MI300X data sheet, 5.3 TB/s"),
		CDNA3_FACTS,
	},
};

static const struct vgpu_facts mi210 = {
	.profile = "mi210",
	.f = {
		[VGPU_XCCS] = READ(VGPU_COUNT, 1, "gfx90a: one die, which has no XCCs"),
		[VGPU_CUS_PER_XCC] = READ(VGPU_COUNT, 104,
			"AMD Instinct MI210 data sheet: 104 CUs"),
		[VGPU_BANDWIDTH_VRAM] = READ(VGPU_BYTES_PER_US, 1600000,
			"AMD Instinct MI210 data sheet, HBM2e, 1.6 TB/s"),
		[VGPU_BANDWIDTH_HOST] = ASSUMED(VGPU_BYTES_PER_US, 27000,
			"PCIe 4 x16, about 27 GB/s of 31.5; a copy measured on the machine"),
		[VGPU_GRACE_NS] = ASSUMED(VGPU_NS, 600,
			"CP_IQ_WAIT_TIME2.SCH_WAVE = 1: 1K clocks, 1.7 GHz; an unmap measured"),
		[VGPU_GRACE_DEFAULT_NS] = ASSUMED(VGPU_NS, 38500,
			"CP_IQ_WAIT_TIME2.SCH_WAVE = 0x40: 64K clocks, 1.7 GHz; an unmap measured"),
		[VGPU_SDMA_BANDWIDTH] = ASSUMED(VGPU_BYTES_PER_US, 25000,
			"one engine, taken to be what PCIe 4 x16 carries; copies of two sizes"),
		CDNA_FACTS,
	},
};

/*
 * For the row `timeslice` only. A context is what GPreempt (ATC 25) counts:
 * 108 SMs x (256 KiB registers + 164 KiB shared memory) = 44.3 MiB, and a save
 * of it "about 40 us", which is 1.1 TB/s. Compute preemption on an instruction
 * is said to take about 100 us and between thread blocks about 10 us.
 */
static const struct vgpu_facts a100 = {
	.profile = "a100",
	.f = {
		[VGPU_XCCS]		= READ(VGPU_COUNT, 1, "no chiplets"),
		[VGPU_CUS_PER_XCC]	= READ(VGPU_COUNT, 108, "NVIDIA A100 whitepaper: SMs"),
		[VGPU_WAVES_PER_CU]	= READ(VGPU_COUNT, 64, "NVIDIA A100 whitepaper: warps"),
		[VGPU_VGPR_PER_CU]	= READ(VGPU_BYTES, 256 * 1024,
			"NVIDIA A100 whitepaper: register file of an SM"),
		[VGPU_LDS_PER_CU]	= READ(VGPU_BYTES, 164 * 1024,
			"NVIDIA A100 whitepaper: shared memory of an SM"),
		[VGPU_SGPR_PER_WAVE]	= READ(VGPU_BYTES, 0,
			"GPreempt's 44.3 MB counts registers and shared memory only"),
		[VGPU_HWREG_PER_WAVE]	= READ(VGPU_BYTES, 0,
			"GPreempt's 44.3 MB counts registers and shared memory only"),
		[VGPU_HQD_SLOTS]	= ASSUMED(VGPU_COUNT, 512,
			"channels of a runlist; NVIDIA's open kernel modules"),
		[VGPU_VMIDS]		= ASSUMED(VGPU_COUNT, 64,
			"contexts resident at once; timeslices run one at a time anyway"),
		[VGPU_RPTR_AT]		= ASSUMED(VGPU_CHOICE, VGPU_RPTR_AT_COMPLETION,
			"not looked at in the rows that use this profile"),
		[VGPU_SAVE_AREA]	= READ(VGPU_CHOICE, VGPU_SAVE_VRAM,
			"GPreempt: contexts are saved to device memory"),
		[VGPU_BANDWIDTH_VRAM]	= READ(VGPU_BYTES_PER_US, 1100000,
			"GPreempt: 44.3 MB in about 40 us"),
		[VGPU_BANDWIDTH_HOST]	= ASSUMED(VGPU_BYTES_PER_US, 25000,
			"PCIe 4 x16; not used by the profile"),
		[VGPU_SAVE_EFFICIENCY]	= READ(VGPU_PERMILLE, 1000,
			"contained in GPreempt's 1.1 TB/s"),
		[VGPU_COMMAND_NS]	= ASSUMED(VGPU_NS, 3000, "taken to be as on AMD"),
		[VGPU_GRACE_NS]		= ASSUMED(VGPU_NS, 0, "preempts between instructions"),
		[VGPU_GRACE_DEFAULT_NS]	= ASSUMED(VGPU_NS, 0, "preempts between instructions"),
		[VGPU_SAVE_FIXED_NS]	= ASSUMED(VGPU_NS, 0, "contained in GPreempt's 40 us"),
		[VGPU_RESTORE_FIXED_NS]	= ASSUMED(VGPU_NS, 0, "taken to be as the save"),
		[VGPU_MAP_PROCESS_NS]	= ASSUMED(VGPU_NS, 1000, "taken to be as on AMD"),
		[VGPU_MAP_QUEUE_NS]	= ASSUMED(VGPU_NS, 1000, "taken to be as on AMD"),
		[VGPU_DISPATCH_NS]	= ASSUMED(VGPU_NS, 2000, "taken to be as on AMD"),
		[VGPU_QUANTUM_NS]	= READ(VGPU_NS, 2000000,
			"default timeslice of a compute channel group, GPreempt"),
		[VGPU_PREEMPT_TIMEOUT_NS] = ASSUMED(VGPU_NS, 9000000000ull,
			"not used by the profile's rows"),
		[VGPU_RESET_NS]		= ASSUMED(VGPU_NS, 38000, "REEF's figure for AMD"),
		[VGPU_SDMA_PACKET_NS]	= ASSUMED(VGPU_NS, 300, "not used by the profile's rows"),
		[VGPU_SDMA_BANDWIDTH]	= ASSUMED(VGPU_BYTES_PER_US, 25000,
			"not used by the profile's rows"),
		CDNA_HOST_FACTS,
	},
};

static const struct vgpu_facts *const profiles[] = { &mi308x, &mi300x, &mi210, &a100 };

const char *const vgpu_profile_names[] = { "mi308x", "mi300x", "mi210", "a100", NULL };

static const char *const names[VGPU_NR_FACTS] = {
	[VGPU_XCCS]			= "xccs",
	[VGPU_CUS_PER_XCC]		= "cus_per_xcc",
	[VGPU_WAVES_PER_CU]		= "waves_per_cu",
	[VGPU_VGPR_PER_CU]		= "vgpr_per_cu",
	[VGPU_LDS_PER_CU]		= "lds_per_cu",
	[VGPU_SGPR_PER_WAVE]		= "sgpr_per_wave",
	[VGPU_HWREG_PER_WAVE]		= "hwreg_per_wave",
	[VGPU_HQD_SLOTS]		= "hqd_slots",
	[VGPU_VMIDS]			= "vmids",
	[VGPU_RPTR_AT]			= "rptr_at",
	[VGPU_SAVE_AREA]		= "save_area",
	[VGPU_BANDWIDTH_VRAM]		= "bandwidth_vram",
	[VGPU_BANDWIDTH_HOST]		= "bandwidth_host",
	[VGPU_SAVE_EFFICIENCY]		= "save_efficiency",
	[VGPU_COMMAND_NS]		= "command",
	[VGPU_GRACE_NS]			= "grace",
	[VGPU_GRACE_DEFAULT_NS]		= "grace_default",
	[VGPU_SAVE_FIXED_NS]		= "save_fixed",
	[VGPU_RESTORE_FIXED_NS]		= "restore_fixed",
	[VGPU_MAP_PROCESS_NS]		= "map_process",
	[VGPU_MAP_QUEUE_NS]		= "map_queue",
	[VGPU_DISPATCH_NS]		= "dispatch",
	[VGPU_QUANTUM_NS]		= "quantum",
	[VGPU_PREEMPT_TIMEOUT_NS]	= "preempt_timeout",
	[VGPU_RESET_NS]			= "reset",
	[VGPU_SDMA_PACKET_NS]		= "sdma_packet",
	[VGPU_SDMA_BANDWIDTH]		= "sdma_bandwidth",
	[VGPU_LOOK_NS]			= "look",
	[VGPU_WAKE_NS]			= "wake",
	[VGPU_DECIDE_NS]		= "decide",
	[VGPU_PROBE_NS]			= "probe",
	[VGPU_RUNLIST_NS]		= "runlist",
};

static bool same_text(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct vgpu_facts *vgpu_profile(const char *name)
{
	for (u32 i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (same_text(profiles[i]->profile, name))
			return profiles[i];
	return NULL;
}

const char *vgpu_fact_name(enum vgpu_fact_id id)
{
	return (u32)id < VGPU_NR_FACTS ? names[id] : NULL;
}

bool vgpu_facts_complete(const struct vgpu_facts *facts)
{
	for (u32 i = 0; i < VGPU_NR_FACTS; i++) {
		const struct vgpu_fact *f = &facts->f[i];

		if (f->from == VGPU_UNSET || f->from > VGPU_ASSUMED || !f->note || !*f->note)
			return false;
	}
	return true;
}

enum vgpu_source vgpu_facts_weakest(const struct vgpu_facts *facts)
{
	u8 weakest = VGPU_MEASURED;

	for (u32 i = 0; i < VGPU_NR_FACTS; i++) {
		if (facts->f[i].from == VGPU_UNSET)
			return VGPU_UNSET;
		if (facts->f[i].from > weakest)
			weakest = facts->f[i].from;
	}
	return (enum vgpu_source)weakest;
}
