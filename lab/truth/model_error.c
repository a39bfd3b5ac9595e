// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* lab-model-error: see usage(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { GOOD = 0, OFF = 1, TROUBLE = 2 };
enum { LIMIT_PERMILLE = 100 };

static int usage(FILE *out, int code)
{
	fputs("usage: lab-model-error [--json] [FILE]\n"
	      "\n"
	      "The model error table. Reads what lab-operations printed in the lab from FILE (or\n"
	      "stdin), does the same operations in the simulator and prints, per operation,\n"
	      "simulator/lab: counts, which must be equal, and the parts of the time the command\n"
	      "processor took, which may be 10 % apart. Other lines of FILE are ignored.\n"
	      "\n"
	      "Both are models of the same device, with the real driver between them in the lab:\n"
	      "the table shows that the driver does what the simulator takes it to do, not that\n"
	      "silicon does what the model does.\n"
	      "\n"
	      "Exit code: 0 within the limits, 1 not, 2 no or malformed input.\n", out);
	return code;
}

/* ---- results of the lab ---- */

static int find(const char *const *names, u32 nr, const char *name)
{
	for (u32 i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

/* Parses one line. False: it is malformed. */
static bool parse(char *line, struct lab_cost *lab, bool *seen)
{
	char *save = NULL, *name, *value, *end;
	int op, part;

	if (strncmp(line, "op ", 3))
		return true;
	strtok_r(line, " \n", &save);
	name = strtok_r(NULL, " \r\n", &save);
	op = name ? find(lab_operation_names, LAB_NR_OPERATIONS, name) : -1;
	if (op < 0 || seen[op])
		return false;
	seen[op] = true;
	for (u32 i = 0; i < LAB_NR_PARTS; i++) {
		name = strtok_r(NULL, " \r\n", &save);
		value = strtok_r(NULL, " \r\n", &save);
		part = value ? find(lab_part_names, LAB_NR_PARTS, name) : -1;
		if (part != (int)i)
			return false;
		lab[op].part[i] = strtoull(value, &end, 10);
		if (*end)
			return false;
	}
	return true;
}

static bool read_lab(FILE *in, struct lab_cost *lab)
{
	bool seen[LAB_NR_OPERATIONS] = { false };
	char line[1024];

	while (fgets(line, sizeof(line), in))
		if (!parse(line, lab, seen)) {
			fprintf(stderr, "lab-model-error: no line of lab-operations: %s\n", line);
			return false;
		}
	for (u32 i = 0; i < LAB_NR_OPERATIONS; i++)
		if (!seen[i]) {
			fprintf(stderr, "lab-model-error: nothing about '%s'\n",
				lab_operation_names[i]);
			return false;
		}
	return true;
}

/* ---- the comparison ---- */

static u64 permille(u64 sim, u64 lab)
{
	u64 apart = sim > lab ? sim - lab : lab - sim;

	return lab ? apart * 1000 / lab : apart ? ~0u : 0;
}

/* Returns the largest error of the parts of the time. */
static u64 error_of(const struct lab_cost *sim, const struct lab_cost *lab)
{
	u64 worst = 0, e;

	for (u32 i = LAB_NR_COUNTS; i < LAB_NR_PARTS; i++) {
		e = permille(sim->part[i], lab->part[i]);
		worst = e > worst ? e : worst;
	}
	return worst;
}

static bool counts_equal(const struct lab_cost *sim, const struct lab_cost *lab)
{
	return !memcmp(sim, lab, LAB_NR_COUNTS * sizeof(u64));
}

static bool is_off(const struct lab_cost *sim, const struct lab_cost *lab)
{
	return !counts_equal(sim, lab) || error_of(sim, lab) > LIMIT_PERMILLE;
}

static void print_cell(u64 sim, u64 lab, int width)
{
	char text[48];

	snprintf(text, sizeof(text), sim == lab ? "%llu" : "%llu/%llu", (unsigned long long)sim,
		 (unsigned long long)lab);
	printf(" %*s", width, text);
}

static void print_row(u32 op, const struct lab_cost *sim, const struct lab_cost *lab)
{
	static const int widths[LAB_NR_PARTS] = { 6, 8, 6, 8, 6, 12, 9, 9, 9 };
	u64 e = error_of(sim, lab);

	printf("%-16s", lab_operation_names[op]);
	for (u32 i = 0; i < LAB_NR_PARTS; i++)
		print_cell(sim->part[i], lab->part[i], widths[i]);
	printf(" %3llu.%llu%s\n", (unsigned long long)(e / 10), (unsigned long long)(e % 10),
	       is_off(sim, lab) ? "  OFF" : "");
}

static void print_table(const struct lab_cost *sim, const struct lab_cost *lab)
{
	puts("Model error: simulator/lab, one number where they are equal. Both are models of the\n"
	     "device; in the lab the real driver is between them. It shows that the driver does\n"
	     "what the simulator takes it to do, not that silicon does what the model does.\n");
	printf("%-16s %6s %8s %6s %8s %6s %12s %9s %9s %9s %5s\n", "operation", "unmaps",
	       "runlists", "mapped", "unmapped", "waves", "bytes saved", "command", "save ns",
	       "switch", "err %");
	for (u32 op = 0; op < LAB_NR_OPERATIONS; op++)
		print_row(op, &sim[op], &lab[op]);
}

static void print_json(const struct lab_cost *sim, const struct lab_cost *lab)
{
	for (u32 op = 0; op < LAB_NR_OPERATIONS; op++) {
		printf("{\"operation\": \"%s\"", lab_operation_names[op]);
		for (u32 i = 0; i < LAB_NR_PARTS; i++)
			printf(", \"%s\": {\"sim\": %llu, \"lab\": %llu}", lab_part_names[i],
			       (unsigned long long)sim[op].part[i],
			       (unsigned long long)lab[op].part[i]);
		printf(", \"error_permille\": %llu, \"off\": %s}\n",
		       (unsigned long long)error_of(&sim[op], &lab[op]),
		       is_off(&sim[op], &lab[op]) ? "true" : "false");
	}
}

int main(int argc, char **argv)
{
	static struct lab_cost sim[LAB_NR_OPERATIONS], lab[LAB_NR_OPERATIONS];
	bool json = argc > 1 && !strcmp(argv[1], "--json"), off = false, good;
	const char *name = argc > 1 + json ? argv[1 + json] : "-";
	FILE *in;
	char why[256];

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout, GOOD);
	if (argc > 2 + json || (name[0] == '-' && name[1]))
		return usage(stderr, TROUBLE);
	in = strcmp(name, "-") ? fopen(name, "r") : stdin;
	if (!in) {
		fprintf(stderr, "lab-model-error: cannot open %s\n", name);
		return TROUBLE;
	}
	good = read_lab(in, lab);
	if (in != stdin)
		fclose(in);
	if (!good)
		return TROUBLE;
	if (lab_model_run("mi308x", sim, why, sizeof(why))) {
		fprintf(stderr, "lab-model-error: the simulator failed: %s\n", why);
		return TROUBLE;
	}
	(json ? print_json : print_table)(sim, lab);
	for (u32 op = 0; op < LAB_NR_OPERATIONS; op++)
		off |= is_off(&sim[op], &lab[op]);
	return off ? OFF : GOOD;
}
