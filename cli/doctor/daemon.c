// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* gpreempt doctor: gpreemptd and its configuration. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/machine/ask.h"
#include "daemon/config.h"
#include "doctor.h"

void gp_check_configuration(struct gp_doctor *d)
{
	static const char remedy[] = "set `policy = priority` in /etc/gpreempt/gpreempt.conf";
	char path[GP_DOCTOR_PATH], errors[GP_CONFIG_ERRORS];
	struct gp_config *config;

	if (access(gp_doctor_path(d, GP_CONFIG_PATH, path), F_OK)) {
		gp_found(d, GP_WARN, remedy, "there is no %s: gpreemptd only observes",
			 GP_CONFIG_PATH);
		return;
	}
	if (gp_config_load(path, &config, errors, sizeof(errors))) {
		errors[strcspn(errors, "\n")] = '\0';
		gp_found(d, GP_FAIL, "correct it; gpreemptd --check FILE tells the rest", "%s",
			 errors);
		return;
	}
	if (!config->policy)
		gp_found(d, GP_WARN, remedy, "no policy is configured: gpreemptd only observes");
	else
		gp_found(d, GP_PASS, NULL, "policy %s, %s, %s", config->policy->name,
			 gp_number_of(config->nr_classes, "class").s,
			 gp_number_of(config->nr_rules, "rule").s);
	gp_config_free(config);
}

void gp_check_daemon(struct gp_doctor *d)
{
	const char *given = getenv("GPREEMPT_SOCKET");
	struct gp_daemon_status status;
	char path[GP_DOCTOR_PATH];
	struct gp_daemon *daemon;
	int err;

	err = gp_daemon_open(given && *given ? given : gp_doctor_path(d, GP_CONTROL_SOCKET, path),
			     &daemon);
	if (err) {
		gp_found(d, GP_WARN, "systemctl start gpreemptd", "%s", gp_strerror(err));
		return;
	}
	err = gp_daemon_status(daemon, &status);
	if (err)
		gp_found(d, GP_FAIL, "systemctl restart gpreemptd, and report it", "%s",
			 gp_strerror(err));
	else if (!status.enabled)
		gp_found(d, GP_WARN, "gpreempt on", "gpreemptd %s is switched off", status.version);
	else if (status.observe_only)
		gp_found(d, GP_WARN, "gpreempt policy priority, or see check configuration",
			 "gpreemptd %s only observes", status.version);
	else
		gp_found(d, GP_PASS, NULL, "gpreemptd %s, policy %s, mechanism %s", status.version,
			 status.policy, status.mechanism);
	gp_daemon_close(daemon);
}
