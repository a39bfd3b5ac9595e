// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Configuration in files: drop-ins, untrusted files, and what the manual promises. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.h"
#include "text/value.h"
#include "tests/shared/gp_test.h"

static char errors[GP_CONFIG_ERRORS];

/* ---- a folder of our own ---- */

static char folder[] = "/tmp/gp-config-XXXXXX";
static char path[256];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *f = fopen(in_folder(name), "w");

	EXPECT(f);
	fputs(text, f);
	fclose(f);
	EXPECT_EQ(chmod(path, 0644), 0);
}

static int up(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	return !mkdtemp(folder) || mkdir(in_folder("conf.d"), 0755);
}

static int down(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void expect_says(int err, const char *format)
{
	struct gp_config *config = NULL;
	char want[1000];

	/* Every %s is the folder. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(want, sizeof(want), format, folder, folder, folder);
#pragma GCC diagnostic pop
	EXPECT_EQ(gp_config_load(folder, &config, errors, sizeof(errors)), err);
	assert_string_equal(errors, want);
	EXPECT(!config);
}

static void drop_ins_come_in_the_order_of_their_names_and_win(void **state)
{
	struct gp_config *config = NULL;

	(void)state;
	put("gpreempt.conf", "[daemon]\npolicy = fair\ngrace = 1\n"
	    "[rule main]\nuid=0\nclass=late\n");
	put("conf.d/20-b.conf", "[daemon]\ngrace = 20\n[rule b]\nuid=0\nclass=late\n");
	put("conf.d/10-a.conf", "[daemon]\ngrace = 10\n[class late]\n"
	    "[rule a]\nuid=0\nclass=idle\n");
	put("conf.d/.hidden.conf", "nonsense\n");
	put("conf.d/old.conf~", "nonsense\n");
	EXPECT_EQ(gp_config_load(folder, &config, errors, sizeof(errors)), 0);
	EXPECT(config->policy == &gp_policy_fair);
	EXPECT_EQ(config->daemon.grace, 20);
	EXPECT_EQ(config->nr_files, 3);
	assert_string_equal(config->rule[0].name, "main");
	assert_string_equal(config->rule[1].name, "a");
	assert_string_equal(config->rule[2].name, "b");
	assert_string_equal(config->file[1], in_folder("conf.d/10-a.conf"));
	gp_config_free(config);
	/* A file given by name has the same drop-ins. */
	EXPECT_EQ(gp_config_load(in_folder("gpreempt.conf"), &config, errors, sizeof(errors)), 0);
	EXPECT_EQ(config->daemon.grace, 20);
	gp_config_free(config);
}

static void faults_of_all_files_are_listed_with_their_file(void **state)
{
	(void)state;
	put("gpreempt.conf", "[daemon]\ngrace = 0\n[class a]\n");
	put("conf.d/a.conf", "[rule x]\nuid=0\nclass=idle\n[class a]\n");
	expect_says(-EINVAL, "%s/gpreempt.conf:2: grace: invalid value '0' (in units of 1000 GPU "
		    "clocks); expected a number from 1 to 255\n%s/conf.d/a.conf:4: [class a]: "
		    "already defined at %s/gpreempt.conf:3; merge the two\n");
}

static void the_line_of_an_unknown_class_is_in_its_own_file(void **state)
{
	(void)state;
	put("gpreempt.conf", "");
	put("conf.d/a.conf", "\n\n[rule x]\nuid=0\nclass=b\n");
	expect_says(-EINVAL, "%s/conf.d/a.conf:5: class: unknown class 'b'; add [class b] or "
		    "write one of online, interactive, offline, idle, unmanaged\n");
}

static void a_file_that_others_may_write_is_not_trusted(void **state)
{
	(void)state;
	put("gpreempt.conf", "");
	EXPECT_EQ(chmod(in_folder("gpreempt.conf"), 0646), 0);
	expect_says(-EINVAL,
		    "%s/gpreempt.conf: not trusted: every user may write it; chmod o-w it\n");
	if (geteuid())
		return;
	EXPECT_EQ(chown(path, 12345, 0) | chmod(path, 0644), 0);
	expect_says(-EINVAL, "%s/gpreempt.conf: not trusted: it belongs to another user; chown it "
		    "to root\n");
	EXPECT_EQ(chown(path, 0, 12345) | chmod(path, 0664), 0);
	expect_says(-EINVAL, "%s/gpreempt.conf: not trusted: its group may write it; chmod g-w "
		    "it\n");
	EXPECT_EQ(chown(path, 0, 0), 0);
}

static void a_file_that_is_none_does_not_block(void **state)
{
	(void)state;
	EXPECT_EQ(mkfifo(in_folder("gpreempt.conf"), 0600), 0);
	expect_says(-EINVAL, "%s/gpreempt.conf: not trusted: it is not a regular file; expected a "
		    "regular file\n");
	unlink(in_folder("gpreempt.conf"));
	expect_says(-ENOENT, "%s/gpreempt.conf: cannot be read: No such file or directory; "
		    "expected a file that exists and that gpreemptd may read\n");
	put("gpreempt.conf", "");
	EXPECT_EQ(truncate(path, GP_INI_BYTES), 0);
	expect_says(-EINVAL,
		    "%s/gpreempt.conf: not trusted: it is larger than 1 MB; make it smaller\n");
}

static void a_bad_configuration_leaves_the_old_one_alone(void **state)
{
	struct gp_config *config = NULL, *old;

	(void)state;
	put("gpreempt.conf", "[daemon]\npolicy = priority\n");
	EXPECT_EQ(gp_config_load(folder, &config, errors, sizeof(errors)), 0);
	old = config;
	put("gpreempt.conf", "[daemon]\npolicy = priorty\n");
	EXPECT_EQ(gp_config_load(folder, &config, errors, sizeof(errors)), -EINVAL);
	EXPECT(config == old);
	EXPECT(config->policy == &gp_policy_priority);
	gp_config_free(config);
}

/* Reloads the folder over @old and expects an error whose message begins with the given text. */
static void expect_kept(const struct gp_config *old, int err, const char *file, const char *says)
{
	struct gp_config *config = NULL;
	char want[400];

	snprintf(want, sizeof(want), "%s%s", in_folder(file), says);
	EXPECT_EQ(gp_config_reload(folder, old, &config, errors, sizeof(errors)), err);
	if (strncmp(errors, want, strlen(want)))
		fail_msg("'%s' does not begin with '%s'", errors, want);
	EXPECT(!config);
}

static void a_reload_refuses_a_missing_or_unreadable_file(void **state)
{
	struct gp_config *old = NULL, *config = NULL;

	(void)state;
	put("gpreempt.conf", "[daemon]\npolicy = priority\n");
	EXPECT_EQ(gp_config_load(folder, &old, errors, sizeof(errors)), 0);
	EXPECT_EQ(unlink(in_folder("gpreempt.conf")), 0);
	expect_kept(old, -ENOENT, "gpreempt.conf", ": cannot be read: No such file");
	/* Drop-ins do not replace the file that set the policy. */
	put("conf.d/a.conf", "[daemon]\ngrace = 7\n");
	expect_kept(old, -ENOENT, "gpreempt.conf", ": cannot be read: No such file");
	EXPECT_EQ(symlink("gpreempt.conf", in_folder("gpreempt.conf")), 0);
	expect_kept(old, -ELOOP, "gpreempt.conf", ": cannot be read: ");
	EXPECT_EQ(unlink(in_folder("gpreempt.conf")), 0);
	EXPECT_EQ(mkfifo(in_folder("gpreempt.conf"), 0600), 0);
	expect_kept(old, -EINVAL, "gpreempt.conf", ": not trusted: it is not a regular file");
	EXPECT_EQ(unlink(in_folder("gpreempt.conf")), 0);
	put("gpreempt.conf", "[daemon]\npolicy = fair\n");
	EXPECT_EQ(gp_config_reload(folder, old, &config, errors, sizeof(errors)), 0);
	EXPECT(config->policy == &gp_policy_fair);
	EXPECT_EQ(config->daemon.grace, 7);
	gp_config_free(config);
	gp_config_free(old);
}

static void only_a_start_may_find_no_file_at_all(void **state)
{
	static const char text[] = "[daemon]\npolicy = fair\n";
	struct gp_config *old = NULL, *config = NULL;

	(void)state;
	if (!access("/etc/gpreempt", F_OK))
		skip();
	EXPECT_EQ(gp_config_load(NULL, &old, errors, sizeof(errors)), 0);
	EXPECT(!old->policy);
	EXPECT_EQ(gp_config_reload(NULL, old, &config, errors, sizeof(errors)), -ENOENT);
	gp_config_free(old);
	EXPECT_EQ(gp_config_parse(GP_CONFIG_PATH, text, sizeof(text) - 1, &old, errors,
				  sizeof(errors)), 0);
	EXPECT_EQ(gp_config_reload(NULL, old, &config, errors, sizeof(errors)), -ENOENT);
	EXPECT(strstr(errors, GP_CONFIG_PATH ": cannot be read: No such file"));
	EXPECT(!config);
	gp_config_free(old);
}

static int check(const char *file, bool json, char **out, char **err)
{
	size_t n;
	FILE *o = open_memstream(out, &n), *e = open_memstream(err, &n);
	int code = gp_config_check(file, json, o, e);

	fclose(o);
	fclose(e);
	return code;
}

static void check_says_good_refused_or_unreadable(void **state)
{
	static const struct {
		const char *text;
		bool json;
		int code;
		const char *out, *err;	/* their first characters */
	} cases[] = {
		{ "", false, GP_CHECK_GOOD, "# from ", "" },
		{ "[daemon]\npolicy=fair\n", true, GP_CHECK_GOOD, "{\n  \"schema\": 1,", "" },
		{ "[x]\n", false, GP_CHECK_REFUSED, "", "/tmp/gp-config-" },
		{ NULL, false, GP_CHECK_UNREADABLE, "", "/tmp/gp-config-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *out, *err;

		unlink(in_folder("gpreempt.conf"));
		if (cases[i].text)
			put("gpreempt.conf", cases[i].text);
		EXPECT_EQ(check(folder, cases[i].json, &out, &err), cases[i].code);
		EXPECT(!strncmp(out, cases[i].out, strlen(cases[i].out)));
		EXPECT(!strncmp(err, cases[i].err, strlen(cases[i].err)));
		EXPECT_EQ(!*out, !*cases[i].out);
		EXPECT_EQ(!*err, !*cases[i].err);
		free(out);
		free(err);
	}
}

/* ---- documents ---- */

/* Reads a document. The caller frees it. */
static char *document(const char *name)
{
	const char *top = getenv("GP_TOP");
	char file[512], *text = calloc(1, 100000);
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", top ? top : ".", name);
	f = fopen(file, "r");
	if (!f)
		fail_msg("cannot open %s", file);
	EXPECT(fread(text, 1, 99999, f) > 100);
	fclose(f);
	return text;
}

/*
 * Returns the text from "# heading" up to the next heading. Cuts @page there and stores the rest
 * in *@rest.
 */
static char *chapter(char *page, const char *heading, char **rest)
{
	char *at = strstr(page, heading), *end;

	if (!at)
		fail_msg("no chapter '%s'", heading);
	at += strlen(heading);
	end = strstr(at, "\n# ");
	EXPECT(end);
	*end = '\0';
	*rest = end + 1;
	return at;
}

/* Finds the paragraph "*key* = ..." of @chapter, or fails. */
static void paragraph(const char *text, const char *key, char *to, size_t size)
{
	char line[64];
	const char *at, *end;

	snprintf(line, sizeof(line), "\n*%s* = ", key);
	at = strstr(text, line);
	if (!at) {
		fail_msg("the manual has no line '*%s* = '", key);
		return;
	}
	end = strstr(at + 1, "\n\n");
	snprintf(to, size, "%.*s", end ? (int)(end - at) : (int)strlen(at), at);
	for (char *c = to; *c; c++)
		*c = *c == '\n' || *c == '\t' ? ' ' : *c;
}

/* Returns the number of lines "*key* = ". */
static u32 keys_in(const char *text)
{
	u32 nr = 0;

	for (const char *at = strstr(text, "\n*"); at; at = strstr(at + 1, "\n*")) {
		size_t n = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz_");

		nr += n && !strncmp(at + 2 + n, "* = ", 4);
	}
	return nr;
}

static void expect_keys(const char *text, const struct gp_key *table,
			const struct gp_config *initial)
{
	char found[2000], value[GP_CONFIG_VALUE], want[GP_CONFIG_VALUE + 32];
	u32 nr = 0;

	for (; table->name; table++, nr++) {
		paragraph(text, table->name, found, sizeof(found));
		if (!initial)
			continue;
		gp_key_print(table, initial, value, sizeof(value));
		snprintf(want, sizeof(want), "nitially *%s*", value);
		/* A line may end between the two words. */
		if (!strstr(found, want) && !(strstr(found, "nitially  *") && strstr(found, value)))
			fail_msg("the manual does not say that %s is initially %s", table->name,
				 value);
	}
	EXPECT_EQ(keys_in(text), nr);
}

static void expect_params(const char *text)
{
	char found[2000], is[32], min[32], max[32], want[128];

	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *info = &gp_params[i];

		paragraph(text, info->name, found, sizeof(found));
		for (char *c; (c = strstr(found, "  "));)
			memmove(c, c + 1, strlen(c));
		gp_print_param(info, info->initial, is, sizeof(is));
		gp_print_param(info, info->min, min, sizeof(min));
		gp_print_param(info, info->max, max, sizeof(max));
		snprintf(want, sizeof(want), "From *%s* to *%s*. Initially *%s*.", min, max, is);
		if (!strstr(found, want))
			fail_msg("the manual does not say of %s: %s", info->name, want);
	}
	EXPECT_EQ(keys_in(text), GP_NR_PARAMS);
}

static void the_manual_has_every_key_and_no_other(void **state)
{
	char *page = document("man/gpreempt.conf.5.scd"), *rest = page;
	struct gp_config *config = NULL;

	(void)state;
	EXPECT_EQ(gp_config_parse("conf", "", 0, &config, errors, sizeof(errors)), 0);
	expect_keys(chapter(rest, "\n# [daemon]\n", &rest), gp_daemon_keys, config);
	expect_params(chapter(rest, "# [policy] AND [policy NAME]\n", &rest));
	expect_keys(chapter(rest, "# [class NAME]\n", &rest), gp_class_keys, NULL);
	expect_keys(chapter(rest, "# [rule NAME]\n", &rest), gp_rule_keys, NULL);
	gp_config_free(config);
	free(page);
}

/* Loads @text. Ignores users and groups of an example that this machine does not have. */
static void expect_loads(const char *name, const char *text, size_t n)
{
	struct gp_config *config = NULL;

	gp_config_parse(name, text, n, &config, errors, sizeof(errors));
	for (const char *line = errors; *line; line = strchr(line, '\n') + 1) {
		if (strncmp(strchr(line, ' '), " uid: unknown user", 18) &&
		    strncmp(strchr(line, ' '), " gid: unknown group", 19))
			fail_msg("%s: %s", name, errors);
	}
	gp_config_free(config);
}

static void examples_in(const char *name, u32 nr)
{
	char *page = document(name), *at = page;
	u32 found = 0;

	while ((at = strstr(at, "```\n["))) {
		char *end = strstr(at + 4, "\n```");

		EXPECT(end);
		expect_loads(name, at + 4, (size_t)(end + 1 - (at + 4)));
		at = end + 4;
		found++;
	}
	EXPECT_EQ(found, nr);
	free(page);
}

static void every_example_in_the_documents_loads(void **state)
{
	(void)state;
	examples_in("man/gpreempt.conf.5.scd", 3);
	examples_in("doc/containers.md", 4);
}

static void the_shipped_file_observes_only_and_loads_without_its_comments(void **state)
{
	char *text = document("packaging/gpreempt.conf");
	struct gp_config *config = NULL;

	(void)state;
	EXPECT_EQ(gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)), 0);
	EXPECT(!config->policy);
	EXPECT_EQ(config->nr_rules, 0);
	gp_config_free(config);
	for (char *at = strstr(text, "\n#"); at; at = strstr(at + 1, "\n#")) {
		if (at[2] != ' ' && at[2] != '\n')
			at[1] = ' ';
	}
	config = NULL;
	if (gp_config_parse("conf", text, strlen(text), &config, errors, sizeof(errors)))
		fail_msg("%s", errors);
	EXPECT_EQ(config->nr_rules, 3);
	EXPECT(config->policy == &gp_policy_priority);
	gp_config_free(config);
	free(text);
}

PROVE(
	CLAIM_WITH(drop_ins_come_in_the_order_of_their_names_and_win, up, down),
	CLAIM_WITH(faults_of_all_files_are_listed_with_their_file, up, down),
	CLAIM_WITH(the_line_of_an_unknown_class_is_in_its_own_file, up, down),
	CLAIM_WITH(a_file_that_others_may_write_is_not_trusted, up, down),
	CLAIM_WITH(a_file_that_is_none_does_not_block, up, down),
	CLAIM_WITH(a_bad_configuration_leaves_the_old_one_alone, up, down),
	CLAIM_WITH(a_reload_refuses_a_missing_or_unreadable_file, up, down),
	CLAIM(only_a_start_may_find_no_file_at_all),
	CLAIM_WITH(check_says_good_refused_or_unreadable, up, down),
	CLAIM(the_manual_has_every_key_and_no_other),
	CLAIM(every_example_in_the_documents_loads),
	CLAIM(the_shipped_file_observes_only_and_loads_without_its_comments),
)
