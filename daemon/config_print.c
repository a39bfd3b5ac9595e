// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The effective configuration: as a file again, as JSON, and for gpreemptd --check. */
#include <jansson.h>
#include <string.h>

#include "config.h"
#include "text/value.h"

/* ---- as a file ---- */

static void print_section(FILE *to, const struct gp_key *key, const void *from)
{
	char text[GP_CONFIG_VALUE];

	for (; key->name; key++) {
		gp_key_print(key, from, text, sizeof(text));
		/* An empty text is a condition that is not set. */
		if (text[0])
			fprintf(to, "%s = %s\n", key->name, text);
	}
}

static void print_params(const struct gp_config *config, const struct gp_policy *policy, FILE *to)
{
	const u64 *param = gp_config_params(config, policy);
	char text[32];

	fprintf(to, "\n[policy %s]\n", policy->name);
	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		gp_print_param(&gp_params[i], param[i], text, sizeof(text));
		fprintf(to, "%s = %s\n", gp_params[i].name, text);
	}
}

int gp_config_print(const struct gp_config *config, FILE *to)
{
	for (u32 i = 0; i < config->nr_files; i++)
		fprintf(to, "# from %s\n", config->file[i]);
	if (!config->policy)
		fputs("# observe only: no policy is set\n", to);
	fputs("[daemon]\n", to);
	print_section(to, gp_daemon_keys, config);
	for (u32 i = 0; gp_policies[i]; i++)
		print_params(config, gp_policies[i], to);
	for (u32 i = 0; i < config->nr_classes; i++) {
		if (!config->class[i].managed)
			continue;
		fprintf(to, "\n[class %s]\n", config->class[i].name);
		print_section(to, gp_class_keys, &config->class[i].is);
	}
	for (u32 i = 0; i < config->nr_rules; i++) {
		fprintf(to, "\n[rule %s]\n", config->rule[i].name);
		print_section(to, gp_rule_keys, &config->rule[i]);
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- as JSON ---- */

/* Jansson takes NULL for a value and fails; the failure is kept in *@err. */
static void put(json_t *object, const char *key, json_t *value, int *err)
{
	if (json_object_set_new(object, key, value))
		*err = -ENOMEM;
}

/* Files and their names are bytes, JSON is UTF-8. */
static json_t *json_text(const char *text)
{
	json_t *value = text ? json_string(text) : json_null();
	char ascii[GP_CONFIG_VALUE];

	if (value)
		return value;
	snprintf(ascii, sizeof(ascii), "%s", text);
	for (char *c = ascii; *c; c++)
		*c = *c & 0x80 ? '?' : *c;
	return json_string(ascii);
}

static json_t *json_ids(const struct gp_ids *ids)
{
	json_t *list = json_array();

	for (u32 i = 0; list && i < ids->nr; i++)
		json_array_append_new(list, json_pack("[II]", (json_int_t)ids->range[i].first,
						      (json_int_t)ids->range[i].last));
	return list;
}

/* Number, true or false, text, or list of id ranges. */
static json_t *value_json(const struct gp_key *key, const void *from)
{
	const void *at = (const char *)from + key->offset;
	char text[GP_CONFIG_VALUE];

	switch ((enum gp_key_kind)key->kind) {
	case GP_KEY_NS:
		return json_integer((json_int_t)*(const u64 *)at);
	case GP_KEY_U32:
		return json_integer(*(const u32 *)at);
	case GP_KEY_BOOL:
		return json_boolean(*(const bool *)at);
	case GP_KEY_FLAG:
		return json_boolean(*(const u32 *)at & key->flag);
	default:
		if (key->print == gp_ids_print)
			return json_ids(at);
		gp_key_print(key, from, text, sizeof(text));
		return json_text(text);
	}
}

static json_t *section_json(const struct gp_key *key, const void *from, int *err)
{
	json_t *o = json_object();
	char name[40];

	for (; key->name; key++) {
		snprintf(name, sizeof(name), "%s%s", key->name,
			 key->kind == GP_KEY_NS ? "_ns" : "");
		put(o, name, value_json(key, from), err);
	}
	return o;
}

static json_t *params_json(const u64 *param, int *err)
{
	json_t *o = json_object();
	char key[40], text[32];

	for (u32 i = 0; i < GP_NR_PARAMS; i++) {
		const struct gp_param_info *info = &gp_params[i];

		snprintf(key, sizeof(key), "%s%s", info->name,
			 info->unit == GP_UNIT_NS ? "_ns" : "");
		gp_print_param(info, param[i], text, sizeof(text));
		put(o, key, info->unit == GP_UNIT_LINGER ? json_string(text) :
		    json_integer((json_int_t)param[i]), err);
	}
	return o;
}

static json_t *class_json(const struct gp_named_class *c, int *err)
{
	json_t *o = section_json(gp_class_keys, &c->is, err);

	put(o, "name", json_string(c->name), err);
	put(o, "managed", json_boolean(c->managed), err);
	put(o, "file", json_text(c->file), err);
	put(o, "line", json_integer(c->line), err);
	return o;
}

static json_t *rule_json(const struct gp_rule *rule, int *err)
{
	json_t *o = section_json(gp_rule_keys, rule, err);

	put(o, "name", json_string(rule->name), err);
	put(o, "file", json_text(rule->file), err);
	put(o, "line", json_integer(rule->line), err);
	return o;
}

static json_t *config_json(const struct gp_config *config, int *err)
{
	json_t *o = json_object(), *files = json_array(), *policies = json_object();
	json_t *classes = json_array(), *rules = json_array();

	for (u32 i = 0; i < config->nr_files; i++)
		json_array_append_new(files, json_text(config->file[i]));
	for (u32 i = 0; gp_policies[i]; i++)
		put(policies, gp_policies[i]->name,
		    params_json(gp_config_params(config, gp_policies[i]), err), err);
	for (u32 i = 0; i < config->nr_classes; i++)
		json_array_append_new(classes, class_json(&config->class[i], err));
	for (u32 i = 0; i < config->nr_rules; i++)
		json_array_append_new(rules, rule_json(&config->rule[i], err));
	put(o, "schema", json_integer(GP_CONFIG_SCHEMA), err);
	put(o, "files", files, err);
	put(o, "observe_only", json_boolean(!config->policy), err);
	put(o, "daemon", section_json(gp_daemon_keys, config, err), err);
	put(o, "policies", policies, err);
	put(o, "classes", classes, err);
	put(o, "rules", rules, err);
	return o;
}

int gp_config_print_json(const struct gp_config *config, FILE *to)
{
	int err = 0;
	json_t *o = config_json(config, &err);

	if (!err && (json_dumpf(o, to, JSON_INDENT(2)) || fputc('\n', to) == EOF || fflush(to)))
		err = -EIO;
	json_decref(o);
	return err;
}

/* ---- gpreemptd --check ---- */

int gp_check(const char *path, bool json, FILE *out, FILE *err)
{
	char errors[GP_CONFIG_ERRORS];
	struct gp_config *config;
	int r = gp_config_load(path, &config, errors, sizeof(errors));

	if (r) {
		fputs(r == -ENOMEM ? "out of memory\n" : errors, err);
		return r == -EINVAL ? GP_CHECK_REFUSED : GP_CHECK_UNREADABLE;
	}
	r = json ? gp_config_print_json(config, out) : gp_config_print(config, out);
	gp_config_free(config);
	if (r)
		fputs("the output could not be written\n", err);
	return r ? GP_CHECK_UNREADABLE : GP_CHECK_GOOD;
}
