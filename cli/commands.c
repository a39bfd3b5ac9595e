// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The table of commands: parsing, help and completion come from it. */
#include "command.h"

#define COMPARES	(GP_TAKES(SEED) | GP_TAKES(JSON) | GP_TAKES(JOBS) | GP_TAKES(PROGRESS))
#define SHOWS		(GP_TAKES(JSON) | GP_TAKES(WATCH))

const struct gp_command gp_commands[] = {
	{
		{ "status", NULL, GP_ONE, GP_TAKES(GPU) | SHOWS }, false,
		"is it running, and who is on the GPUs? (what gpreempt alone does)",
		"Says whether gpreemptd runs, by which policy and mechanism, what troubles it,\n"
		"and for each GPU who is on it and who is held off.\n",
		gp_cmd_status,
	},
	{
		{ "list", "PID", GP_OPTIONAL, GP_TAKES(GPU) | SHOWS }, false,
		"GPUs, processes, their class, state and GPU time",
		"Lists the GPUs and each process on each of them: class, state, queues, time on\n"
		"the GPU and held off it, how often it was preempted, and its VRAM.\n",
		gp_cmd_list,
	},
	{
		{ "run", "COMMAND...", GP_REST, GP_TAKES(CLASS) | GP_TAKES(ANYWAY) }, false,
		"run a command in a class, from its first queue on",
		"Tells gpreemptd the class of this process, then becomes COMMAND. Exits as\n"
		"COMMAND does; 125 if gpreemptd refused or is not there, 126 if COMMAND cannot\n"
		"be executed, 127 if there is none.\n",
		gp_cmd_run,
	},
	{
		{ "suspend", "PID...", GP_SEVERAL, GP_TAKES(FOR) | GP_TAKES(JSON) }, false,
		"hold processes off the GPU, as long as this runs",
		"Takes the processes off their GPUs and keeps them off until the time is over,\n"
		"this command is interrupted, or they are resumed. If it is killed they\n"
		"run again within three seconds.\n",
		gp_cmd_suspend,
	},
	{
		{ "resume", "PID...", GP_SEVERAL, GP_TAKES(JSON) }, false,
		"end what suspend did",
		"Releases the processes: they are back on the GPU as soon as the policy allows.\n",
		gp_cmd_resume,
	},
	{
		{ "class", "PID CLASS", GP_SEVERAL, GP_TAKES(JSON) }, false,
		"give a running process another class",
		"The owner of a process may lower it; raising it needs root or group gpreempt.\n",
		gp_cmd_class,
	},
	{
		{ "policy", "[NAME] [KEY=VALUE...]", GP_ANY,
		  GP_TAKES(DRY_RUN) | GP_TAKES(JSON) }, false,
		"show or change the policy and its parameters",
		"Without operands: the policy and its parameters. NAME is fifo, priority, fair or\n"
		"deadline. It lasts until the daemon ends; gpreempt.conf is for longer.\n",
		gp_cmd_policy,
	},
	{
		{ "hint", "PID", GP_ONE, GP_TAKES(IN) | GP_TAKES(FOR) | GP_TAKES(JSON) }, false,
		"say that work of a process is about to come",
		"The GPU is cleared before the work is there: --in says when it comes (0), --for\n"
		"when to forget it if it does not (100ms).\n",
		gp_cmd_hint,
	},
	{
		{ "stats", "PID", GP_OPTIONAL,
		  GP_TAKES(GPU) | GP_TAKES(PROMETHEUS) | SHOWS }, false,
		"counters, and the five parts of a preemption",
		"Counters of the daemon and of each process, and how long each part of a\n"
		"preemption took. --prometheus: for a node exporter's textfile collector.\n",
		gp_cmd_stats,
	},
	{
		{ "record", "FILE", GP_ONE, GP_TAKES(FOR) | GP_TAKES(JSON) }, false,
		"write a timeline of who is on the GPUs, and why it changes",
		"Until the time is over or it is interrupted. FILE ends with .pftrace (Perfetto,\n"
		"https://ui.perfetto.dev) or .gptrace (for what-if).\n",
		gp_cmd_record,
	},
	{
		{ "off", NULL, GP_ONE, GP_TAKES(JSON) }, false,
		"the kill switch: release everything and stay off",
		"Releases every process and preempts no more, also after a restart of the\n"
		"daemon or the machine, until `gpreempt on`.\n",
		gp_cmd_off,
	},
	{
		{ "on", NULL, GP_ONE, GP_TAKES(JSON) }, false,
		"preempt again after off",
		"Undoes `gpreempt off`.\n",
		gp_cmd_on,
	},
	{
		{ "doctor", NULL, GP_ONE,
		  GP_TAKES(GPU) | GP_TAKES(BUNDLE) | GP_TAKES(SELFTEST) | GP_TAKES(ROOT) |
		  GP_TAKES(JSON) }, false,
		"can this machine preempt, and what to do if not",
		"Checks kernel, driver, its parameters, rights, memory and the daemon, says PASS,\n"
		"WARN or FAIL with a remedy, and which mechanism to use. It changes nothing and\n"
		"needs no daemon. Exits 1 if a check fails.\n",
		gp_cmd_doctor,
	},
	{
		{ "module", "check|load|unload", GP_OPTIONAL,
		  GP_TAKES(FILE) | GP_TAKES(ROOT) | GP_TAKES(JSON) }, false,
		"the kernel module: does it fit the running driver? load it, unload it",
		"Compares what gpreempt.ko takes for granted about amdgpu with the kernel's own\n"
		"description of the running driver (BTF), and says what Secure Boot and lockdown\n"
		"want. load refuses a module built for another driver and names what differs.\n",
		gp_cmd_module,
	},
	{
		{ "bench", "PID | -- COMMAND...", GP_SEVERAL,
		  GP_TAKES(GPU) | GP_TAKES(MECHANISM) | GP_TAKES(ROUNDS) | GP_TAKES(GRACE) |
			  GP_TAKES(JSON) }, false,
		"how long it takes to get a process off its GPU and back",
		"Takes the queues of the process PID, or of a program that it runs for that, off\n"
		"and puts them back, again and again, by each mechanism (kfd-debug; with the\n"
		"module evict, direct and halt, too) and grace period, and says how long it took.\n"
		"The process and all that share its GPU pause each time. It needs no daemon, and\n"
		"the right to trace the process.\n",
		gp_cmd_bench,
	},
	{
		{ "demo", NULL, GP_ONE, COMPARES | GP_TAKES(LENGTH) | GP_TAKES(OUTPUT) }, true,
		"a short comparison with a picture: begin here",
		"Runs an inference server beside a training job on the virtual MI308X, one way of\n"
		"sharing after the other, draws the result, and writes a timeline to open at\n"
		"https://ui.perfetto.dev.\n",
		gp_cmd_demo,
	},
	{
		{ "sim", "FILE", GP_ONE,
		  COMPARES | GP_TAKES(POLICY) | GP_TAKES(MECHANISM) | GP_TAKES(SET) |
			  GP_TAKES(LENGTH) | GP_TAKES(ROWS) | GP_TAKES(TRACE) | GP_TAKES(CHECK) },
		true,
		"run one scenario in virtual time",
		"Runs the scenario as it is written and checks what it expects.\n"
		"FILE is a scenario, or the name of one that `gpreempt scenarios` lists.\n",
		gp_cmd_sim,
	},
	{
		{ "scenarios", NULL, GP_ONE, GP_TAKES(JSON) }, true,
		"the scenarios that came with gpreempt",
		"Lists each scenario with a line that says what it is. sim and compare take their\n"
		"names. Those of the folder $GPREEMPT_SCENARIOS come first, if it is set.\n",
		gp_cmd_scenarios,
	},
	{
		{ "compare", "FILE", GP_ONE,
		  COMPARES | GP_TAKES(SET) | GP_TAKES(LENGTH) | GP_TAKES(ROWS) | GP_TAKES(SEEDS) |
			  GP_TAKES(ROBUST) | GP_TAKES(FRONTIER) }, true,
		"run a scenario in every way there is and compare",
		"Runs the same arrivals alone, natively, with every other way we know and with\n"
		"ours, and says also where another way is better.\n",
		gp_cmd_compare,
	},
	{
		{ "what-if", "TRACE", GP_ONE,
		  COMPARES | GP_TAKES(POLICY) | GP_TAKES(MECHANISM) | GP_TAKES(SET) |
			  GP_TAKES(LENGTH) }, true,
		"what a policy would have done to what this node recorded",
		"Reads what `gpreempt record F.gptrace` wrote, repeats its arrivals and gaps in\n"
		"the simulator natively and with each policy and mechanism, and says what becomes\n"
		"of online latency and of training.\n",
		gp_cmd_what_if,
	},
	{
		{ "replay", "TRACE", GP_ONE, GP_TAKES(JSON) }, true,
		"feed a recorded run to a fresh scheduler and compare",
		"Reads what `gpreempt sim FILE --trace F.gptrace` wrote, feeds its inputs to a\n"
		"fresh scheduler and compares every decision, bit by bit.\n",
		gp_cmd_replay,
	},
	{
		{ "facts", NULL, GP_ONE, GP_TAKES(PROFILE) | GP_TAKES(JSON) }, true,
		"every number of the model, with its source",
		"Lists each number the model rests on, its unit, and whether it is assumed, read\n"
		"in public code or documents, or measured on hardware.\n",
		gp_cmd_facts,
	},
	{
		{ "help", "COMMAND", GP_OPTIONAL, 0 }, true,
		"this text, or that of a command",
		"",
		gp_cmd_help,
	},
	{ { NULL, NULL, GP_ONE, 0 }, false, NULL, NULL, NULL },
};
